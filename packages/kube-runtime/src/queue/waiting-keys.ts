/**
 * Keys that wait for their turn, in the order in which they were added. Taking one costs the same however many wait: a Map keeps the places of
 * deleted entries for a while, and a new iterator would have to skip them each time.
 */
export class WaitingKeys {
  readonly #since = new Map<string, number>();
  /** Keeps its position, and sees keys that are added later. */
  #order: MapIterator<[string, number]> = this.#since.entries();

  get size(): number {
    return this.#since.size;
  }

  has(key: string): boolean {
    return this.#since.has(key);
  }

  /** Since when the key has waited, in milliseconds; undefined if it does not wait. */
  sinceMs(key: string): number | undefined {
    return this.#since.get(key);
  }

  /** Since when the oldest key has waited, in milliseconds; undefined if none waits. It reads every key: only for metrics. */
  oldestMs(): number | undefined {
    let oldest: number | undefined;
    // Not necessarily the first key: a key that was moved here keeps the time at which it began to wait.
    for (const sinceMs of this.#since.values()) oldest = Math.min(oldest ?? sinceMs, sinceMs);
    return oldest;
  }

  /** Adds the key after all others. No effect if it already waits. */
  add(key: string, sinceMs: number): void {
    if (!this.#since.has(key)) this.#since.set(key, sinceMs);
  }

  delete(key: string): void {
    this.#since.delete(key);
  }

  clear(): void {
    this.#since.clear();
  }

  /** Removes and returns the first key; undefined if none waits. */
  take(): { readonly key: string; readonly sinceMs: number } | undefined {
    if (this.#since.size === 0) return undefined;
    let next = this.#order.next();
    // An iterator that has reached its end stays there.
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
