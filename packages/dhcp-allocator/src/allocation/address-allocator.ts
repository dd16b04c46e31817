import type { Ipv4Address } from '../address/ipv4-address.js';
import { broadcastAddressOf, cidrContains, networkAddressOf } from '../address/ipv4-cidr.js';
import { intersectRanges, rangeContains, rangesContain, sizeOfRange } from '../address/ipv4-range.js';
import type { MacAddress } from '../address/mac-address.js';
import type { Pool } from '../pool/pool.js';
import { AddressBitmap } from './address-bitmap.js';

/** Why an address was refused. */
export type AllocationRefusal =
  | 'pool-exhausted'
  | 'address-outside-pool'
  | 'address-unavailable'
  | 'address-reserved'
  | 'address-taken'
  | 'address-quarantined'
  | 'client-has-another-address';

/** The address that was allocated, or why there is none. */
export type AllocationResult =
  | { readonly ok: true; readonly address: Ipv4Address }
  | {
      readonly ok: false;
      readonly reason: AllocationRefusal /** The client that has the address, if there is one. */;
      readonly owner?: MacAddress;
    };

/** How a pool is filled. `size = used + reserved + quarantined + free`. */
export interface PoolCounts {
  /** Addresses that can ever be leased. */
  readonly size: number;
  readonly used: number;
  /** Reserved for clients that do not use them now. */
  readonly reserved: number;
  readonly quarantined: number;
  readonly free: number;
}

/** Addresses by client: a Map, or anything that is read like one. */
interface KeptAddresses extends Iterable<readonly [MacAddress, Ipv4Address]> {
  readonly size: number;
  readonly values: () => Iterable<Ipv4Address>;
}

/** One client's address, now or last. */
interface Assignment {
  readonly client: MacAddress;
  readonly address: Ipv4Address;
  inUse: boolean;
}

/**
 * Which client has which address of one pool.
 *
 * The same calls in the same order give the same addresses: a client gets its reservation, else its last address if that is still free, else the
 * lowest free one. Every call costs constant time. It has no clock: the caller says when a quarantine ends.
 */
export class AddressAllocator {
  readonly #pool: Pool;
  /** Addresses of the range that cannot be assigned: unavailable, reserved, used, quarantined. */
  readonly #unavailable: AddressBitmap;
  readonly #assignments = new Map<MacAddress, Assignment>();
  readonly #byAddress = new Map<Ipv4Address, Assignment>();
  readonly #reservedFor = new Map<Ipv4Address, MacAddress>();
  readonly #quarantinedUntilMs = new Map<Ipv4Address, number>();
  readonly #size: number;
  #used = 0;
  /** @see outside */
  readonly #outside = new Set<Ipv4Address>();
  #reservedUnused: number;
  #keptForGood: KeptAddresses = new Map();
  /** The same by address, once somebody has asked. */
  #keptBy: ReadonlyMap<Ipv4Address, MacAddress> | undefined;

