/** Reads the files that `pcapng.ts` writes. */
import type { FiledPacket, FiledStatistics } from './pcapng.js';

/** One block of a pcapng file. */
export type FiledBlock =
  | { readonly kind: 'section' }
  | { readonly kind: 'interface'; readonly name: string }
  | ({ readonly kind: 'packet' } & FiledPacket)
  | ({ readonly kind: 'statistics' } & FiledStatistics)
  /** A block that an agent of this version does not write. */
  | { readonly kind: 'other' };

const [SECTION, INTERFACE, STATISTICS, PACKET] = [0x0a0d0d0a, 1, 5, 6];
const SHORTEST = 12;
const LONGEST = 1 << 20;
const OUTBOUND = 2;

/** Reads a file piece by piece as it arrives, for a command that shows live packets. */
export class PcapngReader {
  #rest = new Uint8Array(0);

  /** Adds these octets and returns the blocks that are now complete. @throws RangeError if they are not pcapng. */
  read(octets: Uint8Array): FiledBlock[] {
    const known = new Uint8Array(this.#rest.length + octets.length);
    known.set(this.#rest);
    known.set(octets, this.#rest.length);
    const view = new DataView(known.buffer);
    const blocks: FiledBlock[] = [];
    let at = 0;
    while (known.length - at >= SHORTEST) {
      const length = view.getUint32(at + 4, true);
      if (length < SHORTEST || length > LONGEST || length % 4 !== 0) throw new RangeError('a block has no valid length');
      if (known.length - at < length) break;
      blocks.push(readBlock(new DataView(known.buffer, at, length)));
      at += length;
    }
    this.#rest = known.slice(at);
    return blocks;
  }
}

function readBlock(block: DataView): FiledBlock {
  switch (block.getUint32(0, true)) {
    case SECTION:
      return { kind: 'section' };
    case INTERFACE:
      return { kind: 'interface', name: text(optionsOf(block, 16).get(2)) };
    case PACKET:
      return readPacket(block);
    case STATISTICS:
      return readStatistics(block);
    default:
      return { kind: 'other' };
  }
}

function readPacket(block: DataView): FiledBlock {
  const length = block.getUint32(20, true);
  const octets = octetsOf(block).slice(28, 28 + length);
  const options = optionsOf(block, 28 + ((length + 3) & ~3));
  const isSent = ((options.get(2)?.[0] ?? 0) & 3) === OUTBOUND;
  return {
    kind: 'packet',
    interfaceId: block.getUint32(8, true),
    atMs: timeAt(block),
    isSent,
    comment: text(options.get(1)),
    octets,
  };
}

function readStatistics(block: DataView): FiledBlock {
  const options = optionsOf(block, 20);
  const [received, dropped] = [uint64(options.get(4)), uint64(options.get(5))];
  return { kind: 'statistics', interfaceId: block.getUint32(8, true), atMs: timeAt(block), received, dropped };
}

function timeAt(block: DataView): number {
  return (block.getUint32(12, true) * 0x1_0000_0000 + block.getUint32(16, true)) / 1_000;
}

function optionsOf(block: DataView, start: number): ReadonlyMap<number, Uint8Array> {
  const options = new Map<number, Uint8Array>();
  const bytes = octetsOf(block);
  let at = start;
  while (at + 8 <= block.byteLength) {
    const [code, length] = [block.getUint16(at, true), block.getUint16(at + 2, true)];
    if (code === 0) break;
    options.set(code, bytes.slice(at + 4, at + 4 + length));
    at += 4 + ((length + 3) & ~3);
  }
  return options;
}

function octetsOf(block: DataView): Uint8Array {
  return new Uint8Array(block.buffer, block.byteOffset, block.byteLength);
}

function text(value: Uint8Array | undefined): string {
  return String.fromCharCode(...(value ?? []));
}

function uint64(value: Uint8Array | undefined): number {
  return (value ?? new Uint8Array(0)).reduce((sum, octet, index) => sum + octet * 256 ** index, 0);
}
