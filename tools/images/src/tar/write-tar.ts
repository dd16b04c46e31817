import { completeTree } from '../tree/complete-tree.js';
import type { FileEntry, ImageEntry } from '../tree/image-entry.js';
import { encodeFileCapabilities } from './file-capabilities.js';
import { BLOCK, encodeTarHeader, LONGEST_NAME, TAR_TYPE } from './tar-header.js';

const LINK_MODE = 0o777;

/** The octets of a layer: the same entries give the same octets, whatever their order. */
export function writeTar(entries: readonly ImageEntry[]): Buffer {
  const blocks = completeTree(entries).flatMap((entry) => [...extendedHeader(entry), ...entryBlocks(entry)]);
  return Buffer.concat([...blocks, Buffer.alloc(2 * BLOCK)]);
}

function entryBlocks(entry: ImageEntry): readonly Buffer[] {
  const path = shortened(entry.kind === 'folder' ? `${entry.path}/` : entry.path);
  if (entry.kind === 'folder') return [encodeTarHeader({ path, mode: entry.mode, size: 0, type: TAR_TYPE.folder })];
  if (entry.kind === 'link')
    return [encodeTarHeader({ path, mode: LINK_MODE, size: 0, type: TAR_TYPE.link, target: shortened(entry.target) })];
  const header = encodeTarHeader({ path, mode: entry.mode, size: entry.content.length, type: TAR_TYPE.file });
  return [header, ...padded(entry.content)];
}

/** What does not fit into the header of an entry stands in an entry before it. */
function extendedHeader(entry: ImageEntry): readonly Buffer[] {
  const records: Buffer[] = [];
  const path = entry.kind === 'folder' ? `${entry.path}/` : entry.path;
  if (Buffer.byteLength(path) > LONGEST_NAME) records.push(record('path', Buffer.from(path)));
  if (entry.kind === 'link' && Buffer.byteLength(entry.target) > LONGEST_NAME)
    records.push(record('linkpath', Buffer.from(entry.target)));
  if (entry.kind === 'file') records.push(...capabilityRecords(entry));
  if (records.length === 0) return [];
  const content = Buffer.concat(records);
  return [
    encodeTarHeader({ path: 'PaxHeaders', mode: 0o644, size: content.length, type: TAR_TYPE.extended }),
    ...padded(content),
  ];
}

function capabilityRecords({ capabilities }: FileEntry): readonly Buffer[] {
  if (capabilities === undefined) return [];
  return [record('SCHILY.xattr.security.capability', encodeFileCapabilities(capabilities))];
}

/** `LENGTH KEY=VALUE\n`, where LENGTH counts itself. */
function record(key: string, value: Buffer): Buffer {
  const rest = Buffer.concat([Buffer.from(` ${key}=`), value, Buffer.from('\n')]);
  let length = rest.length;
  while (length !== rest.length + String(length).length) length = rest.length + String(length).length;
  return Buffer.concat([Buffer.from(String(length)), rest]);
}

function padded(content: Buffer): readonly Buffer[] {
  return [content, Buffer.alloc((BLOCK - (content.length % BLOCK)) % BLOCK)];
}

/** What stands in the header beside an extended header, which has the whole name. */
function shortened(name: string): string {
  return Buffer.byteLength(name) <= LONGEST_NAME ? name : name.replaceAll(/[^ -~]/g, '_').slice(0, LONGEST_NAME);
}
