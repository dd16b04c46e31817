import { type AddressChanges, encodeDifference, encodeList } from '../wire/address-changes.js';

/** The list as its followers have it. */
export class SentList {
  readonly #snapshot: () => readonly string[];
  #sent: ReadonlySet<string>;
  /** `#sent` as messages, for all agents that connect after a change of the leader. */
  #encoded: readonly AddressChanges[] | undefined;

  /** @param snapshot - all current addresses. */
  constructor(snapshot: () => readonly string[]) {
    this.#snapshot = snapshot;
    this.#sent = new Set(snapshot());
  }

  /** The whole list. Changes since then follow with the next update. */
  whole(): readonly AddressChanges[] {
    this.#encoded ??= encodeList([...this.#sent]);
    return this.#encoded;
  }

  /** The messages that update the followers; empty if they are up to date. */
  update(): readonly AddressChanges[] {
    const before = this.#sent;
    this.#sent = new Set(this.#snapshot());
    const changes = encodeDifference(before, this.#sent);
    if (changes.length > 0) this.#encoded = undefined;
    return changes;
  }
}
