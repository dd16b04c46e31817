import { RedfishError } from '../error/redfish-error.js';

/** The approximate memory for the answers of all simultaneous calls. */
export const MOST_OF_ALL_CALLS = 48 * 1_024 * 1_024;
/** How long the first waiting call waits for other calls to end by themselves. */
const PATIENCE_MS = 2_000;

/** A call that holds answers in memory. */
export interface Holder {
  readonly end: (reason: RedfishError) => void;
}

interface Waiting {
  readonly holder: Holder;
  readonly octets: number;
  readonly turn: number;
  readonly proceed: () => void;
}

interface Share {
  octets: number;
  /** Lower for an older call. */
  readonly turn: number;
}

/**
 * The memory that the calls of several clients share. When it is used up, calls wait; the oldest call gets memory first, so that calls end and return
 * theirs. If none is returned for two seconds, the call with the most memory, including what it waits for, is ended, so that one service that sends
 * too much cannot block others.
 */
export class AnswerMemory {
  readonly #most: number;
  readonly #patienceMs: number;
  readonly #shares = new Map<Holder, Share>();
  readonly #waiting = new Set<Waiting>();
  #total = 0;
  #turns = 0;
  #timer: NodeJS.Timeout | undefined;

  /**
   * @param most - octets, 1 or more. Default: 48 MiB.
   * @param patienceMs - milliseconds that the first call waits before another one is ended, 0 or more. Default: 2,000.
   */
  constructor(most: number = MOST_OF_ALL_CALLS, patienceMs: number = PATIENCE_MS) {
    this.#most = most;
    this.#patienceMs = patienceMs;
  }

  /** The octets in use. */
  get total(): number {
    return this.#total;
  }

  /** Resolves when the holder has the octets, or was released or ended before. */
  hold(holder: Holder, octets: number): Promise<void> {
    const { turn } = this.#shareOf(holder);
    if (this.#waiting.size === 0 && this.#fits(octets)) {
      this.take(holder, octets);
      return Promise.resolve();
    }
    return new Promise((resolve) => {
      this.#waiting.add({ holder, octets, turn, proceed: resolve });
      this.#serve();
    });
  }

  /** Takes octets without waiting, even if none are left: only for octets that are returned at once. */
  take(holder: Holder, octets: number): void {
    this.#shareOf(holder).octets += octets;
    this.#total += octets;
  }

  /** Returns a part of a holder's octets; no effect if it was released. @param octets - 0 up to what it has. */
  giveBack(holder: Holder, octets: number): void {
    const share = this.#shares.get(holder);
    if (share === undefined) return;
    share.octets -= octets;
    this.#total -= octets;
    this.#serve();
  }

  /** Returns all of a holder's octets, and ends its wait. */
  release(holder: Holder): void {
    this.#total -= this.#shares.get(holder)?.octets ?? 0;
    this.#shares.delete(holder);
    for (const waiting of this.#waiting) if (waiting.holder === holder) this.#proceed(waiting);
    this.#serve();
  }

  #fits(octets: number): boolean {
    return this.#total + octets <= this.#most;
  }

  #shareOf(holder: Holder): Share {
    const share = this.#shares.get(holder) ?? { octets: 0, turn: this.#turns++ };
    this.#shares.set(holder, share);
    return share;
  }

  #proceed(waiting: Waiting): void {
    this.#waiting.delete(waiting);
    waiting.proceed();
    // The patience begins anew for the next one.
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #serve(): void {
    if (this.#waiting.size === 0) return;
    for (const waiting of [...this.#waiting].toSorted((one, other) => one.turn - other.turn)) {
      if (!this.#fits(waiting.octets)) break;
      this.take(waiting.holder, waiting.octets);
      this.#proceed(waiting);
    }
    if (this.#waiting.size > 0) this.#timer ??= this.#endLargestLater();
  }

  #endLargestLater(): NodeJS.Timeout {
    return setTimeout(() => {
      this.#timer = undefined;
      this.#endLargest();
    }, this.#patienceMs);
  }

  #endLargest(): void {
    const wanted = new Map([...this.#shares].map(([holder, { octets }]) => [holder, octets]));
    for (const { holder, octets } of this.#waiting) wanted.set(holder, (wanted.get(holder) ?? 0) + octets);
    const [[largest]] = [...wanted].toSorted(([, one], [, other]) => other - one) as [[Holder, number]];
    this.release(largest);
    largest.end(
      memoryUsedUp(`those of all services at the same time have ${this.#most} octets, and this call has the most of them`),
    );
  }
}

/** An error that is not the fault of the service. @param why - how the memory was used up. */
export function memoryUsedUp(why: string): RedfishError {
  return new RedfishError(
    'memory-used-up',
    `this client, not the service, has no memory left for answers (${why}): try again later, or read fewer services at the same time`,
  );
}
