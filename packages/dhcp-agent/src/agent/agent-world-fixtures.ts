/** Pods, pools and clients on one fake clock, for stories and laws of agents. */
import { encodeOption, formatIpv4Address, type Ipv4Address, type MacAddress, parseIpv4Address } from '@vmdhcp/dhcp-allocator';
import { type AgentNetworkConfig, SUSPENDED_POOLS_ANNOTATION } from '@vmdhcp/ippool-api/agent';
import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { FakeClock, MemoryResource, settle } from '@vmdhcp/kube-runtime/testing';
import { type ClientPacket, encodeClientPacket } from '../probe/client-packet.js';
import { FakeGroupLease } from '../testing/fake-group-lease.js';
import { FakeNetwork, type SentReply } from '../testing/fake-network.js';
import { FakePod, type FakePodSettings } from '../testing/fake-pod.js';

export const ip = (text: string): Ipv4Address => parseIpv4Address(text) as Ipv4Address;

/** The pool of network number `n`: 10.0.n.0/24, server 10.0.n.2, clients from 10.0.n.10. */
export interface WorldPool {
  readonly key: string;
  readonly interfaceName: string;
  readonly serverAddress: Ipv4Address;
  readonly object: MemoryResource<KubernetesObject>;
  readonly network: FakeNetwork;
  readonly config: AgentNetworkConfig;
  readonly replies: SentReply[];
}

/** The fields of an IPPool besides its addresses. */
interface RecordedExtra {
  readonly spec?: Readonly<Record<string, unknown>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly conditions?: readonly object[];
}

export class AgentWorld {
  readonly clock = new FakeClock();
  readonly pools: WorldPool[] = [];
  readonly pods: FakePod[] = [];
  readonly #generations = new Map<string, number>();

  addPool(): WorldPool {
    const number = this.pools.length;
    const key = `default/net-${number}`;
    const interfaceName = `net${number}`;
    const serverIP = `10.0.${number}.2`;
    const pool: WorldPool = {
      key,
      interfaceName,
      serverAddress: ip(serverIP),
      object: new MemoryResource<KubernetesObject>(this.clock),
      network: new FakeNetwork(),
      config: { interfaceName, serverIP, cidr: `10.0.${number}.0/24`, ipPoolName: key, ipPoolRef: key, nadName: key },
      replies: [],
    };
    pool.network.onReply = (reply) => pool.replies.push(reply);
    this.pools.push(pool);
    this.record(pool, {});
    return pool;
  }

  /** Writes the IPPool. @param allocated - address to MAC address. */
  record(pool: WorldPool, allocated: Readonly<Record<string, string>>, extra: RecordedExtra = {}): void {
    const { spec = {}, annotations = {}, conditions = [] } = extra;
    const number = this.pools.indexOf(pool);
    const text = JSON.stringify(spec);
    const generation = this.#generations.get(`${pool.key} ${text}`) ?? this.#generations.size + 1;
    this.#generations.set(`${pool.key} ${text}`, generation);
    const { ipv4Config, ...rest } = spec;
    pool.object.put({
      apiVersion: 'network.harvesterhci.io/v1alpha1',
      kind: 'IPPool',
      metadata: { namespace: 'default', name: `net-${number}`, uid: `uid-${number}`, generation, annotations },
      spec: {
        networkName: pool.key,
        ipv4Config: {
          cidr: pool.config.cidr,
          serverIP: pool.config.serverIP,
          pool: { start: `10.0.${number}.10`, end: `10.0.${number}.99` },
          ...(ipv4Config as object | undefined),
        },
        ...rest,
      },
      status: { ipv4: { allocated, used: 0, available: 0 }, conditions },
    });
  }

  addGroup(): FakeGroupLease {
    return new FakeGroupLease(this.clock);
  }

  /** A pod of a group, with an interface on each of these networks; its agent starts now. */
  startPod(
    identity: string,
    lease: FakeGroupLease,
    settings: Partial<FakePodSettings> & { pools?: readonly WorldPool[] } = {},
  ): FakePod {
    const { pools = this.pools, ...rest } = settings;
    const pod = new FakePod({
      identity,
      clock: this.clock,
      lease,
      configs: pools.map(({ config }) => config),
      networks: new Map(pools.map(({ interfaceName, network }) => [interfaceName, network])),
      poolSource: (key) => (this.pools.find((pool) => pool.key === key) as WorldPool).object,
      ...rest,
    });
    this.pods.push(pod);
    pod.agent.start();
    return pod;
  }

  /** Two replicas of a group: `a`, which becomes leader, and `b`, which stands by. */
  async startBoth(lease: FakeGroupLease): Promise<[FakePod, FakePod]> {
    const a = this.startPod('a', lease);
    await this.pass(1_000);
    const b = this.startPod('b', lease);
    await this.pass(2_000);
    return [a, b];
  }

  /** Broadcasts a packet, and returns who answered within this many milliseconds, and how: `a: offer`. */
  async ask({ network, replies }: WorldPool, packet: Uint8Array, ms = 50): Promise<string[]> {
    replies.length = 0;
    network.broadcast(packet);
    await this.pass(ms);
    return replies.map(({ owner, type }) => `${owner}: ${type}`);
  }

  /** The pods whose kernel has the pool's server address at this moment. */
  holders(pool: WorldPool): string[] {
    return this.pods.filter(({ kernel }) => kernel.has(pool.interfaceName, pool.serverAddress)).map(({ owner }) => owner);
  }

  /** Describes each time that two interfaces had the same address for longer than this. */
  overlaps(mostMs = 0): string[] {
    const spans = this.pods.flatMap(({ kernel }) => kernel.spans()).toSorted((one, other) => one.fromMs - other.fromMs);
    return spans.flatMap((span, index) =>
      spans.slice(index + 1).flatMap((other) => {
        const untilMs = Math.min(span.untilMs, other.untilMs);
        const isOverlap = other.address === span.address && other.owner !== span.owner && untilMs - other.fromMs > mostMs;
        const [first, second] = [span, other].map(({ owner, fromMs, untilMs: end }) => `${owner} from ${fromMs} to ${end} ms`);
        return isOverlap ? [`${formatIpv4Address(span.address)} was on ${first} and on ${second}`] : [];
      }),
    );
  }

  /** Lets this many milliseconds pass. */
  async pass(ms: number): Promise<void> {
    await this.clock.advance(ms);
    await settle();
  }
}

/**
 * Sets the pools that the Lease suspends, like the controller. It creates a deleted Lease with a holder that is not an agent, because the last
 * leadership may not be over.
 * @param turn - a new number at every change.
 */
export function suspend(lease: FakeGroupLease, pools: readonly string[], turn: number): void {
  const text = JSON.stringify({ turn, pools, since: pools.map(() => turn) });
  lease.annotate({ [SUSPENDED_POOLS_ANNOTATION]: text }, 'no-agent');
}

/** A packet of a client. */
export function clientPacket(type: ClientPacket['type'], macAddress: MacAddress, extra: Partial<ClientPacket> = {}): Uint8Array {
  return encodeClientPacket({ type, macAddress, xid: 7, ...extra });
}

/** A client that claims its address after a restart (INIT-REBOOT). */
export function rebootPacket(macAddress: MacAddress, address: Ipv4Address, extra: Partial<ClientPacket> = {}): Uint8Array {
  return clientPacket('request', macAddress, { options: [encodeOption('requestedAddress', address)], ...extra });
}
