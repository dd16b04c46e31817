/**
 * Leases of unknown clients that end before their time: a client sends a RELEASE, a person ends a lease, or the address is bound to another client now. In each case
 * only if the host that has the lease does not answer a probe.
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
import type { FindAddressUsers } from '../probe/address-users.js';
import type { MessageCounters } from './message-counters.js';
import { PROBES_AFTER_RELEASE, ReleaseChecks, type ReleaseDoubt, type ReleaseOutcome } from './release-checks.js';

/** A host that has answered is not asked again for so long because another client wants its address. */
const PRESENT_MS = 30_000;
/** Hosts that are remembered to have answered. */
const MOST_PRESENT = 1_024;

/** What became of a lease that was to end. */
export type LeaseEnd =
  | { readonly kind: 'ended'; readonly macAddress: MacAddress }
  /** There is none that could end. */
  | { readonly kind: 'no-lease' }
  | { readonly kind: 'not-recorded' }
  | { readonly kind: 'kept'; readonly macAddress: MacAddress; readonly reason: ReleaseDoubt };

export interface LeaseEndsPorts {
  readonly openPoolOf: (poolName: string) => OpenPool | undefined;
  readonly record: (record: BindingRecord) => Promise<boolean>;
  readonly probes: (poolName: string) => boolean;
  readonly nowMs: () => number;
  readonly findUsers: FindAddressUsers;
  readonly counters: MessageCounters;
  readonly onNotProbed: (interfaceName: string, error: unknown) => void;
  readonly onReleased: (lease: Lease, details: Readonly<Record<string, unknown>>) => void;
}

export class LeaseEnds {
  readonly #ports: LeaseEndsPorts;
  readonly #checks: ReleaseChecks;
  /** By pool and MAC address: until when the host counts as present. */
  readonly #presentUntilMs = new Map<string, number>();

  constructor(ports: LeaseEndsPorts) {
    this.#ports = ports;
    this.#checks = new ReleaseChecks(ports.findUsers, ports.onNotProbed);
  }

  /** A RELEASE of this lease came in. False: no unknown client has it. */
  claim({ poolName, macAddress, address }: Lease, interfaceName: string): boolean {
    const binding = this.#leaseAt(poolName, address);
    if (binding?.macAddress !== macAddress) return false;
    void this.#end(binding, { poolName, interfaceName, probes: PROBES_AFTER_RELEASE }).then((end) => {
      if (end.kind === 'ended') this.#ports.counters.count('release', 'released', '');
      else this.#ports.counters.count('release', 'ignored', end.kind === 'kept' ? end.reason : 'not-recorded');
    });
    return true;
  }

  /** Ends the lease of the address for good, because a person wants it. */
  async end(poolName: string, address: Ipv4Address, interfaceName: string): Promise<LeaseEnd> {
    const binding = this.#leaseAt(poolName, address);
    if (binding === undefined) return { kind: 'no-lease' };
    return await this.#end(binding, { poolName, interfaceName, probes: 1 });
  }

  /** True: the address that is bound to this client is leased to another one, whose host is being probed. The client may have the address when it asks again. */
  probesFormerHolder(open: OpenPool, macAddress: MacAddress, interfaceName: string): boolean {
    const poolName = open.pool.name;
    const nowMs = this.#ports.nowMs();
    const holder = this.#ports.probes(poolName) ? open.formerHolderOf({ macAddress }, nowMs) : undefined;
    if (holder === undefined) return false;
    const key = `${poolName} ${holder.macAddress}`;
    if ((this.#presentUntilMs.get(key) ?? Number.NEGATIVE_INFINITY) > nowMs) return false;
    void this.#end(holder, { poolName, interfaceName, probes: 1 }).then((end) => {
      if (end.kind === 'kept') this.#notePresent(key);
    });
    return true;
  }

  /** To be called every few seconds. */
  askAgain(): void {
    this.#checks.askAgain();
  }

  #leaseAt(poolName: string, address: Ipv4Address): Binding | undefined {
    const binding = this.#ports.openPoolOf(poolName)?.bindings.at(address);
    return binding !== undefined && isBindingValid(binding, this.#ports.nowMs()) ? binding : undefined;
  }

  async #end(
    { macAddress, address, grantedAtMs }: Binding,
    how: { readonly poolName: string; readonly interfaceName: string; readonly probes: number },
  ): Promise<LeaseEnd> {
    const { poolName, interfaceName } = how;
    const { openPoolOf, record, nowMs, onReleased } = this.#ports;
    const lease: Lease = { poolName, macAddress, address };
    const outcome = await this.#check(lease, how);
    if (!outcome.believed) return { kind: 'kept', macAddress, reason: outcome.reason };
    const release = openPoolOf(poolName)?.beginRelease(address, grantedAtMs, nowMs());
    // The client has renewed it meanwhile.
    if (release === undefined) return { kind: 'kept', macAddress, reason: 'release-address-in-use-by-client' };
    if (!(await record(release))) return { kind: 'not-recorded' };
    onReleased(lease, { interface: interfaceName });
    return { kind: 'ended', macAddress };
  }

  #check(lease: Lease, { interfaceName, probes }: { interfaceName: string; probes: number }): Promise<ReleaseOutcome> {
    if (!this.#ports.probes(lease.poolName)) return Promise.resolve({ believed: true });
    return this.#checks.check({ lease, interfaceName, probes });
  }

  #notePresent(key: string): void {
    this.#presentUntilMs.delete(key);
    this.#presentUntilMs.set(key, this.#ports.nowMs() + PRESENT_MS);
    const oldest = this.#presentUntilMs.keys().next();
    if (this.#presentUntilMs.size > MOST_PRESENT && !oldest.done) this.#presentUntilMs.delete(oldest.value);
  }
}
