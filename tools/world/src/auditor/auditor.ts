/**
 * The auditor stands outside: it sees the wire, the API, and the addresses that guests use, but nothing of the product's internal state. Its laws are
 * promises to users. It counts its checks, so that a story in which nothing happened proves nothing.
 */
import { formatIpv4Address } from '@vmdhcp/dhcp-allocator/address';
import { readConditions, readList, readText } from '@vmdhcp/kube-runtime';
import type { ApiObject } from '@vmdhcp/kube-simulator';
import { CONFIGS, IPPOOLS, NAMESPACE, type WorldMachine } from '../cluster/machines.js';
import type { PoolOfWorld } from '../cluster/pool-of-world.js';
import type { MagicPacketSent, StartRequest, World } from '../cluster/world.js';
import type { DhcpClient } from '../guests/dhcp-client.js';
import { type DhcpPacket, Option, readAddress, readSeconds } from '../network/dhcp-packet.js';
import type { Captured, CapturedDhcpv6 } from '../network/segment.js';
import { AddressHistory, isInRanges, recordedIn } from './address-history.js';
import { Ipv6Auditor } from './ipv6-auditor.js';
import { RackAuditor } from './rack-auditor.js';
import { WakeAuditor } from './wake-auditor.js';

export const LAWS = {
  'one-user': 'no two guests of a network use one address at one time',
  range: 'no client gets an address outside of the ranges that its pool has now',
  promise: 'an acknowledged lease is its client’s until it ends, whatever dies',
  recorded: 'clients are offered and acknowledged the address that the IPPool records for them, and no other',
  server: 'replies name the server address of their pool',
  options: 'replies have the router of their pool, and its lease time',
  refusal: 'no client is refused an address that has been recorded for it all the time',
  answered: 'a guest that asks is answered within the promised time while nothing is wrong',
  'server-address': 'no two interfaces have the server address of a pool at one time',
  pin: 'a pinned machine has its address, if that is free',
  leak: 'no address is recorded for a MAC address that no machine has',
  status: 'the status of a VirtualMachineNetworkConfig agrees with the IPPool',
  addressed: 'each machine whose pools all have an address left has its addresses',
  bound: 'each guest uses the address that is recorded for it',
  woken: 'a machine that may be woken is started after a magic packet while nothing is wrong',
  'second-pool': 'no second pool is accepted for a network',
  'valid-change': 'the webhook refuses no valid change',
  'woken-only': 'no machine is started without a magic packet that may wake it',
  'woken-once': 'a wake-up is one request to start while nothing is wrong',
  served: 'a pool whose condition AgentReady is True is served, by one interface with its server address',
} as const;
export type Law = keyof typeof LAWS;

export interface Violation {
  readonly law: Law;
  readonly atMs: number;
  readonly message: string;
}

interface Promised {
  readonly macAddress: string;
  readonly untilMs: number;
}

/** A captured reply, and its description. */
interface Seen {
  readonly atMs: number;
  readonly text: string;
}

/** How long a disconnected agent may act on old data. */
const NEWS_MS = 150_000;
/** Longest wait for a reply in calm times; also how long agents must have known the address. */
const ANSWERED_MS = 10_000;
/** Time to settle after the last fault. */
const CALM_AFTER_MS = 100_000;
/** A watch that hangs is replaced after three minutes without a bookmark; until then its process may act on old data. */
const HANG_NOTICED_MS = 200_000;
/** A leader on a node without the network notices the silence, and waits longer if it has stepped down in vain before. */
const SILENCE_NOTICED_MS = 400_000;
/** A kernel call has no deadline: a process that was frozen in it adds an address too late, and removes it as soon as it wakes. */
const MOST_OVERLAP_MS = 20;

export class Auditor {
  readonly violations: Violation[] = [];
  /** The number of checks, by kind. */
  readonly counts = new Map<string, number>();
  readonly #world: World;
  readonly #histories = new Map<string, AddressHistory>();
  /** By segment and address. */
  readonly #promises = new Map<string, Promised>();
  /** By segment: the pod that answered last. */
  readonly #servers = new Map<string, string>();
  /** Guests that wait for a reply, by segment and MAC address. */
  readonly #waiting = new Map<string, { readonly segment: string; readonly macAddress: string; readonly atMs: number }>();
  #calmSinceMs = Number.POSITIVE_INFINITY;
  readonly #reported = new Set<string>();
  readonly #wakeUps: WakeAuditor;
  readonly #rack: RackAuditor;
  readonly #ipv6: Ipv6Auditor;

