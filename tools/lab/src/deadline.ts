import { setTimeout as delay } from 'node:timers/promises';

const LOOK_INTERVAL_MS = 10;

/**
 * Waits until `look` gives something, and returns it.
 * @throws Error naming `what` when it has not by `timeoutMs`.
 */
export async function waitFor<Value>(
  what: string,
  look: () => Value | Promise<Value>,
  timeoutMs = 40_000,
): Promise<NonNullable<Value>> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const value = await look();
    if (value !== undefined && value !== null && value !== false) return value as NonNullable<Value>;
    if (performance.now() > deadline) throw new Error(`waited ${timeoutMs} ms in vain for ${what}`);
    await delay(LOOK_INTERVAL_MS);
  }
}
