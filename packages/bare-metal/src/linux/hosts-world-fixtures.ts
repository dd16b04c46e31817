/** Replicas of the agent of one ClusterAgent on one clock: kernels, a network, a Lease, an API server and leases in memory. */
import { electionTimes, type FoundServer } from '@vmdhcp/dhcp-agent';
import { type AddressUse, encodeClientPacket } from '@vmdhcp/dhcp-agent/packet-path';
import {
  FakeGroupLease,
  FakeKernel,
  FakeNetwork,
  FakeProcess,
  RecordingObserver,
  type SentReply,
} from '@vmdhcp/dhcp-agent/testing';
import {
  type BindingRecord,
  BindingRecorder,
  formatIpv4Address,
  type Ipv4Address,
  type MacAddress,
  OpenPool,
  OptionCode,
  ServedPool,
} from '@vmdhcp/dhcp-allocator';
import { type Clock, type KubernetesObject, SharedCaches } from '@vmdhcp/kube-runtime';
import { FakeClock, MemoryResource } from '@vmdhcp/kube-runtime/testing';
import type { BoundAddresses } from '../binding/bound-addresses.js';
import type { HostLeaseStore } from './directory-leases.js';
import { ip } from './hosts-fixtures.js';
import { HostsMachine } from './hosts-machine.js';

const WALL_OFFSET_MS = 1_700_000_000_000;
export const NOTHING_BOUND: BoundAddresses = { bindings: [], keptOut: [], releases: [], problems: [] };
export const SELF = ip('10.0.0.2');
/** Addresses that the pods need themselves. */
const NEEDED = ip('10.0.0.9');

/** Records that survive the end of replicas; one replica has them open at a time. */
export class SharedRecords {
  readonly records: BindingRecord[] = [];
  openedBy: Replica | undefined;
  /** True to probe an address before a client gets it. */
  probes = false;
  /** Records are not stored before this is resolved. */
  gate: Promise<void> = Promise.resolve();

  async open(replica: Replica, nowMs: () => number): Promise<HostLeaseStore> {
    const former = this.openedBy;
    if (former !== undefined && !former.process.isDead) throw new Error('another agent uses it');
    this.openedBy = replica;
    const pools = new Map<string, OpenPool>();
    const recorder = new BindingRecorder({
      store: {
        append: async (records) => {
          await this.gate;
          this.records.push(...records);
        },
        replace: async () => undefined,
      },
      openPoolOf: (name) => pools.get(name),
      nowMs,
      onFailed: () => undefined,
    });
    return {
      open: {
        openPoolOf: (name) => pools.get(name),
        all: () => pools.values(),
        record: (record) => recorder.record(record),
        probes: () => this.probes,
        setPool: ({ pool, assignments }) => {
          const known = pools.get(pool.name);
          if (known === undefined) pools.set(pool.name, new OpenPool(new ServedPool(pool), this.records, nowMs()));
          else known.setPool(new ServedPool(pool), nowMs());
          return assignments;
        },
        get problem() {
          return replica.recordingProblem;
        },
        failures: 0,
      },
      close: async () => {
        replica.steps.push('leases closed');
        this.openedBy = undefined;
      },
    };
  }
}

export class World {
  readonly clock = new FakeClock();
  readonly clusterAgents = new MemoryResource(this.clock);
  readonly lease = new FakeGroupLease(this.clock);
  readonly network = new FakeNetwork();
  readonly records = new SharedRecords();
  readonly replies: SentReply[] = [];
  readonly replicas: Replica[] = [];
  readonly events: string[] = [];
  /** Hosts that answer ARP for an address. */
  usersOf: (address: Ipv4Address) => readonly MacAddress[] = () => [];
  otherServers: readonly FoundServer[] = [];
  #xid = 0;

  constructor() {
    this.network.onReply = (reply) => this.replies.push(reply);
  }

  add(): Replica {
    const replica = new Replica(this, `pod-${this.replicas.length}`);
    this.replicas.push(replica);
    replica.machine.start();
    return replica;
  }

  put(object: KubernetesObject): void {
    this.clusterAgents.put(object);
  }

  /** The replicas that have selfIp at this moment. */
  holders(): Replica[] {
    return this.replicas.filter(({ kernel }) => kernel.has('net1', SELF));
  }

  /** Waits until the condition is true, at most a minute of the fake clock. @throws Error */
  async until(what: string, condition: () => boolean): Promise<void> {
    for (let round = 0; round < 600; round++) {
      if (condition()) return;
      await this.clock.advance(100);
    }
    throw new Error(`waited for ${what} in vain`);
  }

  /** A client that knows nothing requests an address. Returns its address; undefined if it got none. */
  async join(client: number): Promise<string | undefined> {
    const offer = await this.ask('discover', client);
    if (offer?.type !== 'offer') return undefined;
    const requested = toOctets(offer.address);
    const server = toOctets(SELF);
    const ack = await this.ask('request', client, [
      [OptionCode.requestedAddress, requested],
      [OptionCode.serverIdentifier, server],
    ]);
    return ack?.type === 'ack' ? formatIpv4Address(ack.address) : undefined;
  }

