/** DHCP of one ClusterAgent: one pool on one interface, with the leases of the leader. It answers only while it may. */

import type { KeptLease } from '@vmdhcp/agent-process';
import type { AddressProbe, AgentObserver, AgentTraffic } from '@vmdhcp/dhcp-agent/packet-path';
import {
  AddressUsers,
  DECOYS,
  type DhcpPacketHandler,
  DhcpServer,
  type DhcpSockets,
  type InterfaceState,
  type PacketCaptures,
  type PacketLogPort,
  ServedInterface,
} from '@vmdhcp/dhcp-agent/packet-path';
import type { OpenPoolCounts, Pool } from '@vmdhcp/dhcp-allocator';
import type { Clock } from '@vmdhcp/kube-runtime';
import type { LeaseView, OpenLeases } from '@vmdhcp/lease-stores';
import { viewsOf } from '@vmdhcp/lease-stores';
import type { BoundAddresses, LeaseRelease } from '../binding/bound-addresses.js';
import type { HostLease } from '../inventory/inventory-plan.js';
import { declaredAddresses, hostLeases, rememberedClients, wasNeverRenewed } from './bound-leases.js';
import { LeaseReleases } from './lease-releases.js';

export interface HostDhcpPorts {
  readonly clock: Clock;
  /** Milliseconds since 1970. */
  readonly nowMs: () => number;
  readonly random: () => number;
  readonly observer: AgentObserver;
  readonly packetLog: PacketLogPort;
  /** Where it is noted what each client sent and got. */
  readonly traffic?: AgentTraffic | undefined;
  /** The captures that may run. */
  readonly captures?: PacketCaptures | undefined;
  readonly sockets: DhcpSockets;
  readonly probeAddress: AddressProbe;
  /** False if addresses are not probed, because CAP_NET_RAW is missing. */
  readonly mayProbe: boolean;
  /** Called for every packet: true if this replica is leader, and has the server's address. */
  readonly mayAnswer: () => boolean;
  readonly onBurst: (durationNs: number) => void;
  /** A lease that a person wanted to end stays. */
  readonly onLeaseKept: (release: LeaseRelease, end: KeptLease) => void;
  /** A socket was opened, failed or was closed. */
  readonly onStateChange: () => void;
}

/** Leases of unknown clients, from `OpenLeases`. */
export type HostLeases = Pick<OpenLeases, 'openPoolOf' | 'all' | 'record' | 'probes' | 'setPool' | 'problem' | 'failures'>;

/** What is served. */
export interface ServedHosts {
  readonly pool: Pool;
  readonly bound: BoundAddresses;
}

const CLOSED: InterfaceState = { kind: 'opening' };

export class HostDhcp {
  readonly #ports: HostDhcpPorts;
  readonly #server: DhcpServer;
  #leases: HostLeases | undefined;
  #interface: ServedInterface | undefined;
  #served: ServedHosts | undefined;
  readonly #releases = new LeaseReleases();

