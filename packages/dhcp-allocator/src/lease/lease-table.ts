import type { Ipv4Address } from '../address/ipv4-address.js';
import type { MacAddress } from '../address/mac-address.js';
import type { Assignment, AssignmentChanges, Lease, LeaseChange } from './lease.js';
import { LeaseIndex } from './lease-index.js';

interface MutableLease extends Assignment {
  readonly poolName: string;
  expiresAtMs?: number;
}

interface PoolLeases {
  byMac: Map<MacAddress, MutableLease>;
  byAddress: Map<Ipv4Address, MutableLease>;
  /** Built on first use. */
  index?: LeaseIndex;
}

/** Thrown when assignments break the one promise of a lease table. Always a bug of the caller, never the fault of the network. */
export class ConflictingAssignmentsError extends Error {
  readonly code = 'ERR_CONFLICTING_ASSIGNMENTS';
}

/**
 * The leases of many pools. Pools are independent: the same MAC address may have a lease in each. Within a pool an address has one client and a
 * client one address, at every instant.
 */
export class LeaseTable {
  readonly #pools = new Map<string, PoolLeases>();
  #generation = 0;

  /** Changes whenever an address changes its client; an earlier result of `indexOf` is invalid then. */
  get generation(): number {
    return this.#generation;
  }

  lookup(poolName: string, macAddress: MacAddress): Lease | undefined {
    return this.#pools.get(poolName)?.byMac.get(macAddress);
  }

  ownerOf(poolName: string, address: Ipv4Address): Lease | undefined {
    return this.#pools.get(poolName)?.byAddress.get(address);
  }

  /** The leases of the pool as they are now, by the octets of MAC addresses; undefined: there is no such pool. */
  indexOf(poolName: string): LeaseIndex | undefined {
    const pool = this.#pools.get(poolName);
    if (pool !== undefined) pool.index ??= new LeaseIndex(pool.byMac.values());
    return pool?.index;
  }

  /** Leases of one pool, or of all, in the order in which they were assigned. */
  *leases(poolName?: string): Generator<Lease> {
    for (const [name, pool] of this.#pools) {
      if (poolName === undefined || name === poolName) yield* pool.byMac.values();
    }
  }

