import { type AddressChanges, encodeDifference, encodeList } from '../wire/address-changes.js';

/** A list as those who follow it have it. */
export class SentList {
  readonly #snapshot: () => readonly string[];
  #sent: ReadonlySet<string>;
  /** `#sent` as messages, which all agents get that come after a change of the leader. */
  #encoded: readonly AddressChanges[] | undefined;

  /** @param snapshot - all addresses now. */
  constructor(snapshot: () => readonly string[]) {
    this.#snapshot = snapshot;
    this.#sent = new Set(snapshot());
  }

  /** The whole list. What has changed since follows with the next change, as to all others. */
  whole(): readonly AddressChanges[] {
    this.#encoded ??= encodeList([...this.#sent]);
    return this.#encoded;
  }

  /** What brings those who have the list up to date; empty: they are. */
  update(): readonly AddressChanges[] {
    const before = this.#sent;
    this.#sent = new Set(this.#snapshot());
    const changes = encodeDifference(before, this.#sent);
    if (changes.length > 0) this.#encoded = undefined;
    return changes;
  }
}
