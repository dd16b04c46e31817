/**
 * Decides who has which address on a bare host: planned by the same code as in a cluster, and kept in a state directory. The
 * order is always: plan, save, and only then pass on to the server. So a crash cannot take back what was acknowledged.
 */
import type { Ipv4Address, Lease } from '@vmdhcp/dhcp-allocator';
import type { ExpiryOf, Owners, QuarantineView, StateDirectory, StoredState } from '@vmdhcp/lease-stores';
import { NOTHING_RECORDED, planAssignments, type RecordedPool } from '@vmdhcp/reconciler/plan-assignments';
import type { ConfiguredPool, PoolsFile } from '../pools-file/parse-pools-file.js';
import { ownersByMacAddress } from './owners-by-mac-address.js';
import type { PlannedPool } from './planned-pool.js';

/** For how long no client gets an address that a client found in use. */
export const QUARANTINE_MS = 3_600_000;

export interface AddressBookPorts {
  readonly directory: Pick<StateDirectory, 'save'>;
  readonly nowMs: () => number;
  readonly expiryOf: ExpiryOf;
  /** Called after the plan was saved. */
  readonly onPlanned: (pools: ReadonlyMap<string, PlannedPool>) => void;
}

export class AddressBook {
  readonly #ports: AddressBookPorts;
  #configured: ReadonlyMap<string, ConfiguredPool> = new Map();
  /** The content of the disk. */
  #recorded: Map<string, RecordedPool>;
  readonly #restoredExpiries: StoredState['expiries'];
  #owners: Owners;
  /** Not on the disk yet: if it is full, they are tried again with the next plan. */
  #declined: readonly DeclinedLease[] = [];
  #work: Promise<void> = Promise.resolve();

  constructor(ports: AddressBookPorts, stored: StoredState) {
    this.#ports = ports;
    this.#recorded = new Map(stored.pools);
    this.#restoredExpiries = stored.expiries;
    this.#owners = stored.owners;
  }

  /** Applies a new configuration. @throws the error of saving; then the old plan stays in force. */
  configure(file: PoolsFile): Promise<void> {
    return this.#enqueue(() => this.#replan(file.pools));
  }

  /** Assigns the client of a lease another address, because another machine uses this one, which no client gets for some time. */
  decline({ poolName, address, macAddress }: Lease): Promise<void> {
    const untilMs = this.#ports.nowMs() + QUARANTINE_MS;
    const others = this.#declined.filter((one) => one.poolName !== poolName || one.address !== address);
    this.#declined = [...others, { poolName, address, macAddress, untilMs }];
    return this.#enqueue(() => this.#replan(this.#configured));
  }

  /** The quarantines of all recorded pools, including those whose time is over. */
  *quarantines(): Generator<QuarantineView> {
    for (const [pool, { quarantines }] of this.#recorded)
      for (const { address, untilMs } of quarantines) yield { pool, address, untilMs };
  }

  /** Ends quarantines whose time is over, in pools that are planned. Returns true if there were any. */
  async endQuarantines(): Promise<boolean> {
    const nowMs = this.#ports.nowMs();
    const over = [...this.#configured].some(([name, { paused }]) => {
      const { quarantines } = this.#recorded.get(name) ?? NOTHING_RECORDED;
      return !paused && quarantines.some(({ untilMs }) => untilMs <= nowMs);
    });
    if (over) await this.#enqueue(() => this.#replan(this.#configured));
    return over;
  }

  /**
   * Ends the quarantine of an address at once. False if it is in none. @throws the error of saving; then it stays.
   */
  async endQuarantine(address: Ipv4Address): Promise<boolean> {
    const isThere = [...this.quarantines()].some((one) => one.address === address);
    if (!isThere) return false;
    await this.#enqueue(() => this.#planFrom(this.#configured, withoutQuarantine(this.#recorded, address)));
    return true;
  }

  /** Saves when leases end. This may lag: a lost expiry loses no address. */
  saveExpiries(): Promise<void> {
    return this.#enqueue(() => this.#save(this.#recorded, this.#owners));
  }

  /** When the client's lease ends or ended, according to the loaded state. */
  restoredExpiry(poolName: string, macAddress: string): number | undefined {
    return this.#restoredExpiries.get(poolName)?.get(macAddress);
  }