  size(poolName?: string): number {
    if (poolName !== undefined) return this.#pools.get(poolName)?.byMac.size ?? 0;
    let size = 0;
    for (const pool of this.#pools.values()) size += pool.byMac.size;
    return size;
  }

  /**
   * Makes the pool hold exactly these assignments, in one step: two clients may swap addresses, an address may change
   * its client. A lease whose client and address stay keeps its expiry.
   *
   * @returns what differs from before, in the order of `assignments`, removals first.
   * @throws ConflictingAssignmentsError if two assignments share a client or an address; nothing is changed then.
   */
  replacePool(poolName: string, assignments: Iterable<Assignment>): LeaseChange[] {
    this.#generation++;
    const before = this.#pools.get(poolName) ?? { byMac: new Map(), byAddress: new Map() };
    const after: PoolLeases = { byMac: new Map(), byAddress: new Map() };
    const changes: LeaseChange[] = [];
    for (const assignment of assignments) {
      const previous = before.byMac.get(assignment.macAddress);
      const lease = nextLease(poolName, assignment, previous);
      insert(after, lease);
      if (previous === undefined) changes.push({ kind: 'added', lease });
      else if (previous !== lease) changes.push({ kind: 'changed', lease, previous });
    }
    const removed = [...before.byMac.values()].filter((lease) => !after.byMac.has(lease.macAddress));
    this.#pools.set(poolName, after);
    return [...removed.map((lease) => ({ kind: 'removed' as const, lease })), ...changes];
  }

  /**
   * Makes these changes in one step, and leaves all other leases of the pool: what `replacePool` does with the whole record, at the price of
   * the changes.
   *
   * @returns what differs from before, removals first.
   * @throws ConflictingAssignmentsError if two clients or assignments share an address afterwards, or a client has two; nothing is changed then.
   */
  changePool(poolName: string, { removed, assigned }: AssignmentChanges): LeaseChange[] {
    const pool: PoolLeases = this.#pools.get(poolName) ?? { byMac: new Map(), byAddress: new Map() };
    const leaving = new Set([...removed, ...assigned.map(({ macAddress }) => macAddress)]);
    const before = [...leaving].flatMap((macAddress) => pool.byMac.get(macAddress) ?? []);
    const after: PoolLeases = { byMac: new Map(), byAddress: new Map() };
    for (const assignment of assigned) {
      const owner = pool.byAddress.get(assignment.address);
      if (owner !== undefined && !leaving.has(owner.macAddress)) throw conflict(poolName, assignment.macAddress);
      insert(after, nextLease(poolName, assignment, pool.byMac.get(assignment.macAddress)));
    }
    this.#generation++;
    for (const lease of before) pool.byAddress.delete(lease.address);
    const gone = before.filter(({ macAddress }) => !after.byMac.has(macAddress));
    for (const { macAddress } of gone) {
      pool.byMac.delete(macAddress);
      pool.index?.delete(macAddress);
    }
    const changes = [...after.byMac.values()].flatMap((lease) => put(pool, lease));
    this.#pools.set(poolName, pool);
    return [...gone.map((lease) => ({ kind: 'removed' as const, lease })), ...changes];
  }

  /** Forgets the pool; returns the leases it had. */
  removePool(poolName: string): Lease[] {
    this.#generation++;
    const leases = [...this.leases(poolName)];
    this.#pools.delete(poolName);
    return leases;
  }

  /**
   * Notes that the client may use its address until `expiresAtMs`; undefined if it no longer may. False if the client has no lease at that address
   * now.
   */
  setExpiry(lease: Pick<Lease, 'poolName' | 'macAddress' | 'address'>, expiresAtMs: number | undefined): boolean {
    const current = this.#pools.get(lease.poolName)?.byMac.get(lease.macAddress);
    if (current === undefined || current.address !== lease.address) return false;
    if (expiresAtMs === undefined) delete current.expiresAtMs;
    else current.expiresAtMs = expiresAtMs;
    return true;
  }

  /** Like `setExpiry`, but without a lookup: for a lease that an index of the current generation found. Called for each packet. */
  setExpiryOfFound(lease: Lease, expiresAtMs: number): void {
    const current: MutableLease = lease;
    current.expiresAtMs = expiresAtMs;
  }

  /** Ends what has expired at `nowMs`, and returns those leases. The assignments stay. */
  expire(nowMs: number): Lease[] {
    const expired: Lease[] = [];
    for (const pool of this.#pools.values()) {
      for (const lease of pool.byMac.values()) {
        if (lease.expiresAtMs === undefined || lease.expiresAtMs > nowMs) continue;
        delete lease.expiresAtMs;
        expired.push(lease);
      }
    }
    return expired;
  }
}

function nextLease(poolName: string, assignment: Assignment, previous: MutableLease | undefined): MutableLease {
  const sameAddress = previous?.address === assignment.address;
  if (previous !== undefined && sameAddress && previous.hostname === assignment.hostname) return previous;
  const { macAddress, address, hostname } = assignment;
  const expiresAtMs = sameAddress ? previous?.expiresAtMs : undefined;
  return {
    poolName,
    macAddress,
    address,
    ...(hostname !== undefined && { hostname }),
    ...(expiresAtMs !== undefined && { expiresAtMs }),
  };
}

/** Replaces the client's former lease. */
function put(pool: PoolLeases, lease: MutableLease): LeaseChange[] {
  const previous = pool.byMac.get(lease.macAddress);
  pool.byMac.set(lease.macAddress, lease);
  pool.byAddress.set(lease.address, lease);
  if (previous === lease) return [];
  pool.index?.set(lease);
  return [previous === undefined ? { kind: 'added', lease } : { kind: 'changed', lease, previous }];
}

function conflict(poolName: string, macAddress: MacAddress): ConflictingAssignmentsError {
  return new ConflictingAssignmentsError(
    `pool ${poolName}: client ${macAddress} or its address has a second assignment; plan assignments before recording them`,
  );
}

function insert(pool: PoolLeases, lease: MutableLease): void {
  if (pool.byMac.has(lease.macAddress) || pool.byAddress.has(lease.address)) throw conflict(lease.poolName, lease.macAddress);
  pool.byMac.set(lease.macAddress, lease);
  pool.byAddress.set(lease.address, lease);
}
