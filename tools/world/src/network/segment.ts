/** A network of virtual machines: guests and agents on one Ethernet segment, over links that lose, delay, repeat and cut frames. */

import {
  type FakeHost,
  FakeNetwork,
  type SentAdvertisement,
  type SentDhcpv6Reply,
  type SentReply,
} from '@vmdhcp/dhcp-agent/testing';
import { formatIpv4Address, type Ipv6Address, type MacAddress, parseIpv4Address } from '@vmdhcp/dhcp-allocator/address';
import type { Random } from '@vmdhcp/kube-runtime/testing';
import type { Scheduler } from '../time/scheduler.js';
import { type DhcpPacket, hasRelayInformation, readPacket, relayed } from './dhcp-packet.js';
import { type Dhcpv6Packet, isManaged, readDhcpv6 } from './dhcpv6-packet.js';

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

/** The IPv6 of a guest's network card. */
export interface Ipv6Port {
  readonly macAddress: string;
  readonly node: () => string;
  readonly receive: (packet: Dhcpv6Packet) => void;
  /** A router advertises itself. @param isManaged - true if hosts are to ask for addresses */
  readonly onAdvertisement: (isManaged: boolean) => void;
  /** The address that it uses now. */
  readonly address: () => string | undefined;
}

/** A message of DHCPv6 in a capture. */
export interface CapturedDhcpv6 {
  readonly atMs: number;
  readonly segment: string;
  /** The guest's, by the frame. */
  readonly macAddress: string;
  readonly packet: Dhcpv6Packet;
  /** The pod that sent a reply; undefined if a guest sent it. */
  readonly server: string | undefined;
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
const DHCPV6_CLIENT_PORT = 546;

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
  readonly onCapturedDhcpv6?: (captured: CapturedDhcpv6) => void;
  /** Transforms an agent's reply for planted faults; otherwise returns its octets. Undefined if nothing is sent. */
  readonly onWire: (octets: Uint8Array, server: string) => Uint8Array | undefined;
  /** The same for DHCPv6 and Router Advertisements. Default: they are sent as they are. */
  readonly onIpv6Wire?: ((octets: Uint8Array) => Uint8Array | undefined) | undefined;
}

export class Segment {
  readonly name: string;
  quality = GOOD_LINKS;
  readonly #settings: SegmentSettings;
  readonly #guests = new Set<GuestPort>();
  readonly #ipv6Guests = new Set<Ipv6Port>();
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

  get ipv6Guests(): ReadonlySet<Ipv6Port> {
    return this.#ipv6Guests;
  }

  plug(guest: GuestPort): void {
    this.#guests.add(guest);
  }

  unplug(guest: GuestPort): void {
    this.#guests.delete(guest);
  }

  plugIpv6(guest: Ipv6Port): void {
    this.#ipv6Guests.add(guest);
  }

  unplugIpv6(guest: Ipv6Port): void {
    this.#ipv6Guests.delete(guest);
  }

  cutOff(node: string, isCut: boolean): void {
    if (isCut) this.#cutOff.add(node);
    else this.#cutOff.delete(node);
  }

  /** The network as seen by one pod. @param podOf - returns the pod, once it is created. */
  portOf(node: string, podOf: () => FakeHost): FakeNetwork {
    const network = new FakeNetwork();
    network.onReply = (reply) => this.#at(reply.atMs, () => this.#send(node, podOf(), reply));
    network.onDhcpv6Reply = (reply) => this.#at(reply.atMs, () => this.#sendDhcpv6Reply(node, reply));
    network.onAdvertisement = (sent) => this.#at(sent.atMs, () => this.#advertise(node, sent));
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
    this.#toAgents(guest, (network) => {
      if (receiver === undefined) network.broadcast(sent);
      else network.unicast(sent, parseIpv4Address(receiver) ?? 0);
    });
  }

  /** Sends a message of a guest to all DHCPv6 servers. */
  sendDhcpv6(guest: Ipv6Port, octets: Uint8Array): void {
    const { scheduler, name, onCapturedDhcpv6 } = this.#settings;
    const packet = readDhcpv6(octets);
    const { macAddress } = guest;
    if (packet !== undefined)
      onCapturedDhcpv6?.({ atMs: scheduler.nowMs(), segment: name, macAddress, packet, server: undefined });
    const source = { ...sourceOf(guest), port: DHCPV6_CLIENT_PORT };
    this.#toAgents(guest, (network) => network.sendDhcpv6(octets, source));
  }

  /** Asks all routers for an advertisement. */
  solicitRouters(guest: Ipv6Port): void {
    this.#toAgents(guest, (network) => network.solicitRouters(sourceOf(guest)));
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
  #at(atMs: number, send: () => void): void {
    const { scheduler } = this.#settings;
    const waitMs = atMs - scheduler.nowMs();
    if (waitMs > 0) scheduler.after(waitMs, send);
    else send();
  }

  #toAgents(guest: Pick<GuestPort, 'node'>, arrive: (network: FakeNetwork) => void): void {
    for (const { pod, node, network } of this.#agents.values())
      this.#travel(guest.node(), node, () => {
        if (!pod.process.isDead) arrive(network);
      });
  }

  #sendDhcpv6Reply(node: string, { owner, bytes, to: { macAddress } }: SentDhcpv6Reply): void {
    const { scheduler, name, onCapturedDhcpv6, onIpv6Wire = asItIs } = this.#settings;
    const octets = onIpv6Wire(bytes);
    const packet = octets && readDhcpv6(octets);
    if (packet === undefined) return;
    onCapturedDhcpv6?.({ atMs: scheduler.nowMs(), segment: name, macAddress, packet, server: owner });
    for (const guest of this.#ipv6Guests)
      if (guest.macAddress === macAddress)
        this.#travel(node, guest.node(), () => this.#ipv6Guests.has(guest) && guest.receive(packet));
  }

  #advertise(node: string, { to, message }: SentAdvertisement): void {
    const { onIpv6Wire = asItIs } = this.#settings;
    const octets = onIpv6Wire(message);
    if (octets === undefined) return;
    for (const guest of this.#ipv6Guests)
      if (to === undefined || to.macAddress === guest.macAddress)
        this.#travel(node, guest.node(), () => this.#ipv6Guests.has(guest) && guest.onAdvertisement(isManaged(octets)));
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

function asItIs(octets: Uint8Array): Uint8Array {
  return octets;
}

/** A guest's link-local address, of its MAC address. Source: RFC 4291 appendix A. */
function sourceOf({ macAddress }: Ipv6Port): { readonly address: Ipv6Address; readonly macAddress: MacAddress } {
  const identifier = macAddress.replaceAll(':', '').replace(/^(.{6})/, '$1fffe');
  const address = (0xfe80n << 112n) | (BigInt(`0x${identifier}`) ^ (1n << 57n));
  return { address, macAddress: macAddress as MacAddress };
}

/** A relay hands on what is sent to it, with the information that it added. Broadcasts reach no guest behind it. */
function reaches({ isBehindRelay }: GuestPort, packet: DhcpPacket, { kind, address, port }: SentReply['destination']): boolean {
  if (packet.giaddr === '0.0.0.0') return !isBehindRelay || kind !== 'broadcast';
  const isForRelay = kind === 'unicast' && port === SERVER_PORT && formatIpv4Address(address) === packet.giaddr;
  return isBehindRelay && isForRelay && hasRelayInformation(packet);
}
