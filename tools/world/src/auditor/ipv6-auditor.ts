/** The promises to guests that have an IPv6 address beside their IPv4 address: the record of that one decides both. */
import { formatIpv6Address, parseIpv6Address } from '@vmdhcp/dhcp-allocator/address';
import { readField, readList, readText } from '@vmdhcp/kube-runtime';
import type { ApiObject } from '@vmdhcp/kube-simulator';
import { CONFIGS, IPPOOLS, type WorldMachine } from '../cluster/machines.js';
import type { World } from '../cluster/world.js';
import type { Dhcpv6Client } from '../guests/dhcpv6-client.js';
import type { Dhcpv6Packet, Dhcpv6Type } from '../network/dhcpv6-packet.js';
import type { CapturedDhcpv6 } from '../network/segment.js';
import { AddressHistory, ipv6RecordedIn } from './address-history.js';

type Ipv6Law = 'one-user' | 'recorded' | 'server' | 'options' | 'refusal' | 'answered' | 'bound' | 'status';

export interface Ipv6AuditorPorts {
  readonly count: (what: string) => void;
  readonly violated: (law: Ipv6Law, message: string) => void;
  readonly calmSinceMs: () => number;
  /** How old the data of an agent may be. */
  readonly newsMs: (atMs: number) => number;
  /** True if agents can serve the network. */
  readonly isReachable: (segment: string) => boolean;
}

/** A captured reply, and its description. */
interface SeenReply extends Omit<CapturedDhcpv6, 'server'> {
  readonly text: string;
}

const ANSWERED_MS = 10_000;
/** A client that names no server can expect an answer of any. */
const NAMES_SERVER: ReadonlySet<Dhcpv6Type> = new Set(['request', 'renew']);
/** DUID-UUID. Source: RFC 6355 §4. */
const UUID_TYPE = '0004';

export class Ipv6Auditor {
  readonly #world: World;
  readonly #ports: Ipv6AuditorPorts;
  readonly #histories = new Map<string, AddressHistory>();
  /** By segment: the server identifiers that its pool has had, by its UIDs. */
  readonly #servers = new Map<string, Set<string>>();
  /** When a guest began to wait for a reply, by segment and MAC address. */
  readonly #waiting = new Map<string, { readonly segment: string; readonly macAddress: string; readonly atMs: number }>();

  constructor(world: World, ports: Ipv6AuditorPorts) {
    this.#world = world;
    this.#ports = ports;
    for (const { key } of world.pools) {
      this.#histories.set(key, new AddressHistory('ipv6'));
      this.#servers.set(key, new Set());
    }
  }

  /** Notes the new version of the IPPool. */
  notePool(segment: string, pool: ApiObject | undefined): void {
    if (pool !== undefined) this.#servers.get(segment)?.add(serverIdentifierOf(pool));
    this.#histories.get(segment)?.note(pool, this.#world.scheduler.nowMs());
  }

