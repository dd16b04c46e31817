/** The promises to bare-metal hosts, whose leases no object declares: what was acknowledged is theirs until it ends. */
import type { World } from '../cluster/world.js';
import type { DhcpClient } from '../guests/dhcp-client.js';
import { type DhcpPacket, Option, readAddress, readSeconds } from '../network/dhcp-packet.js';
import type { Captured } from '../network/segment.js';
import { SELF } from '../rack/rack.js';

type RackLaw = 'one-user' | 'promise' | 'server' | 'refusal' | 'answered' | 'addressed';

export interface RackAuditorPorts {
  readonly count: (what: string) => void;
  readonly violated: (law: RackLaw, message: string) => void;
  readonly calmSinceMs: () => number;
}

interface Lease {
  readonly macAddress: string;
  readonly untilMs: number;
}

const ANSWERED_MS = 15_000;

export class RackAuditor {
  readonly #world: World;
  readonly #ports: RackAuditorPorts;
  /** By address. */
  #leases = new Map<string, Lease>();
  /** Hosts whose lease was on the disk, and is not any more. They need not get a reply before they begin again. Source: RFC 2131 §4.3.2. */
  readonly #forgotten = new Set<string>();
  /** When a host began to wait for a reply, by MAC address. */
  readonly #waiting = new Map<string, number>();

  constructor(world: World, ports: RackAuditorPorts) {
    this.#world = world;
    this.#ports = ports;
    if (world.rack !== undefined) world.rack.onDiskCopied = () => this.#onDiskCopied();
  }

  /** Leases that were acknowledged after a copy of the disk are promised no more when the copy is restored. Returns what is called then. */
  #onDiskCopied(): () => void {
    const copied = new Map(this.#leases);
    return () => {
      this.#ports.count('restored disks of leases');
      for (const [address, { macAddress }] of this.#leases) {
        if (copied.get(address)?.macAddress === macAddress) continue;
        this.#ports.count('leases forgotten with a restored disk');
        this.#forgotten.add(macAddress);
      }
      this.#leases = copied;
    };
  }

  onCaptured({ packet, server, atMs }: Captured): void {
    const { macAddress, type } = packet;
    if (server === undefined) {
      if (type === 'discover') this.#forgotten.delete(macAddress);
      if (type === 'discover' || type === 'request') this.#asks(macAddress, atMs);
      if (type === 'release' || type === 'decline') this.#gives(packet);
      return;
    }
    this.#waiting.delete(macAddress);
    if (type === 'nak') this.#onNak(macAddress, atMs);
    else if (type === 'ack' || type === 'offer') this.#onReply(packet, atMs);
  }

  look(): void {
    const users = new Map<string, string>();
    for (const host of this.#hosts()) {
      const address = host.address();
      if (address === undefined) continue;
      this.#ports.count('uses of leased addresses');
      const other = users.get(address);
      if (other !== undefined) this.#ports.violated('one-user', `rack: ${other} and ${host.macAddress} use ${address}`);
      users.set(address, host.macAddress);
    }
    this.#lookForSilence();
  }

  lookAtRest(): void {
    for (const host of this.#hosts()) {
      this.#ports.count('hosts at rest');
      if (host.address() === undefined)
        this.#ports.violated('addressed', `rack: ${host.macAddress} has no address (${host.state})`);
    }
  }

  #lookForSilence(): void {
    const nowMs = this.#world.scheduler.nowMs();
    const isCalm = nowMs >= this.#ports.calmSinceMs();
    const on = new Set(this.#hosts().map(({ macAddress }) => macAddress));
    for (const [macAddress, atMs] of this.#waiting) {
      if (!isCalm || !on.has(macAddress)) this.#waiting.delete(macAddress);
      else if (nowMs - atMs > ANSWERED_MS)
        this.#ports.violated('answered', `rack: ${macAddress} has had no reply for ${Math.round(nowMs - atMs)} ms`);
    }
  }

  /** It says itself that it does not use the address. */
  #gives({ type, macAddress, ciaddr, options }: DhcpPacket): void {
    const address = type === 'release' ? ciaddr : (readAddress(options.get(Option.requestedAddress)) ?? '');
    if (this.#leases.get(address)?.macAddress === macAddress) this.#leases.delete(address);
  }

  #hosts(): readonly DhcpClient[] {
    return (this.#world.rack?.hosts ?? []).filter(({ state }) => state !== 'off');
  }

  #asks(macAddress: string, atMs: number): void {
    if (atMs < this.#ports.calmSinceMs() || this.#forgotten.has(macAddress)) return;
    this.#ports.count('questions of hosts in calm times');
    if (!this.#waiting.has(macAddress)) this.#waiting.set(macAddress, atMs);
  }

  #onReply({ type, macAddress, yiaddr, options }: DhcpPacket, atMs: number): void {
    this.#ports.count(`${type} of rack agents`);
    const former = this.#leases.get(yiaddr);
    const text = `rack: ${type} of ${yiaddr} to ${macAddress}`;
    if (former !== undefined && former.untilMs > atMs && former.macAddress !== macAddress)
      this.#ports.violated(
        'promise',
        `${text}, which is ${former.macAddress}'s for ${Math.ceil((former.untilMs - atMs) / 1000)} s more`,
      );
    const identifier = readAddress(options.get(Option.serverIdentifier));
    if (identifier !== SELF) this.#ports.violated('server', `${text} as server ${identifier}, and its selfIp is ${SELF}`);
    const seconds = readSeconds(options.get(Option.leaseSeconds)) ?? 0;
    if (type !== 'ack') return;
    this.#leases.set(yiaddr, { macAddress, untilMs: atMs + seconds * 1000 });
    this.#forgotten.delete(macAddress);
  }

  #onNak(macAddress: string, atMs: number): void {
    const asked = this.#world.rack?.hosts.find((host) => host.macAddress === macAddress)?.asksFor;
    const lease = this.#leases.get(asked ?? '');
    if (lease?.macAddress === macAddress && lease.untilMs > atMs)
      this.#ports.violated('refusal', `rack: ${macAddress} was refused its address ${asked}, which is leased to it`);
  }
}
