import { RateBudget } from '../rate-budget.js';

/** Quarantines that one client may cause in an hour. */
const PER_CLIENT = 3;
const HOUR_MS = 3_600_000;
/** Clients that are remembered; beyond that the oldest is forgotten, and the pool's own limit holds. */
const REMEMBERED_CLIENTS = 10_000;

/**
 * How many declined addresses are believed: an honest client declines once or twice, a hostile one would go on until the
 * pool is empty. A pool as a whole may lose ten addresses at once and ten a minute. Time is handed in.
 */
export class DeclineLimits {
  readonly #clients = new Map<string, { count: number; sinceMs: number }>();
  readonly #pools = new Map<string, RateBudget>();

  /** True if the decline is to be believed. */
  take(poolName: string, macAddress: string, nowMs: number): boolean {
    const client = this.#client(`${poolName} ${macAddress}`, nowMs);
    if (client.count >= PER_CLIENT) return false;
    let pool = this.#pools.get(poolName);
    if (pool === undefined) {
      pool = new RateBudget({ perSecond: 10 / 60, burst: 10 });
      this.#pools.set(poolName, pool);
    }
    if (!pool.take(nowMs)) return false;
    client.count++;
    return true;
  }

  #client(key: string, nowMs: number): { count: number; sinceMs: number } {
    const known = this.#clients.get(key);
    if (known !== undefined && nowMs - known.sinceMs < HOUR_MS) return known;
    const client = { count: 0, sinceMs: nowMs };
    this.#clients.delete(key);
    this.#clients.set(key, client);
    const oldest = this.#clients.keys().next();
    if (this.#clients.size > REMEMBERED_CLIENTS && !oldest.done) this.#clients.delete(oldest.value);
    return client;
  }
}
