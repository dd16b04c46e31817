/**
 * A map that finds its oldest entry at once. A JavaScript Map does not: it searches for its first entry among all entries that
 * were deleted before it, which in a flood costs more than everything else.
 */
export class OldestFirst<Value> {
  readonly #values = new Map<string, Value>();
  /** This iterator continues over entries inserted later. Entries that it has passed are deleted, or are `#oldest`. */
  readonly #keys = this.#values.keys();
  #oldest: string | undefined;

  get size(): number {
    return this.#values.size;
  }

  get(key: string): Value | undefined {
    return this.#values.get(key);
  }

  /** The entry becomes the newest one. */
  set(key: string, value: Value): void {
    this.delete(key);
    this.#values.set(key, value);
  }

  delete(key: string): void {
    if (key === this.#oldest) this.#oldest = undefined;
    this.#values.delete(key);
  }

  /** The value that was set longest ago; undefined if there is none. */
  oldest(): Value | undefined {
    if (this.#values.size === 0) return undefined;
    this.#oldest ??= this.#keys.next().value;
    return this.#oldest === undefined ? undefined : this.#values.get(this.#oldest);
  }

  deleteOldest(): void {
    this.oldest();
    if (this.#oldest !== undefined) this.delete(this.#oldest);
  }
}
