import type { Ipv4Address } from '../address/ipv4-address.js';
import { type Ipv4Range, rangesContain, sizeOfRange } from '../address/ipv4-range.js';
import { AddressBitmap } from '../allocation/address-bitmap.js';
import { type Binding, isBindingValid } from '../binding/binding.js';
import { EndOrder } from '../binding/end-order.js';
import { isProven } from './lease-times.js';

/** The state that decides whether an address is free. */
export interface AddressOccupancy {
  readonly binding: Binding | undefined;
  /** Offered, being recorded, declared, or in quarantine. */
  readonly isBlocked: boolean;
}

/**
 * The dynamic addresses of a pool in the order in which they are leased: first addresses that no client ever had, lowest first; then addresses whose
 * lease has ended, the oldest end first, and leases of clients that may be made up before all others. So a client finds its last address again as
 * long as other addresses are left.
 */
export class AddressSupply {
  readonly #ranges: readonly Ipv4Range[];
  readonly #first: Ipv4Address;
  /** An address that is absent was never leased and is free. */
  readonly #usedOrBlocked: AddressBitmap;
  readonly #valid = new EndOrder();
  /** Leases of addresses that are not dynamic any more. */
  readonly #validOutside = new EndOrder();
  readonly #ended = new EndOrder();
  /** Ended leases of clients that have renewed theirs. */
  readonly #endedProven = new EndOrder();
  /** How many addresses there are, free or not. */
  readonly size: number;

  /** @param ranges - sorted and merged. */
  constructor(ranges: readonly Ipv4Range[]) {
    this.#ranges = ranges;
    this.#first = ranges[0]?.first ?? 0;
    const last = ranges.at(-1)?.last;
    this.#usedOrBlocked = new AddressBitmap(last === undefined ? 0 : last - this.#first + 1);
    let next = this.#first;
    for (const { first, last } of ranges) {
      if (next < first) this.#usedOrBlocked.addRange(next - this.#first, first - 1 - this.#first);
      next = last + 1;
    }
    this.size = ranges.reduce((sum, range) => sum + sizeOfRange(range), 0);
  }

  /** Dynamic addresses that are leased. */
  get validCount(): number {
    return this.#valid.size;
  }

  contains(address: Ipv4Address): boolean {
    return rangesContain(this.#ranges, address);
  }

  /** True if no client ever had the address and it may be leased. */
  isUnused(address: Ipv4Address): boolean {
    return this.contains(address) && !this.#usedOrBlocked.has(address - this.#first);
  }

  lowestUnused(): Ipv4Address | undefined {
    const lowest = this.#usedOrBlocked.lowestAbsent();
    return lowest === undefined ? undefined : this.#first + lowest;
  }

  /**
   * The free address whose lease ended before those of all others.
   *
   * @param keptSinceMs - a quarter of the addresses is kept for clients whose lease ended after this time.
   */
  oldestEnded(keptSinceMs: number): Ipv4Address | undefined {
    if (this.#ended.size > 0) return this.#ended.first;
    return this.#endedProven.size > this.keptCount(keptSinceMs) ? this.#endedProven.first : undefined;
  }

  /** How many addresses are kept for the clients that had them. @param keptSinceMs - as above. */
  keptCount(keptSinceMs: number): number {
    return this.#endedProven.firstEndsAtMs > keptSinceMs ? Math.min(this.#endedProven.size, Math.floor(this.size / 4)) : 0;
  }

  /** An address whose lease has ended since it was last refreshed; undefined: there is none. */
  nextToEnd(nowMs: number): Ipv4Address | undefined {
    for (const order of [this.#valid, this.#validOutside]) if (order.firstEndsAtMs <= nowMs) return order.first;
    return undefined;
  }

  /** Puts the address in its current place. Call it after each change of `AddressOccupancy`, and when a lease ends. */
  refresh(address: Ipv4Address, { binding, isBlocked }: AddressOccupancy, nowMs: number): void {
    const isValid = binding !== undefined && isBindingValid(binding, nowMs);
    const isDynamic = this.contains(address);
    const order = isDynamic ? this.#valid : this.#validOutside;
    if (isValid) order.set(address, binding.endsAtMs);
    else order.delete(address);
    if (!isDynamic) return;
    this.#refreshEnded(address, isValid || isBlocked ? undefined : binding);
    if (binding === undefined && !isBlocked) this.#usedOrBlocked.delete(address - this.#first);
    else this.#usedOrBlocked.add(address - this.#first);
  }

  /** @param ended - the ended lease of the address, if nothing else keeps the address. */
  #refreshEnded(address: Ipv4Address, ended: Binding | undefined): void {
    this.#ended.delete(address);
    this.#endedProven.delete(address);
    if (ended === undefined) return;
    // An address whose lease a person ended is free for any client.
    const isKept = isProven(ended, ended.grantedAtMs) && !ended.isReleased;
    const order = isKept ? this.#endedProven : this.#ended;
    order.set(address, ended.endsAtMs);
  }
}
