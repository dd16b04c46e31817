/** One capture: packets of one pool as they pass, in the octets of a pcapng file. What its reader does not take is lost and counted; nothing waits for it. */
import { type MacAddress, macAddressBytes } from '@vmdhcp/dhcp-allocator';
import { encodeInterface, encodePacket, encodeSectionHeader, encodeStatistics } from './pcapng.js';
import { type DatagramAddresses, encodeRawIpPacket } from './raw-ip-packet.js';

const APPLICATION = 'vmdhcp-agent';
const CHADDR = 28;
/** Octets that wait to be read. */
const MOST_WAITING = 1 << 20;

export interface CaptureSettings {
  readonly poolName: string;
  /** The interfaces of the pool. */
  readonly interfaceNames: readonly string[];
  /** Only of this client; default: of all. */
  readonly macAddress?: MacAddress | undefined;
  /** How many packets there are at most, with those that are lost. */
  readonly mostPackets: number;
  /** Octets that wait at most. Default: 1 MiB. */
  readonly mostWaiting?: number;
  /** Milliseconds since 1970, with fractions. */
  readonly nowMs: () => number;
  /** Something can be taken, or the capture has ended. */
  readonly onReadable: () => void;
}

/** A packet that passes. Its octets are valid only during the call. */
export interface PassingPacket {
  readonly interfaceName: string;
  readonly poolName: string;
  readonly isSent: boolean;
  readonly addresses: DatagramAddresses;
  /** A DHCP message, or what came in its place. */
  readonly payload: Uint8Array;
  /** What became of it; empty: it was answered. */
  readonly comment: string;
}

interface CountedInterface {
  readonly id: number;
  packets: number;
  lost: number;
}

export class PacketCapture {
  readonly #settings: CaptureSettings;
  readonly #macAddress: Uint8Array | undefined;
  readonly #interfaces = new Map<string, CountedInterface>();
  #blocks: Uint8Array[] = [];
  #waiting = 0;
  #packets = 0;
  #hasEnded = false;

  constructor(settings: CaptureSettings) {
    this.#settings = settings;
    this.#macAddress = settings.macAddress === undefined ? undefined : macAddressBytes(settings.macAddress);
    this.#push(encodeSectionHeader(APPLICATION));
    for (const name of settings.interfaceNames) this.#interfaceOf(name);
  }

  /** True: there will be no more packets. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  note(packet: PassingPacket): void {
    if (this.#hasEnded || packet.poolName !== this.#settings.poolName || !this.#isOfClient(packet.payload)) return;
    const counted = this.#interfaceOf(packet.interfaceName);
    counted.packets++;
    const { isSent, comment, payload, addresses } = packet;
    const { mostWaiting = MOST_WAITING, mostPackets, nowMs } = this.#settings;
    if (this.#waiting + payload.length > mostWaiting) counted.lost++;
    else {
      const octets = encodeRawIpPacket(payload, addresses);
      this.#push(encodePacket({ interfaceId: counted.id, atMs: nowMs(), isSent, comment, octets }));
    }
    if (++this.#packets >= mostPackets) this.end();
    else this.#settings.onReadable();
  }

  /** Nothing is captured any more; what was lost is counted at the end. */
  end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    const atMs = this.#settings.nowMs();
    for (const { id, packets, lost } of this.#interfaces.values())
      this.#push(encodeStatistics({ interfaceId: id, atMs, received: packets, dropped: lost }));
    this.#settings.onReadable();
  }

  /** The octets of the file since the last call. */
  take(): Uint8Array[] {
    const blocks = this.#blocks;
    this.#blocks = [];
    this.#waiting = 0;
    return blocks;
  }

  #interfaceOf(name: string): CountedInterface {
    const known = this.#interfaces.get(name);
    if (known !== undefined) return known;
    const counted = { id: this.#interfaces.size, packets: 0, lost: 0 };
    this.#interfaces.set(name, counted);
    this.#push(encodeInterface(name));
    return counted;
  }

  #push(block: Uint8Array): void {
    this.#blocks.push(block);
    this.#waiting += block.length;
  }

  #isOfClient(payload: Uint8Array): boolean {
    return this.#macAddress === undefined || this.#macAddress.every((octet, index) => payload[CHADDR + index] === octet);
  }
}
