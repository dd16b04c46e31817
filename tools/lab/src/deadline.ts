import { availableParallelism, loadavg } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';

/** A check may start a program or send a request, so checks become rarer the longer something takes: they notice it at most a twentieth later. */
const SHORTEST_INTERVAL_MS = 10;
const LONGEST_INTERVAL_MS = 50;
const PART_OF_WAIT = 20;

/** How many times longer than on an idle machine a program takes: the processes that want a processor, for each processor. At least 1. */
function slowness(): number {
  return Math.max(1, (loadavg()[0] ?? 0) / availableParallelism());
}

/**
 * Waits until `look` returns a value, and returns it.
 * @param timeoutMs - on an idle machine; a busy one has more time.
 * @throws Error naming `what` when it has not by then.
 */
export async function waitFor<Value>(
  what: string,
  look: () => Value | Promise<Value>,
  timeoutMs = 40_000,
): Promise<NonNullable<Value>> {
  const begunAtMs = performance.now();
  for (;;) {
    const value = await look();
    if (value !== undefined && value !== null && value !== false) return value as NonNullable<Value>;
    const waitedMs = performance.now() - begunAtMs;
    if (waitedMs > timeoutMs * slowness()) throw new Error(`waited ${waitedMs.toFixed(0)} ms in vain for ${what}`);
    await delay(Math.min(Math.max(waitedMs / PART_OF_WAIT, SHORTEST_INTERVAL_MS), LONGEST_INTERVAL_MS));
  }
}
