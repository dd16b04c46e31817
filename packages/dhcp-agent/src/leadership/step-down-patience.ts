/**
 * Decides when a leader that cannot serve all of its pools steps down. Another replica may be able to serve them. If none is, they must not take
 * turns forever, so each time the leader waits four times as long. The wait is reset only after a while without troubles, because some are found
 * seconds after leadership begins.
 */
const FIRST_MS = 3_000;
const MOST_MS = 300_000;
const WELL_MS = 15_000;

export interface Patience {
  /** Since when pools cannot be served; undefined if all can. */
  readonly brokenSinceMs: number | undefined;
  /** Since when the leader has had no troubles; undefined if it has some, or is not leader. */
  readonly wellSinceMs: number | undefined;
  /** For how long the leader waits. */
  readonly waitMs: number;
}

export interface LeaderHealth {
  readonly nowMs: number;
  readonly isLeader: boolean;
  readonly hasTroubles: boolean;
}

const NEITHER = { brokenSinceMs: undefined, wellSinceMs: undefined } as const;

export const PATIENT: Patience = { ...NEITHER, waitMs: FIRST_MS };

/** The patience after a check of the leader. Call it every second. */
export function nextPatience(
  patience: Patience,
  health: LeaderHealth,
): { readonly patience: Patience; readonly stepsDown: boolean } {
  const { nowMs, isLeader, hasTroubles } = health;
  const { waitMs } = patience;
  const stay = (change: Partial<Patience>) => ({ patience: { ...NEITHER, waitMs, ...change }, stepsDown: false });
  if (!isLeader) return stay({});
  if (!hasTroubles) {
    const wellSinceMs = patience.wellSinceMs ?? nowMs;
    return stay({ wellSinceMs, ...(nowMs - wellSinceMs >= WELL_MS && { waitMs: FIRST_MS }) });
  }
  const brokenSinceMs = patience.brokenSinceMs ?? nowMs;
  if (nowMs - brokenSinceMs < waitMs) return stay({ brokenSinceMs });
  return { patience: { ...NEITHER, waitMs: Math.min(waitMs * 4, MOST_MS) }, stepsDown: true };
}
