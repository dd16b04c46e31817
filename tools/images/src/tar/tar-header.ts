/** The 512 octets before each file of a tar archive. Source: POSIX.1-2017, pax, ustar Interchange Format. */
export const BLOCK = 512;

/** Kinds of entries by the letter of the format. */
export const TAR_TYPE = { file: '0', link: '2', folder: '5', extended: 'x', gnuLongName: 'L', gnuLongTarget: 'K' } as const;

export interface TarHeader {
  readonly path: string;
  readonly mode: number;
  readonly size: number;
  readonly type: string;
  readonly target?: string;
}

/** Offset and length of each field. */
const FIELD = {
  path: [0, 100],
  mode: [100, 8],
  owner: [108, 8],
  group: [116, 8],
  size: [124, 12],
  modified: [136, 12],
  checksum: [148, 8],
  type: [156, 1],
  target: [157, 100],
  magic: [257, 8],
  prefix: [345, 155],
} as const;

/** Longer ones need an extended header. */
export const LONGEST_NAME = 100;

/** The block of a header. Owner and group are root, the time is 1970-01-01: what differs from machine to machine is not in it. */
export function encodeTarHeader({ path, mode, size, type, target = '' }: TarHeader): Buffer {
  const block = Buffer.alloc(BLOCK);
  write(block, 'path', path);
  write(block, 'mode', octal(mode, 'mode'));
  write(block, 'owner', octal(0, 'owner'));
  write(block, 'group', octal(0, 'group'));
  write(block, 'size', octal(size, 'size'));
  write(block, 'modified', octal(0, 'modified'));
  write(block, 'checksum', ' '.repeat(8));
  write(block, 'type', type);
  write(block, 'target', target);
  write(block, 'magic', 'ustar\x0000');
  const sum = block.reduce((total, octet) => total + octet, 0);
  write(block, 'checksum', `${sum.toString(8).padStart(6, '0')}\0 `);
  return block;
}

/** Undefined: the block of zeros that ends an archive. */
export function decodeTarHeader(block: Buffer): TarHeader | undefined {
  if (block.every((octet) => octet === 0)) return undefined;
  const prefix = block.toString('latin1', 257, 262) === 'ustar' ? read(block, 'prefix') : '';
  const path = read(block, 'path');
  return {
    path: prefix === '' ? path : `${prefix}/${path}`,
    mode: Number.parseInt(read(block, 'mode'), 8),
    size: Number.parseInt(read(block, 'size'), 8),
    type: read(block, 'type') || TAR_TYPE.file,
    target: read(block, 'target'),
  };
}

function write(block: Buffer, field: keyof typeof FIELD, text: string): void {
  const [offset, length] = FIELD[field];
  block.write(text, offset, length, 'utf8');
}

function read(block: Buffer, field: keyof typeof FIELD): string {
  const [offset, length] = FIELD[field];
  const octets = block.subarray(offset, offset + length);
  const end = octets.indexOf(0);
  return octets.toString('utf8', 0, end === -1 ? length : end).trim();
}

function octal(value: number, field: keyof typeof FIELD): string {
  return value.toString(8).padStart(FIELD[field][1] - 1, '0');
}
