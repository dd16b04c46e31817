/**
 * Cuts a capture that arrives in pieces into whole blocks, so that the written part is a complete file, wherever it ends.
 *
 * Source: draft-ietf-opsawg-pcapng, general block structure, section header and interface statistics.
 */

const SECTION_HEADER = 0x0a0d0d0a;
const LITTLE_ENDIAN_MAGIC = 0x1a2b3c4d;
const [SIMPLE_PACKET, INTERFACE_STATISTICS, ENHANCED_PACKET] = [3, 5, 6];
/** Packets that the interface dropped, and that the operating system dropped. */
const DROP_OPTIONS: ReadonlySet<number> = new Set([5, 7]);
const FIRST_OCTETS = 12;
/** The length of the type and the two lengths. */
const LEAST_OCTETS = 12;
/** DHCP packets are small; anything longer is not a block. */
const MOST_OCTETS = 1024 * 1024;
/** The average size of a packet, including its block: jumbo frames are smaller. */
const MOST_OCTETS_OF_PACKET = 16 * 1024;
/** The length of the body of a statistics block, before its options. */
const STATISTICS_OCTETS = 12;

/** The data is not a capture, or has more packets than requested. */
export class NoPcapngError extends Error {
  readonly code = 'ERR_NO_PCAPNG';
}

export class PcapngBlocks {
  /** The number of packets in whole blocks so far. */
  packets = 0;
  /** Packets that were lost before they could be captured, from the statistics of the capture; undefined if it has none. */
  lost: number | undefined;
  readonly #mostPackets: number;
  #octets = 0;
  #rest: Buffer = Buffer.alloc(0);
  #isLittleEndian = true;

  /** @param mostPackets - the number of packets requested. */
  constructor(mostPackets: number) {
    this.#mostPackets = mostPackets;
  }

  /** Returns the whole blocks that end in this chunk. @throws NoPcapngError */
  push(chunk: Buffer): Buffer {
    const octets = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    let end = 0;
    while (octets.length - end >= FIRST_OCTETS) {
      const length = this.#lengthAt(octets, end);
      if (octets.length - end < length) break;
      this.#note(octets.subarray(end, end + length));
      end += length;
    }
    this.#octets += end;
    const mostOctets = MOST_OCTETS + this.#mostPackets * MOST_OCTETS_OF_PACKET;
    if (this.packets > this.#mostPackets || this.#octets > mostOctets)
      throw new NoPcapngError(
        `the agent sends more than the ${this.#mostPackets} packets that were requested: check its pod and its image before you try again`,
      );
    this.#rest = octets.subarray(end);
    return octets.subarray(0, end);
  }

  /** The length of the block that begins here. */
  #lengthAt(octets: Buffer, start: number): number {
    if (octets.readUInt32LE(start) === SECTION_HEADER)
      this.#isLittleEndian = octets.readUInt32LE(start + 8) === LITTLE_ENDIAN_MAGIC;
    const length = this.#number(octets, start + 4);
    if (length >= LEAST_OCTETS && length % 4 === 0 && length <= MOST_OCTETS) return length;
    throw new NoPcapngError('the data from the agent is not a capture: its version does not match this plugin');
  }

  #note(block: Buffer): void {
    const type = this.#number(block, 0);
    if (type === ENHANCED_PACKET || type === SIMPLE_PACKET) this.packets += 1;
    if (type === INTERFACE_STATISTICS) this.#noteStatistics(block.subarray(8, block.length - 4));
  }

  #noteStatistics(body: Buffer): void {
    let lost = 0;
    for (let at = STATISTICS_OCTETS; at + 4 <= body.length; ) {
      const [code, length] = [this.#short(body, at), this.#short(body, at + 2)];
      if (DROP_OPTIONS.has(code) && length === 8 && at + 12 <= body.length) lost += this.#long(body, at + 4);
      at += 4 + length + ((4 - (length % 4)) % 4);
    }
    this.lost = (this.lost ?? 0) + lost;
  }

  #short(octets: Buffer, at: number): number {
    return this.#isLittleEndian ? octets.readUInt16LE(at) : octets.readUInt16BE(at);
  }

  #number(octets: Buffer, at: number): number {
    return this.#isLittleEndian ? octets.readUInt32LE(at) : octets.readUInt32BE(at);
  }

  #long(octets: Buffer, at: number): number {
    return Number(this.#isLittleEndian ? octets.readBigUInt64LE(at) : octets.readBigUInt64BE(at));
  }
}