  constructor(world: World) {
    this.#world = world;
    const ports = {
      count: (what: string) => this.#count(what),
      violated: (law: Law, message: string) => this.#violated(law, message),
      calmSinceMs: () => this.#calmSinceMs,
    };
    this.#wakeUps = new WakeAuditor(world, ports);
    this.#rack = new RackAuditor(world, ports);
    this.#ipv6 = new Ipv6Auditor(world, {
      ...ports,
      newsMs: (atMs) => this.#newsMs(atMs),
      isReachable: (segment) => this.#isReachable(segment),
    });
    for (const { key } of world.pools) this.#histories.set(key, new AddressHistory('ipv4'));
    world.whileApiRuns(() => this.#watchPools());
  }

  #watchPools(): void {
    const { simulator, scheduler } = this.#world;
    simulator.client.watch(IPPOOLS, ({ type, object }) => {
      const key = `${NAMESPACE}/${object.metadata.name ?? ''}`;
      if (type === 'MODIFIED') this.#lookAtRecord(key, recordedIn(object));
      this.#endPromisesOfMachinesThatLeft(key, recordedIn(object));
      if (type !== 'DELETED') this.#lookAtNewRecords(key, object);
      const pool = type === 'DELETED' ? undefined : object;
      this.#histories.get(key)?.note(pool, scheduler.nowMs());
      this.#ipv6.notePool(key, pool);
    });
  }

  /** An address that a guest uses with an acknowledged lease must stay recorded for it. */
  #lookAtRecord(segment: string, recorded: ReadonlyMap<string, string>): void {
    for (const { macAddress, address: addressOf } of this.#world.segments.get(segment)?.guests ?? []) {
      const address = addressOf();
      if (address === undefined || !this.#isPromised(segment, address, macAddress)) continue;
      this.#count('records of addresses in use');
      const owner = recorded.get(address);
      if (owner !== macAddress)
        this.#violated('promise', `${segment}: ${address}, which ${macAddress} uses, is recorded for ${owner ?? 'nobody'}`);
    }
  }

  /** The address of a machine that has moved to another network may be freed: the promise does not come back with the machine. */
  #endPromisesOfMachinesThatLeft(segment: string, recorded: ReadonlyMap<string, string>): void {
    // Not those that have left: their address may be free before the controller is sure.
    const present = this.#macAddressesOn(segment, Number.MAX_VALUE);
    for (const [key, { macAddress }] of this.#promises) {
      const [name, address = ''] = key.split(' ');
      if (name === segment && recorded.get(address) !== macAddress && !present.has(macAddress)) this.#promises.delete(key);
    }
  }

  /** What was recorded before may stay where it is, also under another MAC address of the same machine. Spec and record are of one version, on which the controller decided. */
  #lookAtNewRecords(segment: string, pool: ApiObject): void {
    const nowMs = this.#world.scheduler.nowMs();
    for (const [address, macAddress] of recordedIn(pool)) {
      if (this.#histories.get(segment)?.isRecordedSince(address, macAddress, nowMs)) continue;
      this.#count('new records of addresses');
      if (!isInRanges(pool, address) && !this.#isTakenOver(segment, macAddress, this.#histories.get(segment)?.ownerOf(address)))
        this.#violated('range', `${segment}: ${address} is recorded for ${macAddress}, and is in no range of the pool`);
    }
  }

  /** True if the machine has another MAC address on the network instead of the former one. */
  #isTakenOver(segment: string, macAddress: string, former: string | undefined): boolean {
    if (former === undefined || this.#macAddressesOn(segment).has(former)) return false;
    return this.#world.machines.all.some(({ everyMacAddress: all }) => all.has(macAddress) && all.has(former));
  }

  /** True if the client has an acknowledged lease, and the address was recorded for it until now. */
  #isPromised(segment: string, address: string, macAddress: string): boolean {
    const promised = this.#promises.get(`${segment} ${address}`);
    const nowMs = this.#world.scheduler.nowMs();
    if (promised?.macAddress !== macAddress || promised.untilMs <= nowMs) return false;
    return this.#histories.get(segment)?.wasRecorded(address, macAddress, nowMs) === true;
  }

  /** Faults begin, or have ended. */
  disturbed(isDisturbed: boolean): void {
    const settledMs = CALM_AFTER_MS + (this.#world.isPlain ? SILENCE_NOTICED_MS : 0);
    const calmSinceMs = Math.max(this.#world.scheduler.nowMs() + settledMs, this.#world.lastHangMs + HANG_NOTICED_MS);
    this.#calmSinceMs = isDisturbed ? Number.POSITIVE_INFINITY : calmSinceMs;
  }

  onCaptured(captured: Captured): void {
    if (captured.segment === this.#world.rack?.segment.name) {
      this.#rack.onCaptured(captured);
      return;
    }
    const { packet, server } = captured;
    if (server === undefined) {
      this.#fromGuest(captured);
      return;
    }
    this.#waiting.delete(`${captured.segment} ${packet.macAddress}`);
    if (packet.type === 'nak') this.#onNak(captured);
    else if (packet.type === 'ack' || packet.type === 'offer') this.#onReply(captured, server);
  }

  onCapturedDhcpv6(captured: CapturedDhcpv6): void {
    this.#ipv6.onCaptured(captured);
  }

  onMagicPacket(packet: MagicPacketSent): void {
    this.#wakeUps.onMagicPacket(packet);
  }

  /** Somebody tried to create a second pool on a network, and the webhook decided. */
  onSecondPool(network: string, isAccepted: boolean): void {
    this.#count('refused pools');
    if (isAccepted) this.#violated('second-pool', `a second pool for ${network} was accepted`);
  }

  /** A change that is valid was refused. */
  onDenied(act: string, message: string): void {
    this.#violated('valid-change', `${act}: ${message}`);
  }

  onStartRequest(request: StartRequest): void {
    this.#wakeUps.onStartRequest(request);
  }

  /** Checks the addresses that guests use, and the guests that wait. */
  look(): void {
    this.#lookForSilence();
    this.#wakeUps.look();
    this.#rack.look();
    this.#ipv6.look();
    for (const [name, segment] of this.#world.segments) {
      const users = new Map<string, string>();
      for (const guest of segment.guests) {
        const client = guest as DhcpClient;
        const address = client.address();
        if (address !== undefined) {
          const other = users.get(address);
          users.set(address, client.macAddress);
          this.#count('uses of addresses');
          if (other !== undefined) this.#violated('one-user', `${name}: ${other} and ${client.macAddress} use ${address}`);
        }
      }
    }
  }

  /** Called after a calm time: the final state must be correct. */
  lookAtRest(): void {
    this.look();
    for (const pool of this.#world.pools) this.#lookAtPool(pool);
    for (const machine of this.#world.machines.all) this.#lookAtMachine(machine);
    this.#rack.lookAtRest();
    this.#ipv6.lookAtRest();
    this.#lookForOverlaps();
  }

  #fromGuest({ segment, packet, atMs }: Captured): void {
    this.#count(`${packet.type} of guests`);
    if (packet.type === 'discover' || packet.type === 'request') this.#asks(segment, packet, atMs);
    if (packet.type !== 'release' && packet.type !== 'decline') return;
    const address = packet.type === 'release' ? packet.ciaddr : readAddress(packet.options.get(Option.requestedAddress));
    const key = `${segment} ${address}`;
    if (this.#promises.get(key)?.macAddress === packet.macAddress)
      this.#promises.set(key, { macAddress: packet.macAddress, untilMs: atMs });
  }

  #onReply({ segment, packet, atMs }: Captured, server: string): void {
    const { type, macAddress, yiaddr } = packet;
    this.#count(`${type} of agents`);
    if (packet.giaddr !== '0.0.0.0') this.#count('replies through relays');
    if (this.#servers.get(segment) !== undefined && this.#servers.get(segment) !== server)
      this.#count('changes of the answering agent');
    this.#servers.set(segment, server);
    const text = `${segment}: ${server} sent ${macAddress} ${type} of ${yiaddr}`;
    const newsMs = this.#newsMs(atMs);
    if (!this.#histories.get(segment)?.wasRecorded(yiaddr, macAddress, atMs - newsMs))
      this.#violated('recorded', `${text}, which the IPPool has not recorded for it in the last ${newsMs / 1000} s`);
    const pool = this.#world.pools.find(({ key }) => key === segment);
    const identifier = readAddress(packet.options.get(Option.serverIdentifier));
    if (identifier !== pool?.serverIP)
      this.#violated('server', `${text} as server ${identifier}, and the pool's is ${pool?.serverIP}`);
    this.#lookAtOptions(segment, packet, text);
    if (type === 'ack') this.#onAck(segment, packet, { atMs, text });
  }

  #lookAtOptions(segment: string, { options }: DhcpPacket, text: string): void {
    const router = readAddress(options.get(Option.router));
    const expected = this.#world.pools.find(({ key }) => key === segment)?.serverIP.replace(/\d+$/, '1');
    if (router !== expected) this.#violated('options', `${text} with router ${router}, and the pool has ${expected}`);
    const seconds = readSeconds(options.get(Option.leaseSeconds)) ?? 0;
    if (this.#histories.get(segment)?.leaseTimes.has(seconds) !== true)
      this.#violated('options', `${text} for ${seconds} s, which was never the lease time of the pool`);
  }

  /** How old the data of an agent may be. */
  #newsMs(atMs: number): number {
    if (atMs - this.#world.lastHangMs < HANG_NOTICED_MS) return HANG_NOTICED_MS;
    return atMs < this.#calmSinceMs ? NEWS_MS : ANSWERED_MS;
  }

  #onAck(segment: string, { macAddress, yiaddr, ciaddr, options }: DhcpPacket, { atMs, text }: Seen): void {
    if (ciaddr !== '0.0.0.0') this.#count('renewals');
    const key = `${segment} ${yiaddr}`;
    const former = this.#promises.get(key);
    if (former !== undefined && former.untilMs > atMs && this.#isAnother(segment, former, macAddress)) {
      const leftSeconds = Math.ceil((former.untilMs - atMs) / 1000);
      this.#violated('promise', `${text}, which is ${former.macAddress}'s for ${leftSeconds} s more`);
    }
    this.#promises.set(key, { macAddress, untilMs: atMs + (readSeconds(options.get(Option.leaseSeconds)) ?? 0) * 1000 });
  }

  /** True if the former client is another one and still exists. */
  #isAnother(segment: string, former: Promised, macAddress: string): boolean {
    return former.macAddress !== macAddress && this.#clientOf(segment, former.macAddress) !== undefined;
  }

  #onNak({ segment, packet, atMs, server }: Captured): void {
    this.#count('nak of agents');
    const { macAddress } = packet;
    const address = this.#clientOf(segment, macAddress)?.asksFor;
    if (address === undefined) return;
    if (this.#histories.get(segment)?.isRecordedSince(address, macAddress, atMs - this.#newsMs(atMs)))
      this.#violated(
        'refusal',
        `${segment}: ${server} refused ${macAddress} its address ${address}, which the IPPool records for it`,
      );
  }

  /** Notes the question of a guest, which waits if an answer can be expected. */
  #asks(segment: string, { macAddress }: DhcpPacket, atMs: number): void {
    const address = this.#recordedFor(segment, macAddress);
    const isExpected =
      address !== undefined && this.#histories.get(segment)?.isRecordedSince(address, macAddress, atMs - ANSWERED_MS);
    if (isExpected !== true || atMs < this.#calmSinceMs || !this.#isReachable(segment)) return;
    this.#count('questions in calm times');
    const key = `${segment} ${macAddress}`;
    if (!this.#waiting.has(key)) this.#waiting.set(key, { segment, macAddress, atMs });
  }

  #lookForSilence(): void {
    const nowMs = this.#world.scheduler.nowMs();
    for (const [key, { segment, macAddress, atMs }] of this.#waiting) {
      const client = this.#clientOf(segment, macAddress);
      if (client === undefined || nowMs < this.#calmSinceMs || !this.#isReachable(segment)) this.#waiting.delete(key);
      else if (nowMs - atMs > ANSWERED_MS)
        this.#violated(
          'answered',
          `${segment}: ${macAddress} (${client.state}) has had no reply for ${Math.round(nowMs - atMs)} ms`,
        );
    }
  }

  /** False if agents cannot know which nodes have the network, and none of them runs on one: then its pool must not be ready. */
  #isReachable(network: string): boolean {
    const pool = this.#world.pools.find(({ key }) => key === network);
    if (pool === undefined || pool.areNodesKnown) return true;
    return this.#world.livePods.some(({ segments }) => [...segments.values()].some(({ name }) => name === network));
  }

  #lookAtPool({ key, name, serverIP }: PoolOfWorld): void {
    const pool = this.#world.simulator.client.get({ ...IPPOOLS, name });
    this.#lookForLeaks(key, recordedIn(pool));
    this.#count('pools at rest');
    const ready = readConditions(pool?.['status']).find(({ type }) => type === 'AgentReady');
    if (!this.#isReachable(key)) this.#lookAtUnreachable(key, ready?.status);
    else if (ready?.status !== 'True')
      this.#violated('served', `${key}: AgentReady is ${ready?.status} (${ready?.reason}) at rest`);
    else this.#lookForOneHolder(key, serverIP);
  }

  #lookForLeaks(key: string, recorded: ReadonlyMap<string, string>): void {
    const wanted = this.#macAddressesOn(key);
    for (const [address, macAddress] of recorded)
      if (!wanted.has(macAddress))
        this.#violated('leak', `${key}: ${address} is recorded for ${macAddress}, which no machine has`);
  }

  #lookForOneHolder(key: string, serverIP: string): void {
    const holders = this.#world.pods.filter(({ agent, segments }) =>
      [...segments].some(
        ([interfaceName, segment]) => segment.name === key && agent.kernel.has(interfaceName, toNumber(serverIP)),
      ),
    );
    if (holders.length === 1) return;
    const names = holders.map(({ name }) => name).join(', ');
    this.#violated('served', `${key}: AgentReady is True, and ${holders.length} interfaces have ${serverIP}: ${names}`);
  }

  #lookAtUnreachable(key: string, status: string | undefined): void {
    this.#count('pools at rest that no agent can serve');
    const isUsed = this.#world.machines.all.some(({ guests }) => guests.some(({ network }) => network === key));
    if (status === 'True' && isUsed)
      this.#violated('served', `${key}: AgentReady is True, and no agent is on a node with its network`);
  }

  #lookAtMachine(machine: WorldMachine): void {
    const { name } = machine;
    const config = this.#world.simulator.client.get({ ...CONFIGS, name });
    this.#lookForLack(machine);
    for (const { network, client } of machine.guests) {
      const recorded = this.#recordedFor(network, client.macAddress);
      this.#lookAtStatus(config, { network, macAddress: client.macAddress, recorded });
      if (!client.wants || !this.#isReachable(network)) continue;
      if (recorded === undefined && client.address() === undefined) continue;
      this.#count('guests at rest');
      if (client.address() !== recorded)
        this.#violated(
          'bound',
          `${network}: ${client.macAddress} of ${name} (${client.state}) uses ${client.address()}, and ${recorded} is recorded for it`,
        );
    }
  }

  /** A machine gets all of its addresses or none. */
  #lookForLack({ name, guests }: WorldMachine): void {
    for (const { network, client, pin } of guests) {
      const address = this.#recordedFor(network, client.macAddress);
      if (pin === undefined) continue;
      this.#count('pinned guests at rest');
      if (address === undefined || address === pin || !this.#isFree(network, pin)) continue;
      this.#violated('pin', `${name}: ${client.macAddress} on ${network} is pinned to ${pin}, which is free, and has ${address}`);
    }
    const lacking = guests.filter(({ network, client }) => this.#recordedFor(network, client.macAddress) === undefined);
    const isPossible = lacking.every(
      ({ network, pin }) => this.#hasFree(network) && (pin === undefined || this.#isFree(network, pin)),
    );
    if (lacking.length === 0 || !isPossible) return;
    const on = lacking.map(({ network, client }) => `${client.macAddress} on ${network}`).join(' and ');
    this.#violated('addressed', `${name}: ${on} have no address, and addresses are free`);
  }

  /** True if the pool may assign the address, and has not recorded it. */
  #isFree(network: string, address: string): boolean {
    const pool = this.#poolOf(network);
    return isInRanges(pool, address) && !recordedIn(pool).has(address);
  }

  #hasFree(network: string): boolean {
    const { serverIP, size } = this.#world.pools.find(({ key }) => key === network) ?? { serverIP: '', size: 0 };
    const addresses = Array.from({ length: size }, (_, index) => serverIP.replace(/\d+$/, String(10 + index)));
    return addresses.some((address) => this.#isFree(network, address));
  }

  #poolOf(network: string): ApiObject | undefined {
    const name = this.#world.pools.find(({ key }) => key === network)?.name ?? '';
    return this.#world.simulator.client.get({ ...IPPOOLS, name });
  }

  #lookAtStatus(
    config: ApiObject | undefined,
    {
      network,
      macAddress,
      recorded,
    }: { readonly network: string; readonly macAddress: string; readonly recorded: string | undefined },
  ): void {
    const entry = readList(config?.['status'], 'networkConfigs').find(
      (one) => readText(one, 'networkName') === network && readText(one, 'macAddress') === macAddress,
    );
    const shown = readText(entry, 'state') === 'Allocated' ? readText(entry, 'allocatedIPAddress') : undefined;
    this.#count('statuses at rest');
    if (shown !== recorded)
      this.#violated(
        'status',
        `${config?.metadata.name}: ${macAddress} on ${network} has ${shown} by its status, and ${recorded} by the IPPool`,
      );
  }

  #lookForOverlaps(): void {
    const kernels = [
      ...this.#world.pods.map(({ agent }) => agent.kernel),
      ...(this.#world.rack?.agents ?? []).map(({ kernel }) => kernel),
    ];
    const spans = kernels.flatMap((kernel) => kernel.spans()).toSorted((one, other) => one.fromMs - other.fromMs);
    this.#count('times of server addresses on interfaces', spans.length);
    for (const [index, span] of spans.entries())
      for (const other of spans.slice(index + 1)) {
        if (other.fromMs >= span.untilMs) break;
        const overlapMs = Math.min(span.untilMs, other.untilMs) - other.fromMs;
        if (other.address === span.address && other.owner !== span.owner && overlapMs > MOST_OVERLAP_MS)
          this.#violated(
            'server-address',
            `${formatIpv4Address(span.address)} was on ${span.owner} and on ${other.owner} for ${Math.round(overlapMs)} ms from ${Math.round(other.fromMs)} ms`,
          );
      }
  }

  #recordedFor(segment: string, macAddress: string): string | undefined {
    return [...recordedIn(this.#poolOf(segment))].find(([, owner]) => owner === macAddress)?.[0];
  }

  /** MAC addresses of running instances, also on networks that they leave, of templates, and, if KubeVirt chooses them, of the last instance. */
  #macAddressesOn(network: string, nowMs = this.#world.scheduler.nowMs()): Set<string | undefined> {
    return new Set(
      this.#world.machines.all.flatMap(({ interfaces, guests, lastMacAddresses, left }) => [
        ...left.filter((one) => one.network === network && one.untilMs > nowMs).map(({ macAddress }) => macAddress),
        ...guests.filter((guest) => guest.network === network).map(({ client }) => client.macAddress),
        ...interfaces.flatMap((one, index) => (one.network === network ? [one.macAddress ?? lastMacAddresses[index]] : [])),
      ]),
    );
  }

  #clientOf(segment: string, macAddress: string): DhcpClient | undefined {
    const guests = [...(this.#world.segments.get(segment)?.guests ?? [])] as DhcpClient[];
    return guests.find((guest) => guest.macAddress === macAddress);
  }

  #count(what: string, times = 1): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + times);
  }

  /** Reports each violation once. */
  #violated(law: Law, message: string): void {
    const key = `${law} ${message.replaceAll(/\d+ m?s\b/g, '')}`;
    if (this.#reported.has(key)) return;
    this.#reported.add(key);
    this.violations.push({ law, atMs: this.#world.scheduler.nowMs(), message });
  }
}

function toNumber(address: string): number {
  return address.split('.').reduce((number, octet) => number * 256 + Number(octet), 0);
}
