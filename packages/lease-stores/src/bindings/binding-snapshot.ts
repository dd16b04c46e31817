import { join } from 'node:path';
import type { BindingRecord } from '@vmdhcp/dhcp-allocator';
import { formatBindingLine } from './binding-line.js';
import type { LogFile, LogFiles } from './log-files.js';
import { BINDING_FILE_VERSION, FORMAT } from './read-binding-file.js';

/** The file in the state directory. */
export const BINDINGS_FILE = 'bindings';
/** The file that replaces it after it is flushed. */
export const NEXT_FILE = `${BINDINGS_FILE}.next`;
const HEADER = `${FORMAT} ${BINDING_FILE_VERSION}\n`;
const LINES_PER_CHUNK = 500;

/** A file that is on the disk. */
export interface Written {
  readonly file: LogFile;
  readonly length: number;
  readonly records: number;
}

/** Writes a new file under a temporary name and flushes it. It writes in pieces, so that packets are answered meanwhile. */
export async function writeNext(folder: string, records: Iterable<BindingRecord>, files: LogFiles): Promise<Written> {
  const next = join(folder, NEXT_FILE);
  const file = await files.create(next);
  let [length, count] = [0, 0];
  const write = async (text: string) => {
    const bytes = Buffer.from(text);
    await file.append(bytes);
    length += bytes.length;
  };
  try {
    let chunk = HEADER;
    for (const record of records) {
      chunk += formatBindingLine(record);
      if (++count % LINES_PER_CHUNK !== 0) continue;
      await write(chunk);
      chunk = '';
    }
    await write(chunk);
    await file.flush();
    return { file, length, records: count };
  } catch (error) {
    await file.close().catch(() => undefined);
    // It uses space on a disk that may be full. If the removal fails, nothing changes: the next snapshot overwrites it.
    await files.remove(next).catch(() => undefined);
    throw error;
  }
}

/** Closes the file if the work fails. */
export async function guarded<Result>(file: LogFile, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    await file.close().catch(() => undefined);
    throw error;
  }
}

/** Makes the next file the current one; permanent after the folder is flushed. */
export function publishNext(folder: string, files: LogFiles): Promise<void> {
  return files.rename(join(folder, NEXT_FILE), join(folder, BINDINGS_FILE));
}
