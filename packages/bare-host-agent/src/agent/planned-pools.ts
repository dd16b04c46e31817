/**
 * Serves the planned and saved pools. A lease whose address another host uses is not served until the address book has another
 * one for its client, or, if the address is reserved, until the address is probed again.
 */
import type { ConflictedLeases, ConflictProbes, DhcpServer } from '@vmdhcp/dhcp-agent/packet-path';
import { formatIpv4Address, type Ipv4Address, type MacAddress, type PoolCounts } from '@vmdhcp/dhcp-allocator';
import type { OpenLeases } from '@vmdhcp/lease-stores';
import { type LeaseView, type QuarantineView, toLeaseView } from '@vmdhcp/lease-stores';
import type { AddressConflict } from '@vmdhcp/reconciler';
import type { Logger } from '@vmdhcp/service-process';
import { type AddressBook, QUARANTINE_MS } from '../addresses/address-book.js';
import { ownersByMacAddress } from '../addresses/owners-by-mac-address.js';
import type { PlannedPool } from '../addresses/planned-pool.js';

/** For how long the client of a reserved address that another host uses gets no reply, before the address is probed again. */
const RECHECK_MS = 60_000;

export interface PlannedPoolsSettings {
  readonly logger: Pick<Logger, 'warn'>;
  readonly nowMs: () => number;
  /** Milliseconds that never go back, for times that are only in memory. */
  readonly steadyMs: () => number;
  readonly server: Pick<DhcpServer, 'setPool' | 'removePool' | 'leases'>;
  readonly book: Pick<AddressBook, 'decline' | 'restoredExpiry' | 'quarantines'>;
  readonly conflicts: ConflictedLeases;
  readonly open: Pick<OpenLeases, 'setPool' | 'leases' | 'quarantines' | 'poolsThatWaitNoMore'>;
  readonly probes: Pick<ConflictProbes, 'noteFresh'>;
  /** False if new addresses are not probed, because CAP_NET_RAW is missing. */
  readonly mayProbe: boolean;
  /** The interfaces that each pool is served on. */
  readonly interfacesOf: ReadonlyMap<string, readonly string[]>;
  /** A change could not be saved. */
  readonly onSaveFailure: (error: unknown) => void;
}

export class PlannedPools {
  readonly #settings: PlannedPoolsSettings;
  #planned: ReadonlyMap<string, PlannedPool> = new Map();

  constructor(settings: PlannedPoolsSettings) {
    this.#settings = settings;
  }

  /** By name. */
  get all(): ReadonlyMap<string, PlannedPool> {
    return this.#planned;
  }

  get counts(): ReadonlyMap<string, PoolCounts> {
    return new Map([...this.#planned].map(([name, { counts }]) => [name, counts]));
  }

  get refusedClaims(): ReadonlyMap<string, number> {
    return new Map([...this.#planned].map(([name, { refused }]) => [name, refused.length]));
  }

  /** The declared client of an address. */
  holderOf(address: Ipv4Address): MacAddress | undefined {
    const assigned = [...this.#planned.values()].flatMap(({ assignments }) =>
      assignments.filter((one) => one.address === address),
    );
    return assigned[0]?.macAddress;
  }

  /** Serves only these pools. They are already saved. */
  replace(pools: ReadonlyMap<string, PlannedPool>): void {
    for (const name of this.#planned.keys()) {
      if (!pools.has(name)) this.#settings.server.removePool(name);
    }
    for (const [name, planned] of pools) this.#serve(name, planned);
    this.#planned = pools;
  }

  /** Handles that another host uses the address of a client: the client gets no reply before it has another address. */
  onConflict(poolName: string, { macAddress, address }: AddressConflict): void {
    const { logger, steadyMs, conflicts, book, onSaveFailure } = this.#settings;
    const planned = this.#planned.get(poolName);
    if (planned === undefined) return;
    // A reserved address has no substitute: it is probed again.
    const isReserved = planned.configured.pool.reservations.get(macAddress)?.address === address;
    conflicts.note({ poolName, macAddress, address, untilMs: steadyMs() + (isReserved ? RECHECK_MS : QUARANTINE_MS) });
    this.#serve(poolName, planned);
    if (!isReserved) {
      void book.decline({ poolName, macAddress, address }).catch(onSaveFailure);
      return;
    }
    logger.warn(
      { pool: poolName, address: formatIpv4Address(address), mac: macAddress },
      'the address is reserved, so its client gets no other address and no reply: free the address, or change the reservation; it is probed again every minute',
    );
  }

  /**
   * Serves leases again if their time of conflict is over, or if an unknown client no longer uses their address. Call it every
   * few seconds.
   */
  endConflicts(): void {
    const { conflicts, open, steadyMs } = this.#settings;
    this.#serveAgain([...conflicts.expire(steadyMs()), ...open.poolsThatWaitNoMore()]);
  }

  /** Serves an address again that another host used. */
  endConflict(address: Ipv4Address): void {
    this.#serveAgain(this.#settings.conflicts.end(address));
  }

  #serveAgain(poolNames: Iterable<string>): void {
    for (const poolName of new Set(poolNames)) {
      const planned = this.#planned.get(poolName);
      if (planned !== undefined) this.#serve(poolName, planned);
    }
  }

  *leases(): Generator<LeaseView> {
    for (const [poolName, planned] of this.#planned) {
      const owners = ownersByMacAddress(planned);
      const { pool } = planned.configured;
      for (const lease of this.#settings.server.leases(poolName)) yield toLeaseView(lease, owners.get(lease.macAddress), pool);
    }
    yield* this.#settings.open.leases();
  }

  /** Addresses that no client gets now, because another host uses them. */
  *quarantines(): Generator<QuarantineView> {
    const { book, open, nowMs } = this.#settings;
    const now = nowMs();
    for (const quarantine of [...book.quarantines(), ...open.quarantines()]) if (quarantine.untilMs > now) yield quarantine;
  }

  #serve(name: string, { configured, assignments }: PlannedPool): void {
    const { server, book, conflicts, open, probes, mayProbe, interfacesOf } = this.#settings;
    const { pool, probesConflicts } = configured;
    const free = open.setPool({ pool, assignments, probes: probesConflicts && mayProbe });
    const recorded = conflicts.without(name, free);
    const fresh = server.setPool(configured.pool, recorded, (macAddress) => book.restoredExpiry(name, macAddress));
    if (!configured.probesConflicts || !mayProbe) return;
    // For a pool that was not served yet: every lease that no client is known to have used.
    const isFirst = !this.#planned.has(name);
    const unused = isFirst ? [...server.leases(name)].filter(({ expiresAtMs }) => expiresAtMs === undefined) : fresh;
    const [interfaceName] = interfacesOf.get(name) ?? [];
    if (interfaceName !== undefined && unused.length > 0) probes.noteFresh(interfaceName, unused);
  }
}
