/**
 * A map whose oldest entry is found in constant time. A new iterator of a Map must skip all entries that were deleted at the front since the Map last
 * shrank: thousands where new entries keep replacing old ones. This map keeps its iterator.
 */
export class OrderedMap<Key, Value extends object> {
  readonly #entries = new Map<Key, Value>();
  #rest = this.#entries.values();
  #oldest: Value | undefined;
  readonly #keyOf: (value: Value) => Key;

  constructor(keyOf: (value: Value) => Key) {
    this.#keyOf = keyOf;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: Key): Value | undefined {
    return this.#entries.get(key);
  }

  /** Oldest first. */
  values(): Iterable<Value> {
    return this.#entries.values();
  }

  /** Adds the value as the newest one. Its key must not be there. */
  add(value: Value): void {
    this.#entries.set(this.#keyOf(value), value);
  }

  delete(key: Key): void {
    this.#entries.delete(key);
  }

  /** The oldest value; undefined if there is none. */
  get oldest(): Value | undefined {
    if (this.#entries.size === 0) return undefined;
    while (this.#oldest === undefined || this.#entries.get(this.#keyOf(this.#oldest)) !== this.#oldest) this.#goOn();
    return this.#oldest;
  }

  #goOn(): void {
    const next = this.#rest.next();
    this.#oldest = next.value;
    // An iterator that has reached its end stays there, even if entries are added.
    if (next.done) this.#rest = this.#entries.values();
  }
}
