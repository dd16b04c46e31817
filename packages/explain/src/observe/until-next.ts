import { setTimeout as wait } from 'node:timers/promises';

/** Resolves after a time, or when the process is asked to end; at once where it was asked before. */
export async function untilNext(signal: AbortSignal, delayMs: number): Promise<void> {
  // It fails for one reason alone: the signal.
  await wait(delayMs, undefined, { signal }).catch(() => undefined);
}
