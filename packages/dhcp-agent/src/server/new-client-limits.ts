import type { NewStanding } from '@vmdhcp/dhcp-allocator';
import { RateBudget } from '../limits/rate-budget.js';

/** The burst and the rate per second: half a processor can handle them, and all clients with leases. */
const BUDGET = { perSecond: 2_000, burst: 4_000 };

/** Limits the answers to clients that never had a lease, so that a flood of made-up clients does not delay other clients. */
export class NewClientLimits {
  readonly #new = new RateBudget(BUDGET);
  /** A separate budget, so that a client with an offer gets its address during a flood. */
  readonly #offered = new RateBudget(BUDGET);

  admits(standing: NewStanding, nowMs: number): boolean {
    return (standing === 'new' ? this.#new : this.#offered).take(nowMs);
  }
}