  #enqueue(work: () => Promise<void>): Promise<void> {
    const done = this.#work.then(work);
    this.#work = done.catch(() => undefined);
    return done;
  }

  /** While the disk is full, a configuration that changes no address takes effect all the same. */
  async #replan(configured: ReadonlyMap<string, ConfiguredPool>): Promise<void> {
    const nowMs = this.#ports.nowMs();
    const declined = this.#declined;
    const valid = declined.filter(({ untilMs }) => untilMs > nowMs);
    try {
      await this.#planFrom(configured, valid.reduce(withoutDeclined, this.#recorded));
      this.#declined = this.#declined.filter((one) => !declined.includes(one));
    } catch (error) {
      if (valid.length > 0) await this.#planFrom(configured, this.#recorded);
      throw error;
    }
  }

  async #planFrom(configured: ReadonlyMap<string, ConfiguredPool>, from: ReadonlyMap<string, RecordedPool>): Promise<void> {
    const nowMs = this.#ports.nowMs();
    const planned = new Map<string, PlannedPool>();
    // A pool that is removed from the file has its addresses again when it comes back.
    const recorded = new Map(from);
    const owners = new Map(this.#owners);
    for (const [name, pool] of configured) {
      const before = from.get(name) ?? NOTHING_RECORDED;
      if (pool.paused) continue;
      const { assignments, quarantines, refused, counts } = planAssignments(pool.pool, pool.claims, { recorded: before, nowMs });
      recorded.set(name, { assignments, quarantines });
      const plannedPool = { configured: pool, assignments, refused, counts };
      planned.set(name, plannedPool);
      owners.set(name, ownersByMacAddress(plannedPool));
    }
    const before = { pools: this.#recorded, owners: this.#owners };
    if (!sameRecords({ pools: recorded, owners }, before)) await this.#save(recorded, owners);
    this.#recorded = recorded;
    this.#owners = owners;
    this.#configured = configured;
    this.#ports.onPlanned(planned);
  }

  #save(pools: ReadonlyMap<string, RecordedPool>, owners: Owners): Promise<void> {
    return this.#ports.directory.save({ pools, owners, expiryOf: this.#ports.expiryOf });
  }
}

/** A lease whose address another machine uses, and until when no client gets that address. */
interface DeclinedLease extends Pick<Lease, 'poolName' | 'address' | 'macAddress'> {
  readonly untilMs: number;
}

function withoutDeclined(recorded: Map<string, RecordedPool>, { poolName, address, macAddress, untilMs }: DeclinedLease) {
  const before = recorded.get(poolName) ?? NOTHING_RECORDED;
  const after = {
    assignments: before.assignments.filter((one) => one.macAddress !== macAddress || one.address !== address),
    quarantines: [...before.quarantines.filter((quarantine) => quarantine.address !== address), { address, untilMs }],
  };
  return new Map(recorded).set(poolName, after);
}

function withoutQuarantine(recorded: ReadonlyMap<string, RecordedPool>, address: Ipv4Address): Map<string, RecordedPool> {
  return new Map(
    [...recorded].map(([name, pool]) => [
      name,
      { ...pool, quarantines: pool.quarantines.filter((quarantine) => quarantine.address !== address) },
    ]),
  );
}

interface Records {
  readonly pools: ReadonlyMap<string, RecordedPool>;
  readonly owners: Owners;
}

function sameRecords(one: Records, other: Records): boolean {
  if (one.pools.size !== other.pools.size) return false;
  return [...one.pools].every(([name, pool]) => {
    const known = other.pools.get(name);
    if (known === undefined) return false;
    return describeRecord(pool, one.owners.get(name)) === describeRecord(known, other.owners.get(name));
  });
}

function describeRecord({ assignments, quarantines }: RecordedPool, owners?: ReadonlyMap<string, string>): string {
  const leases = assignments.map(
    ({ macAddress, address, hostname }) => `${macAddress} ${address} ${hostname ?? ''} ${owners?.get(macAddress) ?? ''}`,
  );
  const quarantined = quarantines.map(({ address, untilMs }) => `${address} ${untilMs}`);
  return [...leases.toSorted(), ...quarantined.toSorted()].join('\n');
}
