import { RedfishError } from '../error/redfish-error.js';

/** What answers may take in memory, about: those of all calls that run at the same time. */
export const MOST_OF_ALL_CALLS = 48 * 1_024 * 1_024;

/** A call that keeps answers. */
export interface Holder {
  readonly end: (reason: RedfishError) => void;
}

/** The memory that the calls of several clients have together. When it is used up, the call ends that has the most of it: one service that sends too much stops no other one. */
export class AnswerMemory {
  readonly #most: number;
  readonly #taken = new Map<Holder, number>();
  #total = 0;

  /** @param most - octets, 1 or more. Default: 48 MiB. */
  constructor(most: number = MOST_OF_ALL_CALLS) {
    this.#most = most;
  }

  /** Octets that running calls have. */
  get total(): number {
    return this.#total;
  }

  hold(holder: Holder, octets: number): void {
    this.#taken.set(holder, (this.#taken.get(holder) ?? 0) + octets);
    this.#total += octets;
    while (this.#total > this.#most) this.#endLargest();
  }

  release(holder: Holder): void {
    this.#total -= this.#taken.get(holder) ?? 0;
    this.#taken.delete(holder);
  }

  #endLargest(): void {
    const [[largest]] = [...this.#taken].toSorted(([, one], [, other]) => other - one) as [[Holder, number]];
    this.release(largest);
    largest.end(
      new RedfishError(
        'memory-used-up',
        `the answers of all services at the same time have more than ${this.#most} octets, and those of this one are the largest`,
      ),
    );
  }
}
