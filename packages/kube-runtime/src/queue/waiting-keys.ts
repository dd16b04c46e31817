/**
 * Keys that wait for their turn, in the order in which they were added. Taking one costs the same however many wait: a Map keeps the places of
 * deleted entries for a while, and a new iterator would pass by all of them each time.
 */
export class WaitingKeys {
  readonly #since = new Map<string, number>();
  /** Goes on where it was: it sees keys that are added later. */
  #order: MapIterator<[string, number]> = this.#since.entries();

  get size(): number {
    return this.#since.size;
  }

  has(key: string): boolean {
    return this.#since.has(key);
  }

  /** Since when the key waits, in milliseconds; undefined: it does not. */
  sinceMs(key: string): number | undefined {
    return this.#since.get(key);
  }

  /** Since when the key waits that waits longest, in milliseconds; undefined: none waits. It looks at every key: for metrics. */
  oldestMs(): number | undefined {
    let oldest: number | undefined;
    // Not the first one: a key that was moved here keeps the time at which it began to wait.
    for (const sinceMs of this.#since.values()) oldest = Math.min(oldest ?? sinceMs, sinceMs);
    return oldest;
  }

  /** The key waits, after all others. Nothing changes for one that waits already. */
  add(key: string, sinceMs: number): void {
    if (!this.#since.has(key)) this.#since.set(key, sinceMs);
  }

  delete(key: string): void {
    this.#since.delete(key);
  }

  clear(): void {
    this.#since.clear();
  }

  /** The key that waits first, which waits no longer; undefined: none does. */
  take(): { readonly key: string; readonly sinceMs: number } | undefined {
    if (this.#since.size === 0) return undefined;
    let next = this.#order.next();
    // An iterator that has come to an end stays there.
    if (next.done) {
      this.#order = this.#since.entries();
      next = this.#order.next();
    }
    if (next.done) return undefined;
    const [key, sinceMs] = next.value;
    this.#since.delete(key);
    return { key, sinceMs };
  }
}
