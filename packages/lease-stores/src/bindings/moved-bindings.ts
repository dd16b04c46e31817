/** Moves bindings from or to another server: writes them into a state directory that has none, or reads all of them. */
import { join } from 'node:path';
import type { BindingRecord } from '@vmdhcp/dhcp-allocator';
import { CommandError, ExitCode } from '@vmdhcp/service-process';
import { StateDirectory } from '../state/state-directory.js';
import { BINDINGS_FILE, guarded, publishNext, writeNext } from './binding-snapshot.js';
import { nodeLogFiles } from './log-files.js';
import { BINDING_FILE_VERSION, type BindingFileReading, readBindingFile } from './read-binding-file.js';

/**
 * Resolves when the records are on the disk, in a state directory that has no bindings yet.
 * @throws CommandError if it has some, if it cannot be written, or if an agent uses it. Its bindings are unchanged then.
 */
export async function createBindings(folder: string, records: readonly BindingRecord[]): Promise<void> {
  const directory = await StateDirectory.open(folder);
  try {
    await refuseExisting(folder);
    const { file } = await writeNext(folder, records, nodeLogFiles);
    await guarded(file, () => publishNext(folder, nodeLogFiles));
    await file.close();
    await nodeLogFiles.flushFolder(folder);
  } catch (error) {
    if (error instanceof CommandError) throw error;
    const { message } = error as Error;
    throw new CommandError(`state directory ${folder}: ${message}; look at the disk`, ExitCode.cannotCreate, { cause: error });
  } finally {
    await directory.close();
  }
}

/**
 * Yields every record of a state directory, in order. @throws CommandError that lists every invalid line, or says why the file
 * cannot be read.
 */
export async function readBindings(folder: string): Promise<BindingRecord[]> {
  const path = join(folder, BINDINGS_FILE);
  const records: BindingRecord[] = [];
  const reading = await readFile(path, (record) => records.push(record)).catch((error: Error) => {
    throw new CommandError(`${path} cannot be read: ${error.message}; make it readable`, ExitCode.noInput, { cause: error });
  });
  if (reading === undefined)
    throw new CommandError(`${path} does not exist; give a state directory with bindings`, ExitCode.noInput);
  const { corrupt, newerVersion } = reading;
  if (newerVersion !== undefined)
    throw new CommandError(
      `${path} has format ${newerVersion}, and this program reads ${BINDING_FILE_VERSION}; use a later one`,
      ExitCode.invalidData,
    );
  const wrong = corrupt.map(({ line, reason, lost }) => `line ${line} is invalid (${reason}): ${lost}`);
  if (wrong.length > 0)
    throw new CommandError(`${path}: ${wrong.join('; ')}; start the agent, which sets such a file aside`, ExitCode.invalidData);
  return records;
}

async function refuseExisting(folder: string): Promise<void> {
  const path = join(folder, BINDINGS_FILE);
  const reading = await readFile(path, () => undefined);
  if (reading === undefined) return;
  if (reading.records + reading.corrupt.length === 0 && reading.newerVersion === undefined) return;
  throw new CommandError(
    `${path} has bindings, which clients use: an import would replace them; give another --state-dir, or move the file away`,
    ExitCode.cannotCreate,
  );
}

/** Undefined if the file does not exist. */
async function readFile(path: string, onRecord: (record: BindingRecord) => void): Promise<BindingFileReading | undefined> {
  const file = await nodeLogFiles.open(path);
  if (file === undefined) return undefined;
  try {
    return await readBindingFile(file, onRecord);
  } finally {
    await file.close();
  }
}
