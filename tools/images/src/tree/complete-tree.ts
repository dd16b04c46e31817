import { posix } from 'node:path';
import type { ImageEntry } from './image-entry.js';

/** Only root may write in a folder. */
const FOLDER_MODE = 0o755;

/** The entries with every folder that they need, by path in the order of their octets. @throws Error if two entries have one path. */
export function completeTree(entries: readonly ImageEntry[]): readonly ImageEntry[] {
  const byPath = new Map<string, ImageEntry>();
  for (const entry of entries) {
    if (byPath.has(entry.path)) throw new Error(`two files of an image have the path ${entry.path}; leave one of them out`);
    byPath.set(entry.path, entry);
  }
  for (const { path } of entries) {
    for (let folder = posix.dirname(path); folder !== '.' && !byPath.has(folder); folder = posix.dirname(folder))
      byPath.set(folder, { kind: 'folder', path: folder, mode: FOLDER_MODE });
  }
  return [...byPath.values()].toSorted((a, b) => Buffer.compare(Buffer.from(a.path), Buffer.from(b.path)));
}