  constructor(pool: Pool) {
    this.#pool = pool;
    this.#unavailable = new AddressBitmap(sizeOfRange(pool.range));
    for (const unavailable of pool.unavailable) {
      const inside = intersectRanges(pool.range, unavailable);
      if (inside !== undefined) this.#unavailable.addRange(inside.first - pool.range.first, inside.last - pool.range.first);
    }
    let size = this.#unavailable.size - this.#unavailable.count;
    for (const { address, macAddress } of pool.reservations.values()) {
      if (!this.#block(address)) size++;
      this.#reservedFor.set(address, macAddress);
    }
    this.#size = size;
    this.#reservedUnused = pool.reservations.size;
  }

  counts(): PoolCounts {
    const quarantined = this.#quarantinedUntilMs.size;
    const reserved = this.#reservedUnused;
    const size = this.#size + this.#outside.size;
    return { size, used: this.#used, reserved, quarantined, free: size - this.#used - reserved - quarantined };
  }

  /** Addresses in use that no other client would get: they are outside the range, or unavailable. */
  outside(): ReadonlySet<Ipv4Address> {
    return this.#outside;
  }

  /** The address the client has now. */
  addressOf(client: MacAddress): Ipv4Address | undefined {
    const assignment = this.#assignments.get(client);
    return assignment?.inUse ? assignment.address : undefined;
  }

  /** The client that has the address now. */
  ownerOf(address: Ipv4Address): MacAddress | undefined {
    const assignment = this.#byAddress.get(address);
    if (assignment?.inUse) return assignment.client;
    if (this.#isFree(address)) return undefined;
    this.#keptBy ??= new Map([...this.#keptForGood].map(([client, kept]) => [kept, client]));
    return this.#keptBy.get(address);
  }

  /**
   * Assigns an address to the client: the one it has, else its reservation, else `wanted` (that one or none), else its last
   * one, else the lowest free one. A client that has another address than `wanted` keeps it and is refused.
   */
  allocate(client: MacAddress, wanted?: Ipv4Address): AllocationResult {
    const previous = this.#assignments.get(client);
    if (previous?.inUse) return sameOrNone(previous.address, wanted);
    const settled = wanted ?? this.#pool.reservations.get(client)?.address;
    if (settled !== undefined) return this.#allocateExactly(client, settled);
    if (previous !== undefined && this.#isFree(previous.address)) return this.#hold(client, previous.address);
    const lowest = this.#unavailable.lowestAbsent();
    if (lowest === undefined) return { ok: false, reason: 'pool-exhausted' };
    return this.#hold(client, this.#pool.range.first + lowest);
  }

  /**
   * Gives the client back an address that it had before. Like `allocate`, but the client may also keep an address that is now outside the range,
   * excluded or the router's: its pool may have been different then. It keeps that address until it is released.
   */
  keep(client: MacAddress, address: Ipv4Address): AllocationResult {
    const isInUse = this.#assignments.get(client)?.inUse === true;
    const isOrdinary = this.#reservedFor.has(address) || this.#quarantinedUntilMs.has(address) || this.#isFree(address);
    if (isInUse || isOrdinary || !mayBeKept(this.#pool, address)) return this.allocate(client, address);
    const owner = this.ownerOf(address);
    return owner === undefined ? this.#hold(client, address) : { ok: false, reason: 'address-taken', owner };
  }

  /**
   * Gives these clients their addresses for as long as this allocator exists. The allocator never looks at them again, so thousands cost little. Call
   * it once, before anything else.
   *
   * @param addressOf - by client; no address twice, none that is reserved, quarantined, the server's or outside the subnet.
   */
  keepAll(addressOf: KeptAddresses): void {
    this.#keptForGood = addressOf;
    this.#used += addressOf.size;
    for (const address of addressOf.values()) if (!this.#block(address)) this.#outside.add(address);
  }

  /** Frees the client's address; it is remembered as the client's until another client gets it. False if it had none. */
  release(client: MacAddress): boolean {
    const assignment = this.#assignments.get(client);
    if (!assignment?.inUse) return false;
    assignment.inUse = false;
    this.#used--;
    if (this.#reservedFor.get(assignment.address) === client) this.#reservedUnused++;
    else if (!this.#outside.delete(assignment.address)) this.#unblock(assignment.address);
    return true;
  }

  /**
   * Quarantines an address because an unknown machine uses it; its owner loses it.
   *
   * Refused for reserved addresses, which have no substitute, and once a quarter of the pool (at least one address) is in quarantine,
   * so that no client can empty a pool by declining. Source: RFC 2131 §4.3.3.
   *
   * @param untilMs - when `endQuarantines` frees it; milliseconds on the caller's clock.
   */
  quarantine(address: Ipv4Address, untilMs: number): boolean {
    if (this.#quarantinedUntilMs.has(address)) {
      this.#quarantinedUntilMs.set(address, untilMs);
      return true;
    }
    const owner = this.ownerOf(address);
    const limit = Math.max(1, Math.floor(this.#size / 4));
    if (this.#reservedFor.has(address) || this.#quarantinedUntilMs.size >= limit) return false;
    if (owner === undefined && !this.#isFree(address)) return false;
    if (owner !== undefined) this.release(owner);
    // No other client could get an address that its owner only kept.
    if (!this.#isFree(address)) return true;
    this.#forget(address);
    this.#block(address);
    this.#quarantinedUntilMs.set(address, untilMs);
    return true;
  }

  /** Addresses in quarantine, each with the time until which it stays there. */
  quarantined(): ReadonlyMap<Ipv4Address, number> {
    return this.#quarantinedUntilMs;
  }

  /** Frees the addresses whose quarantine ends at `nowMs` or earlier; returns them, lowest first. */
  endQuarantines(nowMs: number): Ipv4Address[] {
    const ended: Ipv4Address[] = [];
    for (const [address, untilMs] of this.#quarantinedUntilMs) {
      if (untilMs <= nowMs) ended.push(address);
    }
    for (const address of ended) this.endQuarantine(address);
    return ended.sort((one, other) => one - other);
  }

  /** Frees an address before its quarantine ends. False if it was in none. */
  endQuarantine(address: Ipv4Address): boolean {
    if (!this.#quarantinedUntilMs.delete(address)) return false;
    this.#unblock(address);
    return true;
  }

  #allocateExactly(client: MacAddress, address: Ipv4Address): AllocationResult {
    const refusal = this.#refusalOf(client, address);
    if (refusal !== undefined) return refusal;
    return this.#hold(client, address);
  }

  #refusalOf(client: MacAddress, address: Ipv4Address): AllocationResult | undefined {
    const reservedFor = this.#reservedFor.get(address);
    if (reservedFor !== undefined && reservedFor !== client) return { ok: false, reason: 'address-reserved', owner: reservedFor };
    const owner = this.ownerOf(address);
    if (owner !== undefined) return { ok: false, reason: 'address-taken', owner };
    if (reservedFor === client) return undefined;
    if (!cidrContains(this.#pool.cidr, address) || !rangesContain(this.#pool.ranges, address)) {
      return { ok: false, reason: 'address-outside-pool' };
    }
    if (this.#quarantinedUntilMs.has(address)) return { ok: false, reason: 'address-quarantined' };
    return this.#isFree(address) ? undefined : { ok: false, reason: 'address-unavailable' };
  }

  #hold(client: MacAddress, address: Ipv4Address): AllocationResult {
    const previous = this.#assignments.get(client);
    if (previous?.address === address) {
      previous.inUse = true;
    } else {
      this.#forget(address);
      if (previous !== undefined) this.#byAddress.delete(previous.address);
      const assignment = { client, address, inUse: true };
      this.#assignments.set(client, assignment);
      this.#byAddress.set(address, assignment);
    }
    this.#used++;
    if (this.#reservedFor.get(address) === client) this.#reservedUnused--;
    else if (!this.#block(address)) this.#outside.add(address);
    return { ok: true, address };
  }

  /** Forgets who had the address last, so that memory never exceeds the size of the pool. */
  #forget(address: Ipv4Address): void {
    const last = this.#byAddress.get(address);
    if (last === undefined) return;
    this.#byAddress.delete(address);
    this.#assignments.delete(last.client);
  }

  #isFree(address: Ipv4Address): boolean {
    return rangeContains(this.#pool.range, address) && !this.#unavailable.has(address - this.#pool.range.first);
  }

  /** False if it was not free before: it is outside the range, or unavailable. */
  #block(address: Ipv4Address): boolean {
    if (!this.#isFree(address)) return false;
    this.#unavailable.add(address - this.#pool.range.first);
    return true;
  }

  #unblock(address: Ipv4Address): void {
    if (rangeContains(this.#pool.range, address)) this.#unavailable.delete(address - this.#pool.range.first);
  }
}

/** True if a client that has the address may keep it, whatever the range and the exclusions of the pool are now. */
export function mayBeKept({ cidr, serverAddress }: Pool, address: Ipv4Address): boolean {
  const others = [serverAddress, networkAddressOf(cidr), broadcastAddressOf(cidr)];
  return cidrContains(cidr, address) && !others.includes(address);
}

/** The result for a client that has an address and may want another. */
function sameOrNone(address: Ipv4Address, wanted: Ipv4Address | undefined): AllocationResult {
  if (wanted === undefined || wanted === address) return { ok: true, address };
  return { ok: false, reason: 'client-has-another-address' };
}
