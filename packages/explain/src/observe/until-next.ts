import { setTimeout as wait } from 'node:timers/promises';

/** Resolves after a time, or when the process is told to end; at once if it was told before. */
export async function untilNext(signal: AbortSignal, delayMs: number): Promise<void> {
  // The sleep fails only because of the signal.
  await wait(delayMs, undefined, { signal }).catch(() => undefined);
}
