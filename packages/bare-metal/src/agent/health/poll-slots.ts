/**
 * Limits how many polls run at the same time. A poll has a slot only for its first seconds: after that it waits for the network,
 * and costs nothing. Hosts that did not answer the last time, or never yet, get at most half of the slots, so that a rack without
 * power delays no other one.
 */

const MOST = 64;
const MOST_UNPROVEN = MOST / 2;

export interface SlotRequest {
  /** It did not answer the last time, or was never polled. */
  readonly isUnproven: boolean;
  readonly begin: (release: () => void) => void;
}

export class PollSlots {
  readonly #waiting = new Set<SlotRequest>();
  #inUse = 0;
  #unproven = 0;

  /** Begins when a slot is free, in the order of the calls. Returns a function that cancels that; afterwards it does nothing. */
  request(request: SlotRequest): () => void {
    this.#waiting.add(request);
    this.#beginNext();
    return () => void this.#waiting.delete(request);
  }

  #beginNext(): void {
    for (const request of this.#waiting) {
      if (this.#inUse >= MOST) return;
      if (request.isUnproven && this.#unproven >= MOST_UNPROVEN) continue;
      this.#waiting.delete(request);
      this.#take(request);
    }
  }

  #take({ isUnproven, begin }: SlotRequest): void {
    this.#inUse++;
    if (isUnproven) this.#unproven++;
    let isReleased = false;
    begin(() => {
      if (isReleased) return;
      isReleased = true;
      this.#inUse--;
      if (isUnproven) this.#unproven--;
      this.#beginNext();
    });
  }
}
