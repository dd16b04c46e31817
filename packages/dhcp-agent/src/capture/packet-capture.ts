/**
 * One capture: the packets of one pool as they pass, in the octets of a pcapng file. Packets that its reader does not read in time are lost and
 * counted; nothing waits for the reader.
 */
import { type MacAddress, macAddressBytes } from '@vmdhcp/dhcp-allocator';
import { encodeInterface, encodePacket, encodeSectionHeader, encodeStatistics } from './pcapng.js';
import { type DatagramAddresses, encodeRawIpPacket } from './raw-ip-packet.js';

const APPLICATION = 'vmdhcp-agent';
const CHADDR = 28;
/** The default limit of octets that wait to be read. */
const MOST_WAITING = 1 << 20;

/** Which packets a capture takes, and how many may wait for its reader. */
export interface CaptureSettings {
  readonly poolName: string;
  /** The interfaces of the pool. */
  readonly interfaceNames: readonly string[];
  /** Captures only this client; default: all. */
  readonly macAddress?: MacAddress | undefined;
  /** The maximum number of packets, including lost ones. */
  readonly mostPackets: number;
  /** The maximum octets that wait to be read. Default: 1 MiB. */
  readonly mostWaiting?: number;
  /** Milliseconds since 1970, with fractions. */
  readonly nowMs: () => number;
  /** Called when something can be read, or the capture has ended. */
  readonly onReadable: () => void;
}

/** A packet that is sent or received. Its octets are valid only during the call. */
export interface PassingPacket {
  readonly interfaceName: string;
  readonly poolName: string;
  readonly isSent: boolean;
  readonly addresses: DatagramAddresses;
  /** The payload: a DHCP message, or anything else that arrived. */
  readonly payload: Uint8Array;
  /** The outcome; empty if it was answered. */
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

  /** True if there will be no more packets. */
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

  /** Stops the capture; the end of the file counts the lost packets. */
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
