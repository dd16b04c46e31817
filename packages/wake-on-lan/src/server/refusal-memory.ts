/** Remembers which refused connections were reported: a peer tries again and again, and its refusal is reported once. */

const MOST_ADDRESSES = 1_000;

export class RefusalMemory {
  /** Message by address. */
  readonly #reported = new Map<string, string>();

  /** True if the message is new for this address. */
  isNew(remoteAddress: string, message: string): boolean {
    if (this.#reported.get(remoteAddress) === message) return false;
    // A peer can choose only its port freely, so the port is ignored; a flood of addresses removes the oldest.
    const oldest = this.#reported.keys().next();
    if (this.#reported.size >= MOST_ADDRESSES && oldest.done !== true) this.#reported.delete(oldest.value);
    this.#reported.set(remoteAddress, message);
    return true;
  }

  /** Called when a connection of this address was accepted. */
  forget(remoteAddress: string): void {
    this.#reported.delete(remoteAddress);
  }
}
