import type { NewStanding } from '@vmdhcp/dhcp-allocator';
import { RateBudget } from '../limits/rate-budget.js';

/** So many messages at once, then so many a second: half a processor has time for them, and for all clients that have leases. */
const BUDGET = { perSecond: 2_000, burst: 4_000 };

/** How many messages of clients that never had a lease are answered: a flood of made-up clients keeps no other client waiting. */
export class NewClientLimits {
  readonly #new = new RateBudget(BUDGET);
  /** Apart from the others: a client that was offered an address gets it, whatever else asks. */
  readonly #offered = new RateBudget(BUDGET);

  admits(standing: NewStanding, nowMs: number): boolean {
    return (standing === 'new' ? this.#new : this.#offered).take(nowMs);
  }
}
