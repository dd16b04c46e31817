import { BLOCK, decodeTarHeader, TAR_TYPE, type TarHeader } from './tar-header.js';

export interface TarEntry {
  /** Without `./` in front and without a slash at the end. */
  readonly path: string;
  readonly type: string;
  readonly mode: number;
  readonly content: Buffer;
  readonly target: string;
  /** Names of its extended attributes. */
  readonly attributes: readonly string[];
}

/** In an extended header. */
const ATTRIBUTE = 'SCHILY.xattr.';

/** The entries of an archive: those of Debian's packages (GNU) and of npm's (pax). */
export function readTar(archive: Buffer): readonly TarEntry[] {
  const entries: TarEntry[] = [];
  let names: Readonly<Record<string, string>> = {};
  for (const { header, content } of blocks(archive)) {
    const further = namesOfNext(header, content);
    if (further !== undefined) {
      names = { ...names, ...further };
      continue;
    }
    entries.push(toEntry(header, content, names));
    names = {};
  }
  return entries;
}

function toEntry(
  { path, type, mode, target = '' }: TarHeader,
  content: Buffer,
  names: Readonly<Record<string, string>>,
): TarEntry {
  return {
    path: (names['path'] ?? path).replace(/^(\.?\/)+/, '').replace(/\/$/, ''),
    type,
    mode,
    content,
    target: names['linkpath'] ?? target,
    attributes: Object.keys(names).flatMap((name) => (name.startsWith(ATTRIBUTE) ? [name.slice(ATTRIBUTE.length)] : [])),
  };
}

function* blocks(archive: Buffer): Generator<{ readonly header: TarHeader; readonly content: Buffer }> {
  for (let offset = 0; offset + BLOCK <= archive.length; ) {
    const header = decodeTarHeader(archive.subarray(offset, offset + BLOCK));
    if (header === undefined) return;
    const start = offset + BLOCK;
    yield { header, content: archive.subarray(start, start + header.size) };
    offset = start + Math.ceil(header.size / BLOCK) * BLOCK;
  }
}

/** Names that belong to the entry after this one; undefined for an entry of its own. */
function namesOfNext({ type }: TarHeader, content: Buffer): Readonly<Record<string, string>> | undefined {
  if (type === TAR_TYPE.gnuLongName) return { path: untilZero(content) };
  if (type === TAR_TYPE.gnuLongTarget) return { linkpath: untilZero(content) };
  if (type === TAR_TYPE.extended || type === 'g') return parseRecords(content);
  return undefined;
}

function untilZero(content: Buffer): string {
  return content.toString('utf8').replace(/\0.*$/s, '');
}

function parseRecords(content: Buffer): Readonly<Record<string, string>> {
  const records: Record<string, string> = {};
  for (let offset = 0; offset < content.length; ) {
    const length = Number.parseInt(content.toString('latin1', offset, offset + 20), 10);
    if (!(length > 0)) break;
    const [, key = '', value = ''] = /^\d+ ([^=]+)=(.*)\n$/s.exec(content.toString('utf8', offset, offset + length)) ?? [];
    records[key] = value;
    offset += length;
  }
  return records;
}
