/**
 * Decides when an agent that reaches no machine steps down for another replica. A leader is silent when all of its networks are. The controller must
 * confirm that machines run there (condition NetworkSilent of the pool), because a network whose machines are all off is silent too. If the former
 * leader was silent as well, the network is probably silent everywhere, and the next replica is tried later.
 */
import type { Lease } from '@vmdhcp/dhcp-allocator';
import type { AgentReport } from '@vmdhcp/ippool-api/agent';
import type { Clock } from '@vmdhcp/kube-runtime';
import { MachineContact } from './machine-contact.js';

/** The first wait: time for other replicas to find out whether they reach any machine; they ask when the leader reports silence. */
const FIRST_MS = 12_000;
/** After each failure the wait is this many times as long. Clients are not served meanwhile anyway, so trying costs nothing. */
const GROWTH = 4;
const LONGEST_MS = 1_800_000;
/** If the former leader was silent too, count as if this replica had tried this often. */
const TRIES_OF_OTHER = 2;

export interface SilentNetworksPorts {
  readonly clock: Pick<Clock, 'nowMs'>;
  /** By `namespace/name`; each has a network of its own. */
  readonly poolKeys: readonly string[];
  readonly isLeader: () => boolean;
  /** True if the pool should be served. */
  readonly isActive: (poolKey: string) => boolean;
  /** True if the controller reports that machines run on the network and the leader reaches none. */
  readonly isConfirmed: (poolKey: string) => boolean;
  /** The machines that may be asked. */
  readonly leasesOf: (poolKey: string) => Iterable<Lease>;
  /** Resolves to true if a machine answers for the address of the lease. Rejects if it cannot ask. */
  readonly ask: (poolKey: string, lease: Lease) => Promise<boolean>;
  /** The network of the pool has become silent, or its machines are reached again. */
  readonly onChange: (poolKey: string, isSilent: boolean) => void;
}

export class SilentNetworks {
  readonly #ports: SilentNetworksPorts;
  readonly #contacts: ReadonlyMap<string, MachineContact>;
  /** True if the last report of another leader said that all networks are silent. */
  #wasOtherSilent = false;
  #silentSinceMs: number | undefined;
  /** How often it has stepped down without contact since. */
  #timesSteppedDown = 0;

  constructor(ports: SilentNetworksPorts) {
    this.#ports = ports;
    const { clock, poolKeys, leasesOf, ask, onChange } = ports;
    const contactWith = (key: string) =>
      new MachineContact({
        clock,
        leases: () => leasesOf(key),
        ask: (lease) => ask(key, lease),
        onChange: (isSilent) => onChange(key, isSilent),
      });
    this.#contacts = new Map(poolKeys.map((key) => [key, contactWith(key)]));
  }

  /** The contact with the machines of a pool; undefined for an unknown pool. */
  contactOf(poolKey: string): MachineContact | undefined {
    return this.#contacts.get(poolKey);
  }

  /** Receives the report of another leader. */
  noteOtherLeader(report: AgentReport): void {
    const active = this.#active();
    this.#wasOtherSilent = active.length > 0 && active.every(([key]) => report.get(key)?.silentMinutes !== undefined);
  }

  /** True if another replica may reach machines that this one does not, and should go first when the Lease is free. */
  goesLast(): boolean {
    return (this.#wasOtherSilent || this.#timesSteppedDown > 0) && !this.#hasContact();
  }

  /**
   * Watches the networks while this replica is leader, or while the leader reaches no machine. Returns true if it should step down. Call it every
   * second.
   */
  look(): boolean {
    const isLeading = this.#ports.isLeader();
    const isWatching = isLeading || this.#wasOtherSilent;
    for (const [key, contact] of this.#contacts) {
      if (isWatching && this.#ports.isActive(key)) contact.look(!isLeading);
      else contact.leave();
    }
    if (!isLeading) return false;
    if (this.#hasContact()) {
      this.#wasOtherSilent = false;
      this.#timesSteppedDown = 0;
    }
    return this.#isPatienceOver();
  }

  #isPatienceOver(): boolean {
    const { clock, isConfirmed } = this.#ports;
    if (!this.#isSilent() || !this.#active().some(([key]) => isConfirmed(key))) {
      this.#silentSinceMs = undefined;
      return false;
    }
    this.#silentSinceMs ??= clock.nowMs();
    if (clock.nowMs() - this.#silentSinceMs < this.#patienceMs()) return false;
    this.#silentSinceMs = undefined;
    this.#timesSteppedDown++;
    return true;
  }

  #patienceMs(): number {
    const tries = Math.max(this.#timesSteppedDown, this.#wasOtherSilent ? TRIES_OF_OTHER : 0);
    return Math.min(FIRST_MS * GROWTH ** tries, LONGEST_MS);
  }

  /** A leader that reaches machines on any network stays leader: a working pool is never moved. */
  #isSilent(): boolean {
    const active = this.#active();
    return active.some(([, { isSilent }]) => isSilent) && active.every(([, { isSilent, hasContact }]) => isSilent || !hasContact);
  }

  #hasContact(): boolean {
    return this.#active().some(([, { isSilent, hasContact }]) => hasContact && !isSilent);
  }

  #active(): readonly (readonly [poolKey: string, contact: MachineContact])[] {
    return [...this.#contacts].filter(([key]) => this.#ports.isActive(key));
  }
}
