import type { StoredLease } from './lease-store.js';

/** The record of another process, as it was seen last. */
export interface SeenRecord {
  readonly holder: string;
  readonly version: string;
  /** How long it must stand still before it can be taken. */
  readonly waitMs: number;
  /** Until when an earlier holder may believe to be leader: its record was deleted, and this one stands in its place. */
  readonly othersUntilMs: number;
  /** When it can be taken, unless it changes. */
  readonly freeAtMs: number;
}

/**
 * What follows from a record that is seen now. One that was seen before goes on waiting; every other one waits anew, and no shorter than for the
 * holder before it.
 * @param leastWaitMs - also for a record that lasts shorter.
 */
export function nextSeenRecord(
  before: SeenRecord | undefined,
  { record: { holder, leaseDurationMs }, version }: StoredLease,
  { nowMs, leastWaitMs }: { readonly nowMs: number; readonly leastWaitMs: number },
): SeenRecord {
  if (before?.version === version) return before;
  const waitMs = Math.max(leaseDurationMs, leastWaitMs);
  const othersUntilMs = (before?.holder === holder ? before.othersUntilMs : before?.freeAtMs) ?? nowMs;
  return { holder, version, waitMs, othersUntilMs, freeAtMs: Math.max(nowMs + waitMs, othersUntilMs) };
}
