import { RedfishError } from '../error/redfish-error.js';

/** The maximum number of calls that have answers in memory at the same time. */
const MOST_CALLS = 48;

/**
 * Places for the calls of several clients that have answers. All answers take at most the memory that one call may hold, times the places. A call takes a
 * place with its first answer and keeps it until it ends; a service that does not answer takes none.
 */
export class AnswerPlaces {
  readonly #waiting = new Set<() => void>();
  #free: number;

  /** @param most - 1 or more. Default: 48. */
  constructor(most: number = MOST_CALLS) {
    this.#free = most;
  }

  /** Waits for a place, in the order of the calls. @throws the reason of the signal, if it is aborted first; then no place is taken. */
  take(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#free > 0) {
      this.#free--;
      return Promise.resolve();
    }
    return new Promise((resolve, reject) => {
      const onAbort = () => {
        this.#waiting.delete(begin);
        reject(signal.reason as Error);
      };
      const begin = () => {
        signal.removeEventListener('abort', onAbort);
        resolve();
      };
      this.#waiting.add(begin);
      signal.addEventListener('abort', onAbort, { once: true });
    });
  }

  /** To be called once for each place that was taken. */
  giveBack(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#free++;
      return;
    }
    this.#waiting.delete(next);
    next();
  }
}

/** An error that is not the fault of the service. */
export function noPlace(why: string): RedfishError {
  return new RedfishError(
    'memory-used-up',
    `this client, not the service, has no memory left for answers (it reads too many services at the same time, and ${why}): try again later`,
  );
}
