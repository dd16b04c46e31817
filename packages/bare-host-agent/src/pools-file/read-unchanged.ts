import { promises as fs, type Stats } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { fileState } from './watch-file.js';

/** A file that was written more recently may not be complete. */
const QUIET_MS = 1_000;
const MOST_READINGS = 30;

/**
 * The content of a file that nobody has written for a second. One that is being written is read again: a part of it lacks machines, whose addresses
 * would be freed.
 */
export async function readUnchanged(path: string, read = (from: string): Promise<Buffer> => fs.readFile(from)): Promise<Buffer> {
  for (let attempt = 1; ; attempt++) {
    const before = await fileState(path);
    const octets = await read(path);
    const stats = await fs.stat(path);
    const leftMs = quietInMs(stats);
    if (!stats.isFile() || (leftMs === 0 && (await fileState(path)) === before)) return octets;
    if (attempt === MOST_READINGS) throw new Error('it changes all the time; write another file and rename it');
    await delay(leftMs);
  }
}

/** 0 also if the clock was set back since the file was written. */
function quietInMs({ mtimeMs }: Stats): number {
  const ageMs = Date.now() - mtimeMs;
  return ageMs < 0 || ageMs >= QUIET_MS ? 0 : QUIET_MS - ageMs;
}
