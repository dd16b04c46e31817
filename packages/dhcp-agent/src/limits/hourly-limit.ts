const HOUR_MS = 3_600_000;
/** Keys that are remembered; beyond that the oldest is forgotten. */
const MOST_REMEMBERED = 10_000;

/** Allows a number of times an hour for each key, counted from the first. The time is a parameter. */
export class HourlyLimit {
  readonly #most: number;
  readonly #keys = new Map<string, { count: number; sinceMs: number }>();

  constructor(most: number) {
    this.#most = most;
  }

  /** True if `take` would return true. */
  has(key: string, nowMs: number): boolean {
    const known = this.#keys.get(key);
    return known === undefined || nowMs - known.sinceMs >= HOUR_MS || known.count < this.#most;
  }

  /** True if it may happen once more. */
  take(key: string, nowMs: number): boolean {
    if (!this.has(key, nowMs)) return false;
    this.#entry(key, nowMs).count++;
    return true;
  }

  #entry(key: string, nowMs: number): { count: number; sinceMs: number } {
    const known = this.#keys.get(key);
    if (known !== undefined && nowMs - known.sinceMs < HOUR_MS) return known;
    const entry = { count: 0, sinceMs: nowMs };
    this.#keys.delete(key);
    this.#keys.set(key, entry);
    const oldest = this.#keys.keys().next();
    if (this.#keys.size > MOST_REMEMBERED && !oldest.done) this.#keys.delete(oldest.value);
    return entry;
  }
}
