/**
 * Ends leases of unknown clients, and quarantines, early: because a person asks for it, or because the address is now bound to another client. It
 * does so only if no host answers a probe, because that host would lose its address or share it with another client.
 */
import {
  type Binding,
  type BindingRecord,
  type Ipv4Address,
  isBindingValid,
  type Lease,
  type MacAddress,
  type OpenPool,
} from '@vmdhcp/dhcp-allocator';
import type { AddressUse } from '../ports.js';
import type { FindAddressUsers } from '../probe/address-users.js';

/** A host that has answered is not probed again for this long when another client wants its address. */
const PRESENT_MS = 30_000;
/** The maximum number of remembered hosts that answered. */
const MOST_PRESENT = 1_024;
/** The maximum number of simultaneous probes. */
const MOST_CHECKED = 256;

/** Why a lease or a quarantine stays. */
export type KeptReason =
  /** The client answers for the address, or has renewed its lease. */
  | 'in-use-by-client'
  /** Another host answers for the address in quarantine. */
  | 'in-use-by-another-host'
  /** The pools file assigns the address to the client. */
  | 'declared'
  /** This address, or the maximum number of addresses, is being probed. */
  | 'being-checked'
  /** The address could not be probed. */
  | 'not-checked';

/** The outcome for a lease that should end. */
export type LeaseEnd =
  | { readonly kind: 'ended'; readonly macAddress: MacAddress }
  | { readonly kind: 'quarantine-ended' }
  /** There is no lease or quarantine to end. */
  | { readonly kind: 'no-lease' }
  | { readonly kind: 'not-recorded' }
  /** `macAddress`: that of the client, or of the host that answers for an address in quarantine. */
  | { readonly kind: 'kept'; readonly macAddress?: MacAddress; readonly reason: KeptReason };

export interface LeaseEndsPorts {
  readonly openPoolOf: (poolName: string) => OpenPool | undefined;
  readonly record: (record: BindingRecord) => Promise<boolean>;
  readonly probes: (poolName: string) => boolean;
  readonly nowMs: () => number;
  readonly findUsers: FindAddressUsers;
  readonly onNotProbed: (interfaceName: string, error: unknown) => void;
  readonly onReleased: (lease: Lease, details: Readonly<Record<string, unknown>>) => void;
}

interface Place {
  readonly poolName: string;
  readonly interfaceName: string;
}

const NO_HOST = '00:00:00:00:00:00';
const NO_USE: AddressUse = { byClient: false, others: [] };

export class LeaseEnds {
  readonly #ports: LeaseEndsPorts;
  /** By pool and MAC address: until when the host is taken to be present. */
  readonly #presentUntilMs = new Map<string, number>();
  /** By pool and address: current probes. */
  readonly #checked = new Set<string>();

  constructor(ports: LeaseEndsPorts) {
    this.#ports = ports;
  }

  /** Ends the lease or the quarantine of the address for good, because a person wants it. */
  async end(poolName: string, address: Ipv4Address, interfaceName: string): Promise<LeaseEnd> {
    const place = { poolName, interfaceName };
    const open = this.#ports.openPoolOf(poolName);
    const binding = open?.bindings.at(address);
    if (binding !== undefined && isBindingValid(binding, this.#ports.nowMs())) return await this.#end(binding, place);
    return open?.addresses.isQuarantined(address, this.#ports.nowMs()) === true
      ? await this.#endQuarantine(address, place)
      : { kind: 'no-lease' };
  }

  /**
   * True if the address that is bound to this client is leased to another one, whose host is being probed. The client may get the address when it
   * asks again.
   */
  probesFormerHolder(open: OpenPool, macAddress: MacAddress, interfaceName: string): boolean {
    const poolName = open.pool.name;
    const nowMs = this.#ports.nowMs();
    const holder = this.#ports.probes(poolName) ? open.formerHolderOf({ macAddress }, nowMs) : undefined;
    if (holder === undefined) return false;
    const key = `${poolName} ${holder.macAddress}`;
    if ((this.#presentUntilMs.get(key) ?? Number.NEGATIVE_INFINITY) > nowMs) return false;
    void this.#end(holder, { poolName, interfaceName }).then((end) => {
      if (end.kind === 'kept') this.#notePresent(key);
    });
    return true;
  }

  async #end({ macAddress, address, grantedAtMs }: Binding, place: Place): Promise<LeaseEnd> {
    const { openPoolOf, nowMs, record, onReleased } = this.#ports;
    const lease: Lease = { poolName: place.poolName, macAddress, address };
    const use = await this.#usersOf(lease, place);
    if (typeof use === 'string') return { kind: 'kept', macAddress, reason: use };
    const release = use.byClient ? undefined : openPoolOf(place.poolName)?.beginRelease(address, grantedAtMs, nowMs());
    // It answers, or has renewed its lease meanwhile.
    if (release === undefined) return { kind: 'kept', macAddress, reason: 'in-use-by-client' };
    if (!(await record(release))) return { kind: 'not-recorded' };
    onReleased(lease, { interface: place.interfaceName });
    return { kind: 'ended', macAddress };
  }

  async #endQuarantine(address: Ipv4Address, place: Place): Promise<LeaseEnd> {
    const { openPoolOf, nowMs, record } = this.#ports;
    const use = await this.#usersOf({ poolName: place.poolName, macAddress: NO_HOST, address }, place);
    if (typeof use === 'string') return { kind: 'kept', reason: use };
    const [user] = use.others;
    if (user !== undefined) return { kind: 'kept', macAddress: user, reason: 'in-use-by-another-host' };
    const end = openPoolOf(place.poolName)?.beginQuarantineEnd(address, nowMs());
    if (end === undefined) return { kind: 'no-lease' };
    return (await record(end)) ? { kind: 'quarantine-ended' } : { kind: 'not-recorded' };
  }

  async #usersOf(lease: Lease, { interfaceName }: Place): Promise<AddressUse | 'being-checked' | 'not-checked'> {
    const { probes, findUsers, onNotProbed } = this.#ports;
    if (!probes(lease.poolName)) return NO_USE;
    const key = `${lease.poolName} ${lease.address}`;
    if (this.#checked.has(key) || this.#checked.size >= MOST_CHECKED) return 'being-checked';
    this.#checked.add(key);
    try {
      return await findUsers(interfaceName, lease);
    } catch (error) {
      onNotProbed(interfaceName, error);
      return 'not-checked';
    } finally {
      this.#checked.delete(key);
    }
  }

  #notePresent(key: string): void {
    this.#presentUntilMs.delete(key);
    this.#presentUntilMs.set(key, this.#ports.nowMs() + PRESENT_MS);
    const oldest = this.#presentUntilMs.keys().next();
    if (this.#presentUntilMs.size > MOST_PRESENT && !oldest.done) this.#presentUntilMs.delete(oldest.value);
  }
}
