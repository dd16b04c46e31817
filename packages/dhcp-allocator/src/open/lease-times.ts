/**
 * How long leases last. Leases of clients that may be made up are short. While addresses are scarce, no lease lasts longer than twice the time that
 * its client has had the address, so made-up clients are gone soon.
 */
import type { Binding } from '../binding/binding.js';
import { ServedPool } from '../server/served-pool.js';

/**
 * Seconds of the first lease of a client. While less than half of the dynamic addresses are free, what it renews lasts at most twice as long as it has
 * had the address.
 */
export const SHORT_LEASE_SECONDS = 300;

/** A client that still asks for its address after this time is taken for a real one: it renews a short lease at half of its time. */
const PROVEN_AFTER_MS = (SHORT_LEASE_SECONDS * 1000) / 4;

/** A pool with its own lease time, and with shorter ones. */
export class LeaseTimes {
  readonly served: ServedPool;
  /** By lease time in seconds. */
  readonly #shorter = new Map<number, ServedPool>();

  constructor(served: ServedPool) {
    this.served = served;
  }

  /** The pool with leases of `SHORT_LEASE_SECONDS`, or of the pool's own lease time if that is shorter. */
  get short(): ServedPool {
    return this.#withSeconds(SHORT_LEASE_SECONDS);
  }

  /**
   * The pool with leases at most twice as long as the client has had the address, and not shorter than `short`. There are few different lengths,
   * because each needs a `ServedPool`.
   */
  proven({ boundAtMs }: Pick<Binding, 'boundAtMs'>, nowMs: number): ServedPool {
    const mostSeconds = (2 * (nowMs - boundAtMs)) / 1000;
    if (mostSeconds >= this.served.pool.leaseTimeSeconds) return this.served;
    let seconds = SHORT_LEASE_SECONDS;
    while (2 * seconds <= mostSeconds) seconds *= 2;
    return this.#withSeconds(seconds);
  }

  #withSeconds(seconds: number): ServedPool {
    const { pool } = this.served;
    if (seconds >= pool.leaseTimeSeconds) return this.served;
    const known = this.#shorter.get(seconds);
    if (known !== undefined) return known;
    const served = new ServedPool({ ...pool, leaseTimeSeconds: seconds });
    this.#shorter.set(seconds, served);
    return served;
  }
}

/** True if the client has renewed its lease, or has a lease that no made-up client gets. @param atMs - the time of its last message. */
export function isProven({ boundAtMs, grantedAtMs, endsAtMs }: Binding, atMs: number): boolean {
  const isShort = endsAtMs - grantedAtMs <= SHORT_LEASE_SECONDS * 1000;
  return !isShort || atMs - boundAtMs >= PROVEN_AFTER_MS;
}
