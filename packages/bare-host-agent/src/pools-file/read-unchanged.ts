import { readFile, stat } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { fileState } from './watch-file.js';

const READ_AGAIN_MS = 250;
const MOST_READINGS = 40;

/** The content of a file. One that is written meanwhile is read again: a part of it lacks machines, whose addresses would be freed. */
export async function readUnchanged(path: string, read = (from: string): Promise<Buffer> => readFile(from)): Promise<Buffer> {
  for (let attempt = 1; ; attempt++) {
    const before = await fileState(path);
    const octets = await read(path);
    if ((await fileState(path)) === before || !(await stat(path)).isFile()) return octets;
    if (attempt === MOST_READINGS) throw new Error('it changes all the time; write another file and rename it');
    await delay(READ_AGAIN_MS);
  }
}
