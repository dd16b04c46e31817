/**
 * Packets in a file that Wireshark and tcpdump read: pcapng, with times in microseconds. Only the blocks that a capture of an agent has.
 *
 * Source: draft-ietf-opsawg-pcapng, "PCAP Next Generation (pcapng) Capture File Format".
 */

const BlockType = { sectionHeader: 0x0a0d0d0a, interfaceDescription: 1, interfaceStatistics: 5, enhancedPacket: 6 } as const;
const BYTE_ORDER_MAGIC = 0x1a2b3c4d;
/** Packets begin with an IPv4 header. Source: https://www.tcpdump.org/linktypes.html, LINKTYPE_RAW. */
export const LINK_TYPE_RAW_IP = 101;
const OptionCode = { end: 0, comment: 1, name: 2, flags: 2, timeResolution: 9, received: 4, dropped: 5, application: 4 } as const;
const MICROSECONDS = 6;
const [INBOUND, OUTBOUND] = [1, 2];
const BLOCK_OVERHEAD = 12;
const OPTION_OVERHEAD = 4;

/** A packet in a file. */
export interface FiledPacket {
  /** The index of the interface, in the order in which interfaces were described. */
  readonly interfaceId: number;
  /** Milliseconds since 1970, with fractions. */
  readonly atMs: number;
  readonly isSent: boolean;
  /** The outcome; empty if there is nothing to remark. */
  readonly comment: string;
  /** The octets from the IPv4 header on. */
  readonly octets: Uint8Array;
}

/** The statistics of an interface. */
export interface FiledStatistics {
  readonly interfaceId: number;
  readonly atMs: number;
  /** All packets. */
  readonly received: number;
  /** Packets that are not in the file. */
  readonly dropped: number;
}

/** The beginning of a file. @param application - the program that writes it. */
export function encodeSectionHeader(application: string): Uint8Array {
  const options = [textOption(OptionCode.application, application)];
  const block = new Block(BlockType.sectionHeader, 16, options);
  block.uint32(BYTE_ORDER_MAGIC);
  block.uint16(1);
  block.uint16(0);
  // The length of the section is not known.
  block.uint32(0xffff_ffff);
  block.uint32(0xffff_ffff);
  return block.finish();
}

export function encodeInterface(name: string): Uint8Array {
  const resolution = { code: OptionCode.timeResolution, value: Uint8Array.of(MICROSECONDS) };
  const block = new Block(BlockType.interfaceDescription, 8, [textOption(OptionCode.name, name), resolution]);
  block.uint16(LINK_TYPE_RAW_IP);
  block.uint16(0);
  // Packets are never cut.
  block.uint32(0);
  return block.finish();
}

export function encodePacket({ interfaceId, atMs, isSent, comment, octets }: FiledPacket): Uint8Array {
  const flags = { code: OptionCode.flags, value: Uint8Array.of(isSent ? OUTBOUND : INBOUND, 0, 0, 0) };
  const options = comment === '' ? [flags] : [flags, textOption(OptionCode.comment, comment)];
  const block = new Block(BlockType.enhancedPacket, 20 + padded(octets.length), options);
  block.uint32(interfaceId);
  block.time(atMs);
  block.uint32(octets.length);
  block.uint32(octets.length);
  block.octets(octets);
  return block.finish();
}

export function encodeStatistics({ interfaceId, atMs, received, dropped }: FiledStatistics): Uint8Array {
  const options = [uint64Option(OptionCode.received, received), uint64Option(OptionCode.dropped, dropped)];
  const block = new Block(BlockType.interfaceStatistics, 12, options);
  block.uint32(interfaceId);
  block.time(atMs);
  return block.finish();
}

interface BlockOption {
  readonly code: number;
  readonly value: Uint8Array;
}

/** Only printable ASCII is written here. */
function textOption(code: number, text: string): BlockOption {
  return { code, value: Uint8Array.from(text, (character) => character.charCodeAt(0) & 0x7f) };
}

function uint64Option(code: number, value: number): BlockOption {
  const octets = new DataView(new ArrayBuffer(8));
  octets.setUint32(0, value >>> 0, true);
  octets.setUint32(4, Math.floor(value / 0x1_0000_0000), true);
  return { code, value: new Uint8Array(octets.buffer) };
}

/** Everything in a file is aligned to four octets. */
function padded(length: number): number {
  return (length + 3) & ~3;
}

/** Writes a block from its start to its end. */
class Block {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  readonly #options: readonly BlockOption[];
  #at = 8;

  /** @param bodyLength - octets between the header of the block and its options. */
  constructor(type: number, bodyLength: number, options: readonly BlockOption[]) {
    const optionsLength = options.reduce((sum, { value }) => sum + OPTION_OVERHEAD + padded(value.length), OPTION_OVERHEAD);
    this.#bytes = new Uint8Array(BLOCK_OVERHEAD + bodyLength + optionsLength);
    this.#view = new DataView(this.#bytes.buffer);
    this.#options = options;
    this.#view.setUint32(0, type, true);
    this.#view.setUint32(4, this.#bytes.length, true);
  }

  uint16(value: number): void {
    this.#view.setUint16(this.#at, value, true);
    this.#at += 2;
  }

  uint32(value: number): void {
    this.#view.setUint32(this.#at, value, true);
    this.#at += 4;
  }

  /** @param atMs - milliseconds since 1970. */
  time(atMs: number): void {
    const microseconds = Math.round(atMs * 1_000);
    this.uint32(Math.floor(microseconds / 0x1_0000_0000));
    this.uint32(microseconds % 0x1_0000_0000);
  }

  octets(octets: Uint8Array): void {
    this.#bytes.set(octets, this.#at);
    this.#at += padded(octets.length);
  }

  finish(): Uint8Array {
    for (const { code, value } of this.#options) {
      this.uint16(code);
      this.uint16(value.length);
      this.octets(value);
    }
    this.uint32(OptionCode.end);
    this.uint32(this.#bytes.length);
    return this.#bytes;
  }
}
