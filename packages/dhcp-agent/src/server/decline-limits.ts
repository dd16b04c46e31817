import { HourlyLimit } from '../limits/hourly-limit.js';
import { RateBudget } from '../limits/rate-budget.js';

/** DECLINEs of one client that are checked in an hour. */
const PER_CLIENT = 3;

/**
 * Limits how many DECLINEs are checked: an honest client declines once or twice, a hostile one forever. For a whole pool, ten are checked at once and
 * then ten a minute, so that a flood costs little. The time is a parameter.
 */
export class DeclineLimits {
  readonly #clients = new HourlyLimit(PER_CLIENT);
  readonly #pools = new Map<string, RateBudget>();

  /** True if the DECLINE should be checked. */
  take(poolName: string, macAddress: string, nowMs: number): boolean {
    const client = `${poolName} ${macAddress}`;
    if (!this.#clients.has(client, nowMs)) return false;
    let pool = this.#pools.get(poolName);
    if (pool === undefined) {
      pool = new RateBudget({ perSecond: 10 / 60, burst: 10 });
      this.#pools.set(poolName, pool);
    }
    return pool.take(nowMs) && this.#clients.take(client, nowMs);
  }
}
