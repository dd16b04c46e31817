import type { Clock } from '@vmdhcp/kube-runtime';

export interface ReleasableSignal {
  readonly signal: AbortSignal;
  /** Nothing of it stays at the other signal, and no timer: to be called always. It is not aborted any more then. */
  readonly release: () => void;
}

/**
 * A signal that is aborted after so many milliseconds, and when another one is. `AbortSignal.any` leaves something at the other signal for each call, as long as it has a
 * listener: for one that lives as long as a host, that is a leak of each poll.
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