  onCaptured({ segment, macAddress, packet, server, atMs }: CapturedDhcpv6): void {
    if (server === undefined) {
      this.#ports.count(`DHCPv6 ${packet.type} of guests`);
      if (packet.type !== 'release') this.#asks(segment, macAddress, packet);
      return;
    }
    this.#ports.count(`DHCPv6 ${packet.type} of agents`);
    this.#waiting.delete(`${segment} ${macAddress}`);
    const text = `${segment}: ${server} sent ${macAddress} ${packet.type}`;
    if (this.#servers.get(segment)?.has(packet.serverIdentifier ?? '') !== true)
      this.#ports.violated('server', `${text} as server ${packet.serverIdentifier}, which its pool never was`);
    const seen: SeenReply = { segment, macAddress, packet, atMs, text };
    this.#lookAtAddresses(seen);
    this.#lookForRefusal(seen);
  }

  look(): void {
    this.#lookForSilence();
    for (const [name, segment] of this.#world.segments) {
      const users = new Map<string, string>();
      for (const { macAddress, address: addressOf } of segment.ipv6Guests) {
        const address = addressOf();
        if (address === undefined) continue;
        this.#ports.count('uses of IPv6 addresses');
        const other = users.get(address);
        users.set(address, macAddress);
        if (other !== undefined) this.#ports.violated('one-user', `${name}: ${other} and ${macAddress} use ${address}`);
      }
    }
  }

  lookAtRest(): void {
    if (!this.#world.hasIpv6) return;
    for (const machine of this.#world.machines.all) this.#lookAtMachine(machine);
  }

  #lookAtMachine({ name, guests }: WorldMachine): void {
    const config = this.#world.simulator.client.get({ ...CONFIGS, name });
    for (const { network, client, ipv6 } of guests) {
      const recorded = this.#recordedFor(network, client.macAddress);
      const shown = shownIn(config, network, client.macAddress);
      if (recorded !== undefined) this.#ports.count('IPv6 addresses in statuses at rest');
      if (shown !== recorded)
        this.#ports.violated(
          'status',
          `${name}: ${client.macAddress} on ${network} has ${shown} by its status, and ${recorded} by the IPPool`,
        );
      if (recorded === undefined || ipv6 === undefined || !this.#ports.isReachable(network)) continue;
      this.#ports.count('guests with IPv6 at rest');
      if (ipv6.address() !== recorded)
        this.#ports.violated(
          'bound',
          `${network}: ${ipv6.macAddress} of ${name} (${ipv6.state}) uses ${ipv6.address()}, and ${recorded} is recorded for it`,
        );
    }
  }

  #lookAtAddresses({ segment, macAddress, packet, atMs, text }: SeenReply): void {
    const history = this.#histories.get(segment);
    const newsMs = this.#ports.newsMs(atMs);
    for (const { address, validSeconds } of packet.addresses) {
      if (validSeconds === 0) continue;
      if (history?.wasRecorded(address, macAddress, atMs - newsMs) !== true)
        this.#ports.violated('recorded', `${text} of ${address}, which was not its address in the last ${newsMs / 1000} s`);
      const { renewSeconds, rebindSeconds } = packet;
      if (renewSeconds === 0 || renewSeconds > rebindSeconds || rebindSeconds > validSeconds)
        this.#ports.violated('options', `${text} of ${address} with T1 ${renewSeconds} s and T2 ${rebindSeconds} s`);
      if (history?.leaseTimes.has(validSeconds) !== true)
        this.#ports.violated(
          'options',
          `${text} of ${address} for ${validSeconds} s, which was never the lease time of the pool`,
        );
    }
  }

  /** A guest that loses its address, although that has been recorded for it all the time. */
  #lookForRefusal({ segment, macAddress, packet, atMs, text }: SeenReply): void {
    const address = this.#clientOf(segment, macAddress)?.asksFor;
    const isWithdrawn = packet.addresses.some((one) => one.address === address && one.validSeconds === 0);
    if (address === undefined || (packet.status === 0 && !isWithdrawn)) return;
    this.#ports.count('DHCPv6 refusals of agents');
    if (this.#histories.get(segment)?.isRecordedSince(address, macAddress, atMs - this.#ports.newsMs(atMs)) === true)
      this.#ports.violated('refusal', `${text} that refuses ${address}, which is its address by the IPPool`);
  }

  #asks(segment: string, macAddress: string, { type, serverIdentifier }: Dhcpv6Packet): void {
    const nowMs = this.#world.scheduler.nowMs();
    const address = this.#recordedFor(segment, macAddress);
    const isKnown =
      address !== undefined && this.#histories.get(segment)?.isRecordedSince(address, macAddress, nowMs - ANSWERED_MS);
    if (isKnown !== true || nowMs < this.#ports.calmSinceMs() || !this.#ports.isReachable(segment)) return;
    const pool = this.#poolOf(segment);
    if (NAMES_SERVER.has(type) && (pool === undefined || serverIdentifierOf(pool) !== serverIdentifier)) return;
    this.#ports.count('DHCPv6 questions in calm times');
    const key = `${segment} ${macAddress}`;
    if (!this.#waiting.has(key)) this.#waiting.set(key, { segment, macAddress, atMs: nowMs });
  }

  #lookForSilence(): void {
    const nowMs = this.#world.scheduler.nowMs();
    const { calmSinceMs, isReachable, violated } = this.#ports;
    for (const [key, { segment, macAddress, atMs }] of this.#waiting) {
      const client = this.#clientOf(segment, macAddress);
      if (client === undefined || nowMs < calmSinceMs() || !isReachable(segment)) this.#waiting.delete(key);
      else if (nowMs - atMs > ANSWERED_MS)
        violated(
          'answered',
          `${segment}: ${macAddress} (DHCPv6, ${client.state}) has had no reply for ${Math.round(nowMs - atMs)} ms`,
        );
    }
  }

  #recordedFor(segment: string, macAddress: string): string | undefined {
    return [...ipv6RecordedIn(this.#poolOf(segment))].find(([, owner]) => owner === macAddress)?.[0];
  }

  #poolOf(network: string): ApiObject | undefined {
    const name = this.#world.pools.find(({ key }) => key === network)?.name ?? '';
    return this.#world.simulator.client.get({ ...IPPOOLS, name });
  }

  #clientOf(segment: string, macAddress: string): Dhcpv6Client | undefined {
    const guests = [...(this.#world.segments.get(segment)?.ipv6Guests ?? [])] as Dhcpv6Client[];
    return guests.find((guest) => guest.macAddress === macAddress);
  }
}

function serverIdentifierOf({ metadata }: ApiObject): string {
  return `${UUID_TYPE}${String(metadata.uid).replaceAll('-', '')}`;
}

/** The address that a VirtualMachineNetworkConfig shows for a network card, as RFC 5952 writes it. */
function shownIn(config: ApiObject | undefined, network: string, macAddress: string): string | undefined {
  const entry = readList(config?.['status'], 'networkConfigs').find(
    (one) => readText(one, 'networkName') === network && readText(one, 'macAddress') === macAddress,
  );
  const address = parseIpv6Address(String(readField(entry, 'allocatedIPv6Address')));
  return address === undefined ? undefined : formatIpv6Address(address);
}
