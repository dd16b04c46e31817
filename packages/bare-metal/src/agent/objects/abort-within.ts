import type { Clock } from '@vmdhcp/kube-runtime';

export interface ReleasableSignal {
  readonly signal: AbortSignal;
  /** Removes the timer and the listener at the other signal: always call it. Afterwards the signal is never aborted. */
  readonly release: () => void;
}

/**
 * A signal that is aborted after this many milliseconds, or when another one is. `AbortSignal.any` keeps something at the other
 * signal for each call as long as it has a listener: for a signal that lives as long as a host, that would leak memory with each
 * poll.
 */
export function abortWithin(clock: Clock, ms: number, other: AbortSignal): ReleasableSignal {
  const controller = new AbortController();
  const abort = () => controller.abort();
  const callOff = clock.after(ms, abort);
  other.addEventListener('abort', abort, { once: true });
  if (other.aborted) abort();
  const release = () => {
    callOff();
    other.removeEventListener('abort', abort);
  };
  return { signal: controller.signal, release };
}
