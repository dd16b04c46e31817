import type { StoredLease } from './lease-store.js';

/** The record of another process, as last seen. */
export interface SeenRecord {
  readonly holder: string;
  readonly version: string;
  /** How long it must stay unchanged before it can be taken. */
  readonly waitMs: number;
  /** Until when an earlier holder, whose record was deleted and replaced by this one, may believe that it is leader. */
  readonly othersUntilMs: number;
  /** When it can be taken, unless it changes. */
  readonly freeAtMs: number;
}

/** How long a promise of an earlier holder counts at most, in milliseconds: the end of a longer one, by a holder that leads nothing, may be missed. */
export const MOST_CARRIED_MS = 3_600_000;

/**
 * Updates the state for the record that is seen now. For an unchanged record the wait goes on; for any other it begins anew, and ends no earlier than
 * for the former holder.
 * @param leastWaitMs - the minimum wait, even for a shorter record.
 */
export function nextSeenRecord(
  before: SeenRecord | undefined,
  { record: { holder, leaseDurationMs }, version }: StoredLease,
  { nowMs, leastWaitMs }: { readonly nowMs: number; readonly leastWaitMs: number },
): SeenRecord {
  if (before?.version === version) return before;
  const waitMs = Math.max(leaseDurationMs, leastWaitMs);
  const carriedMs = Math.min(before?.freeAtMs ?? nowMs, nowMs + Math.max(MOST_CARRIED_MS, leastWaitMs));
  const othersUntilMs = before?.holder === holder ? before.othersUntilMs : carriedMs;
  return { holder, version, waitMs, othersUntilMs, freeAtMs: Math.max(nowMs + waitMs, othersUntilMs) };
}
