/** Which refused connections were reported: a peer tries again and again, and its refusal is reported when it is new. */

const MOST_ADDRESSES = 1_000;

export class RefusalMemory {
  /** Message by address. */
  readonly #reported = new Map<string, string>();

  /** True: the message is new for this address. */
  isNew(remoteAddress: string, message: string): boolean {
    if (this.#reported.get(remoteAddress) === message) return false;
    // An address whose port alone is made up is one address; a flood of addresses forgets the oldest.
    const oldest = this.#reported.keys().next();
    if (this.#reported.size >= MOST_ADDRESSES && oldest.done !== true) this.#reported.delete(oldest.value);
    this.#reported.set(remoteAddress, message);
    return true;
  }

  /** A connection of this address was accepted. */
  forget(remoteAddress: string): void {
    this.#reported.delete(remoteAddress);
  }
}
