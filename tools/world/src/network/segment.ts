/** A network of virtual machines: guests and agents on one Ethernet segment, over links that lose, delay, repeat and cut frames. */

import { type FakeHost, FakeNetwork, type SentReply } from '@vmdhcp/dhcp-agent/testing';
import { formatIpv4Address, parseIpv4Address } from '@vmdhcp/dhcp-allocator/address';
import type { Random } from '@vmdhcp/kube-runtime/testing';
import type { Scheduler } from '../time/scheduler.js';
import { type DhcpPacket, hasRelayInformation, readPacket, relayed } from './dhcp-packet.js';

/** A guest's network card. */
export interface GuestPort {
  readonly macAddress: string;
  /** Where its machine runs. */
  readonly node: () => string;
  /** True if its switch has a relay, which forwards its broadcasts to the server alone. */
  readonly isBehindRelay: boolean;
  readonly receive: (packet: DhcpPacket) => void;
  /** The address that it uses now. */
  readonly address: () => string | undefined;
}

/** An entry of a capture. */
export interface Captured {
  readonly atMs: number;
  readonly segment: string;
  readonly packet: DhcpPacket;
  /** The pod that sent a reply; undefined if a guest sent it. */
  readonly server: string | undefined;
}

/** The faults of links. */
export interface LinkQuality {
  /** In a thousand. */
  readonly lossPerMille: number;
  readonly repeatPerMille: number;
  readonly mostDelayMs: number;
}

export const GOOD_LINKS: LinkQuality = { lossPerMille: 0, repeatPerMille: 0, mostDelayMs: 2 };
const PROBE_MS = 300;
const SERVER_PORT = 67;

interface AgentPort {
  readonly pod: FakeHost;
  readonly node: string;
  readonly network: FakeNetwork;
}

/** A DHCP relay. */
export interface Relay {
  /** Its giaddr. */
  readonly address: string;
  /** The server that it is configured with. */
  readonly server: string;
}

export interface SegmentSettings {
  readonly scheduler: Scheduler;
  readonly random: Random;
  readonly name: string;
  readonly relay: Relay;
  readonly onCaptured: (captured: Captured) => void;
  /** Transforms an agent's reply for planted faults; otherwise returns its octets. Undefined if nothing is sent. */
  readonly onWire: (octets: Uint8Array, server: string) => Uint8Array | undefined;
}

export class Segment {
  readonly name: string;
  quality = GOOD_LINKS;
  readonly #settings: SegmentSettings;
  readonly #guests = new Set<GuestPort>();
  readonly #agents = new Map<FakeHost, AgentPort>();
  /** Nodes that are cut off from the others. */
  readonly #cutOff = new Set<string>();

  constructor(settings: SegmentSettings) {
    this.#settings = settings;
    this.name = settings.name;
  }

  get guests(): ReadonlySet<GuestPort> {
    return this.#guests;
  }

  plug(guest: GuestPort): void {
    this.#guests.add(guest);
  }

  unplug(guest: GuestPort): void {
    this.#guests.delete(guest);
  }

  cutOff(node: string, isCut: boolean): void {
    if (isCut) this.#cutOff.add(node);
    else this.#cutOff.delete(node);
  }

  /** The network as seen by one pod. @param podOf - returns the pod, once it is created. */
  portOf(node: string, podOf: () => FakeHost): FakeNetwork {
    const network = new FakeNetwork();
    network.onReply = (reply) => {
      this.#fromAgent(node, podOf(), reply);
    };
    return network;
  }

  attach(pod: FakeHost, node: string, network: FakeNetwork): void {
    this.#agents.set(pod, { pod, node, network });
  }

  detach(pod: FakeHost): void {
    this.#agents.delete(pod);
  }

  /** Sends a packet of a guest to all hosts, or to one address. */
  send(guest: GuestPort, octets: Uint8Array, to?: string): void {
    const { scheduler, name, relay, onCaptured } = this.#settings;
    const packet = readPacket(octets);
    if (packet !== undefined) onCaptured({ atMs: scheduler.nowMs(), segment: name, packet, server: undefined });
    const isRelayed = guest.isBehindRelay && to === undefined;
    const sent = isRelayed ? relayed(octets, relay.address) : octets;
    const receiver = isRelayed ? relay.server : to;
    for (const { pod, node, network } of this.#agents.values())
      this.#travel(guest.node(), node, () => {
        if (pod.process.isDead) return;
        if (receiver === undefined) network.broadcast(sent);
        else network.unicast(sent, parseIpv4Address(receiver) ?? 0);
      });
  }

  /** The result of an ARP probe from a node: the guests that use an address. */
  async usersOf(node: string, address: string): Promise<readonly string[]> {
    await this.#settings.scheduler.sleep(PROBE_MS);
    return [...this.#guests]
      .filter((guest) => this.#isConnected(node, guest.node()) && guest.address() === address)
      .map(({ macAddress }) => macAddress);
  }

  /** The result of a guest's own ARP probe: another guest that uses this address. */
  anotherUser(of: GuestPort, address: string): GuestPort | undefined {
    return [...this.#guests].find(
      (guest) => guest !== of && guest.address() === address && this.#isConnected(of.node(), guest.node()),
    );
  }

  /** A process that was frozen meanwhile sends when it wakes. */
  #fromAgent(node: string, pod: FakeHost, reply: SentReply): void {
    const { scheduler } = this.#settings;
    const waitMs = reply.atMs - scheduler.nowMs();
    if (waitMs > 0) scheduler.after(waitMs, () => this.#send(node, pod, reply));
    else this.#send(node, pod, reply);
  }

  #send(node: string, pod: FakeHost, { bytes, destination }: SentReply): void {
    const { scheduler, name, onCaptured, onWire } = this.#settings;
    const octets = onWire(bytes, pod.owner);
    const packet = octets && readPacket(octets);
    if (packet === undefined) return;
    onCaptured({ atMs: scheduler.nowMs(), segment: name, packet, server: pod.owner });
    for (const guest of this.#guests)
      if (guest.macAddress === packet.macAddress && reaches(guest, packet, destination))
        this.#travel(node, guest.node(), () => this.#guests.has(guest) && guest.receive(packet));
  }

  #isConnected(one: string, other: string): boolean {
    return one === other || (!this.#cutOff.has(one) && !this.#cutOff.has(other));
  }

  #travel(from: string, to: string, arrive: () => void): void {
    const { random, scheduler } = this.#settings;
    const { lossPerMille, repeatPerMille, mostDelayMs } = this.quality;
    for (let copies = random(1_000) < repeatPerMille ? 2 : 1; copies > 0; copies--) {
      if (random(1_000) < lossPerMille) continue;
      scheduler.after((random(1_000) / 1_000) * mostDelayMs, () => {
        if (this.#isConnected(from, to)) arrive();
      });
    }
  }
}

/** A relay hands on what is sent to it, with the information that it added. Broadcasts reach no guest behind it. */
function reaches({ isBehindRelay }: GuestPort, packet: DhcpPacket, { kind, address, port }: SentReply['destination']): boolean {
  if (packet.giaddr === '0.0.0.0') return !isBehindRelay || kind !== 'broadcast';
  const isForRelay = kind === 'unicast' && port === SERVER_PORT && formatIpv4Address(address) === packet.giaddr;
  return isBehindRelay && isForRelay && hasRelayInformation(packet);
}
