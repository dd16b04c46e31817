/** Limits how many wake-ups of each source, or for each machine, are processed: a burst, and then a number per second. */
import { OldestFirst } from './oldest-first.js';

/** How many packets are handled at once and for each second, and of how many senders. */
export interface RateLimitSettings {
  /** The burst, 1 or more. */
  readonly burst: number;
  /** Then this many a second; more than 0. */
  readonly perSecond: number;
  /** Sources or machines in memory, 1 or more. When it is full, the one with the oldest request is removed. */
  readonly capacity: number;
}

/** Whether another packet may be handled, or when. */
export type RateDecision =
  | { readonly kind: 'allowed' }
  /** Milliseconds until the next one is allowed. */
  | { readonly kind: 'limited'; readonly retryAfterMs: number };

interface Bucket {
  readonly tokens: number;
  readonly atMs: number;
}

/** The limits of all sources, or of all machines. */
export class RateLimit {
  readonly #settings: RateLimitSettings;
  /** In the order of their last requests. */
  readonly #buckets = new OldestFirst<Bucket>();

  constructor(settings: RateLimitSettings) {
    this.#settings = settings;
  }

  /** Sources or machines in memory, never more than the capacity. */
  get size(): number {
    return this.#buckets.size;
  }

  /** Whether one more of `key` is allowed at `nowMs`. A refused request costs nothing. */
  take(key: string, nowMs: number): RateDecision {
    const { burst, perSecond, capacity } = this.#settings;
    const { tokens, atMs } = this.#buckets.get(key) ?? { tokens: burst, atMs: nowMs };
    // A clock that jumps back adds nothing.
    const filled = Math.min(burst, tokens + (Math.max(0, nowMs - atMs) * perSecond) / 1000);
    const isAllowed = filled >= 1;
    this.#buckets.delete(key);
    if (this.#buckets.size >= capacity) this.#buckets.deleteOldest();
    this.#buckets.set(key, { tokens: isAllowed ? filled - 1 : filled, atMs: nowMs });
    return isAllowed ? { kind: 'allowed' } : { kind: 'limited', retryAfterMs: Math.ceil(((1 - filled) * 1000) / perSecond) };
  }
}