  async ask(
    type: 'discover' | 'request',
    client: number,
    options: readonly (readonly [code: number, octets: Uint8Array])[] = [],
  ): Promise<SentReply | undefined> {
    const xid = ++this.#xid;
    this.network.broadcast(encodeClientPacket({ type, xid, macAddress: `02:00:00:00:00:0${client}`, options }));
    await this.clock.advance(20);
    return this.replies.findLast(({ message }) => message.xid === xid);
  }
}

/** One replica: its process, its kernel and the machine in it. */
export class Replica {
  readonly process: FakeProcess;
  readonly kernel: FakeKernel;
  readonly observer = new RecordingObserver();
  readonly machine: HostsMachine;
  readonly lines: string[] = [];
  /** What ended, in order. */
  readonly steps: string[] = [];
  /** The state when management controllers were first called, for each leadership. */
  readonly reached: { readonly hasSelfIp: boolean; readonly afterMs: number }[] = [];
  /** What the objects of hosts bind; undefined if not known. */
  bound: BoundAddresses | undefined = NOTHING_BOUND;
  isUp = true;
  /** Addresses that a person gave the interface, without end. */
  readonly byHand: Ipv4Address[] = [];
  /** Why this replica cannot record leases. */
  recordingProblem: string | undefined;
  #onBindings: (bound: BoundAddresses) => void = () => undefined;

  constructor(world: World, identity: string) {
    const { clock } = world;
    this.process = new FakeProcess(clock);
    this.kernel = new FakeKernel({ owner: identity, process: this.process });
    this.kernel.addLink('net1');
    const election = electionTimes(2.75);
    const note = (...parts: unknown[]) => void this.lines.push(String(parts.at(-1)));
    const nowMs = () => this.process.timeMs + WALL_OFFSET_MS;
    this.machine = new HostsMachine(
      { clusterAgentName: 'rack', identity, election, isAlone: false },
      {
        logger: { info: note, warn: note, error: note, debug: note } as never,
        clock: this.process,
        nowMs,
        random: () => 0,
        observer: this.observer,
        packetLog: { isActive: false, note: () => undefined },
        sockets: world.network.socketsOf({ owner: identity, process: this.process, kernel: this.kernel }),
        probeAddress: (_, { address, macAddress }) =>
          this.process.settled(Promise.resolve(useOf(world.usersOf(address), macAddress))),
        probeServers: () => this.process.settled(Promise.resolve(world.otherServers)),
        mayProbe: true,
        onBurst: () => undefined,
        addresses: this.kernel,
        links: { indexOf: this.kernel.indexOf, isUp: () => this.isUp, list: () => this.byHand.map(permanent) },
        lease: world.lease.reachedBy({ process: this.process, timeoutMs: election.renewDeadlineMs * 0.6 }),
        caches: new SharedCaches({
          open: () => world.clusterAgents,
          clock: this.process as Clock,
          backOff: { firstMs: 500, mostMs: 500, random: () => 0 },
        }),
        clusterAgents: world.clusterAgents,
        events: { record: ({ kind, name }, { reason }) => void world.events.push(`${reason} on ${kind} ${name}`) },
        neededFor: (address) => (address === NEEDED ? 'the API server' : undefined),
        openLeases: () => this.process.settled(world.records.open(this, nowMs)),
        createInventory: ({ onBindings, whenAddressed }) => ({
          start: () => {
            this.#onBindings = onBindings;
            const beganAtMs = world.clock.nowMs();
            void whenAddressed(new AbortController().signal).then(() =>
              this.reached.push({ hasSelfIp: this.kernel.has('net1', SELF), afterMs: world.clock.nowMs() - beganAtMs }),
            );
            if (this.bound !== undefined) onBindings(this.bound);
          },
          leasesChanged: () => undefined,
          stop: async () => void this.steps.push('hosts followed no more'),
        }),
      },
    );
  }

  /** Called when hosts bind other addresses than before. */
  bind(bound: BoundAddresses): void {
    this.bound = bound;
    this.#onBindings(bound);
  }
}

function useOf(users: readonly MacAddress[], client: MacAddress | undefined): AddressUse {
  return { byClient: users.some((user) => user === client), others: users.filter((user) => user !== client) };
}

const permanent = (address: Ipv4Address) => ({
  ...{ interfaceIndex: 1, address, prefixLength: 24 },
  validSeconds: Number.POSITIVE_INFINITY,
});

function toOctets(address: Ipv4Address): Uint8Array {
  return Uint8Array.of(address >>> 24, (address >>> 16) & 255, (address >>> 8) & 255, address & 255);
}