  constructor(ports: HostDhcpPorts) {
    this.#ports = ports;
    const { observer, nowMs, packetLog, probeAddress, clock, random } = ports;
    const users = new AddressUsers({
      observer,
      nowMs: clock.nowMs,
      probe: probeAddress,
      decoysOf: (poolName) => this.#server.decoysOf(poolName, DECOYS, random),
    });
    this.#server = new DhcpServer({
      observer,
      packetLog,
      traffic: ports.traffic,
      captures: ports.captures,
      nowMs,
      findUsers: users.findUsers,
      // Every client gets an answer from the leases of unknown clients.
      onBindingChanged: () => undefined,
      onDeclined: () => undefined,
      open: {
        openPoolOf: (poolName) => this.#leases?.openPoolOf(poolName),
        all: () => this.#leases?.all() ?? [],
        record: async (record) => (await this.#leases?.record(record)) ?? false,
        probes: (poolName) => this.#leases?.probes(poolName) ?? false,
        // A ClusterAgent has one.
        interfacesOf: () => [],
        // Leadership may have ended while the lease was recorded.
        send: (_, replies) => {
          if (ports.mayAnswer()) this.#interface?.send(replies);
        },
        again: (_, packet) => this.#interface?.inject(packet),
      },
    });
  }

  get counters(): DhcpServer['counters'] {
    return this.#server.counters;
  }

  /** The pool from which clients are answered, if they may be. */
  get pool(): Pool | undefined {
    return this.#served?.pool;
  }

  get socketState(): InterfaceState {
    return this.#interface?.state ?? CLOSED;
  }

  /** Listens only on this interface. */
  useInterface(name: string | undefined): void {
    if (this.#interface?.name === name) return;
    this.#interface?.stop();
    this.#interface = name === undefined ? undefined : this.#createInterface(name);
    void this.#interface?.check();
  }

  /** Sets the leases; undefined if none are open: then no client gets an answer. */
  useLeases(leases: HostLeases | undefined): void {
    this.stopServing();
    this.#leases = leases;
    this.#releases.forget();
  }

  /** Serves this pool with these bindings. Leases stay; a change has no gap. */
  serve(served: ServedHosts): void {
    const leases = this.#leases;
    if (leases === undefined) return;
    const { pool, bound } = served;
    const before = this.#served;
    if (before?.pool === pool && before.bound === bound) return;
    if (before !== undefined && before.pool.name !== pool.name) this.#server.removePool(before.pool.name);
    if (before?.pool !== pool) leases.setPool({ pool, assignments: [], probes: this.#ports.mayProbe });
    this.#bind(leases, served);
    this.#server.setPool(pool, []);
    this.#served = served;
    this.#release(bound.releases);
  }

  stopServing(): void {
    if (this.#served !== undefined) this.#server.removePool(this.#served.pool.name);
    this.#served = undefined;
  }

  /** Updates the socket for the current state of the interface. Call it several times a second; never rejects. */
  async check(): Promise<void> {
    await this.#interface?.check();
  }

  /** Notes leases that have ended. Call it every few seconds. */
  expireLeases(): void {
    this.#server.expireLeases();
  }

  /** The leases that clients have now; undefined if not known here. */
  leases(): readonly HostLease[] | undefined {
    const open = this.#openPool();
    return open === undefined ? undefined : hostLeases(open.bindings, this.#ports.nowMs());
  }

  /** True if the lease of the address has ended and its client never renewed it. */
  mayBeMadeUp(ipAddress: string): boolean {
    const open = this.#openPool();
    return open !== undefined && wasNeverRenewed(open.bindings, ipAddress, this.#ports.nowMs());
  }

  *views(): Generator<LeaseView> {
    const open = this.#openPool();
    if (open !== undefined) yield* viewsOf(open.pool.name, open.bindings.bindings(), this.#ports.nowMs());
  }

  counts(): OpenPoolCounts | undefined {
    return this.#openPool()?.counts(this.#ports.nowMs());
  }

  /** Messages of clients that got no address because none was free, since the process began. */
  get refused(): number {
    let refused = 0;
    for (const { reason, count } of this.counters.messages()) if (reason === 'pool-exhausted') refused += count;
    return refused;
  }

  stop(): void {
    this.#interface?.stop();
    this.stopServing();
  }

  #bind(leases: HostLeases, { pool, bound }: ServedHosts): void {
    const open = leases.openPoolOf(pool.name);
    if (open === undefined) return;
    const nowMs = this.#ports.nowMs();
    open.declare(declaredAddresses(bound), nowMs);
    const known = { pool, table: open.bindings, recordings: open.addresses.recordings() };
    for (const record of rememberedClients(bound, known, nowMs)) {
      // No other client gets the address meanwhile.
      open.addresses.beginRecording(record, nowMs);
      void leases.record(record);
    }
  }

  #release(releases: readonly LeaseRelease[]): void {
    const [open, interfaceName] = [this.#openPool(), this.#interface?.name];
    if (open === undefined || interfaceName === undefined) return;
    const { due, ahead } = this.#releases.take(releases, open.bindings, this.#ports.nowMs());
    for (const release of ahead) this.#ports.onLeaseKept(release, { kind: 'time-ahead' });
    for (const release of due)
      void this.#server.endLease(open.pool.name, release.address, interfaceName).then((end) => {
        if (end.kind === 'kept' || end.kind === 'not-recorded') this.#ports.onLeaseKept(release, end);
      });
  }

  #openPool() {
    const { pool } = this;
    return pool === undefined ? undefined : this.#leases?.openPoolOf(pool.name);
  }

  #createInterface(name: string): ServedInterface {
    const { observer, sockets, clock, onBurst, onStateChange } = this.#ports;
    return new ServedInterface(name, {
      observer,
      nowMs: clock.nowMs,
      sockets,
      handler: this.#handler(name),
      socketEvents: {
        onBurst: (durationNs) => {
          this.#server.endBurst();
          onBurst(durationNs);
        },
        onSendFailure: ({ error, count }) => {
          this.counters.drop('send-failed', count);
          observer.observe({ kind: 'replies-not-sent', interfaceName: name, error, count });
        },
      },
      onStateChange,
    });
  }

  #handler(name: string): DhcpPacketHandler {
    const pools = () => (this.#served === undefined ? [] : this.#server.poolAlone(this.#served.pool.name));
    const answer = this.#server.handler(name, pools);
    const silent = this.#server.standbyHandler(name, () => this.#served?.pool.name ?? '');
    return (packet, into, sender) => (this.#ports.mayAnswer() ? answer : silent)(packet, into, sender);
  }
}
