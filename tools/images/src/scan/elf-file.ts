/** What the kernel and the loader read of a program or a library (ELF, 64 bits, little endian). Source: System V ABI, elf(5). */
export interface ElfFile {
  readonly machine: 'amd64' | 'arm64' | 'another';
  /** Names of the libraries that it needs. */
  readonly needs: readonly string[];
}

const MACHINES: Readonly<Record<number, ElfFile['machine']>> = { 62: 'amd64', 183: 'arm64' };
const PT_LOAD = 1;
const PT_DYNAMIC = 2;
const DT_NEEDED = 1n;
const DT_STRTAB = 5n;

interface Segment {
  readonly type: number;
  readonly offset: number;
  readonly address: number;
  readonly size: number;
}

/** Undefined: not such a file. */
export function readElf(content: Buffer): ElfFile | undefined {
  if (content.length < 64 || content.readUInt32BE(0) !== 0x7f_45_4c_46) return undefined;
  const machine = MACHINES[content.readUInt16LE(18)] ?? 'another';
  const segments = readSegments(content);
  const dynamic = segments.find(({ type }) => type === PT_DYNAMIC);
  if (dynamic === undefined) return { machine, needs: [] };
  const tags = readTags(content.subarray(dynamic.offset, dynamic.offset + dynamic.size));
  const names = fileOffset(segments, Number(tags.find(([tag]) => tag === DT_STRTAB)?.[1] ?? 0n));
  const needs = tags.filter(([tag]) => tag === DT_NEEDED).map(([, value]) => readName(content, names + Number(value)));
  return { machine, needs };
}

function readSegments(content: Buffer): readonly Segment[] {
  const start = Number(content.readBigUInt64LE(32));
  const length = content.readUInt16LE(54);
  return Array.from({ length: content.readUInt16LE(56) }, (_, index) => {
    const at = start + index * length;
    return {
      type: content.readUInt32LE(at),
      offset: Number(content.readBigUInt64LE(at + 8)),
      address: Number(content.readBigUInt64LE(at + 16)),
      size: Number(content.readBigUInt64LE(at + 32)),
    };
  });
}

function readTags(dynamic: Buffer): readonly (readonly [bigint, bigint])[] {
  return Array.from(
    { length: Math.floor(dynamic.length / 16) },
    (_, index) => [dynamic.readBigUInt64LE(index * 16), dynamic.readBigUInt64LE(index * 16 + 8)] as const,
  );
}

/** Where in the file is what has this address in memory. */
function fileOffset(segments: readonly Segment[], address: number): number {
  const found = segments.find(
    (segment) => segment.type === PT_LOAD && address >= segment.address && address < segment.address + segment.size,
  );
  return found === undefined ? address : address - found.address + found.offset;
}

function readName(content: Buffer, at: number): string {
  return content.toString('latin1', at, content.indexOf(0, at));
}
