/**
 * When a leader that cannot serve all of its pools steps down. Another replica may be able to; where none is, they do not take turns for
 * ever: each time the leader waits four times as long.
 */
const FIRST_MS = 3_000;
const MOST_MS = 300_000;

export interface Patience {
  /** Since when pools cannot be served; undefined: all can. */
  readonly brokenSinceMs: number | undefined;
  /** For how long the leader waits. */
  readonly waitMs: number;
}

export interface LeaderHealth {
  readonly nowMs: number;
  readonly isLeader: boolean;
  readonly hasTroubles: boolean;
}

export const PATIENT: Patience = { brokenSinceMs: undefined, waitMs: FIRST_MS };

/** The patience after a look at the leader. To be called every second. */
export function nextPatience(
  patience: Patience,
  health: LeaderHealth,
): { readonly patience: Patience; readonly stepsDown: boolean } {
  const { nowMs, isLeader, hasTroubles } = health;
  // What a standby waits for next time stays as it is: only a leader without troubles has shown that it can serve.
  if (!isLeader) return { patience: { ...patience, brokenSinceMs: undefined }, stepsDown: false };
  if (!hasTroubles) return { patience: PATIENT, stepsDown: false };
  const brokenSinceMs = patience.brokenSinceMs ?? nowMs;
  if (nowMs - brokenSinceMs < patience.waitMs) return { patience: { ...patience, brokenSinceMs }, stepsDown: false };
  return { patience: { brokenSinceMs: undefined, waitMs: Math.min(patience.waitMs * 4, MOST_MS) }, stepsDown: true };
}
