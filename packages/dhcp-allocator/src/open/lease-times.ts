/** How long leases last: those of clients that may be made up are short, and while addresses are scarce all of them have gone in the time that they were there. */
import type { Binding } from '../binding/binding.js';
import { ServedPool } from '../server/served-pool.js';

/**
 * Seconds of the first lease of a client. While less than half of the dynamic addresses are free, what it renews lasts at most twice as long as it has
 * had the address.
 */
export const SHORT_LEASE_SECONDS = 300;

/** A client that still asks for its address after so long is taken for a real one: the renewal of a short lease comes at half of it. */
const PROVEN_AFTER_MS = (SHORT_LEASE_SECONDS * 1000) / 4;

/** The pool with its lease time, and with shorter ones. */
export class LeaseTimes {
  readonly served: ServedPool;
  /** By seconds. */
  readonly #shorter = new Map<number, ServedPool>();

  constructor(served: ServedPool) {
    this.served = served;
  }

  /** With leases of `SHORT_LEASE_SECONDS`, or of the time of the pool where that is shorter. */
  get short(): ServedPool {
    return this.#withSeconds(SHORT_LEASE_SECONDS);
  }

  /** With leases at most twice as long as the client has had the address, and not shorter than `short`: of few lengths, as each has a `ServedPool`. */
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

/** True: the client has renewed its lease, or it has a lease that no made-up client gets. @param atMs - the time of its last message. */
export function isProven({ boundAtMs, grantedAtMs, endsAtMs }: Binding, atMs: number): boolean {
  const isShort = endsAtMs - grantedAtMs <= SHORT_LEASE_SECONDS * 1000;
  return !isShort || atMs - boundAtMs >= PROVEN_AFTER_MS;
}
