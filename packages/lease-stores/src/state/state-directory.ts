/**
 * The folder in which an agent stores its state. A file is never changed in place: the new one is written beside it, flushed to
 * the disk, read back and renamed; the one before is kept as `leases.previous`. An invalid file is renamed and kept for
 * inspection. A file that cannot be read, or that a later version wrote, is left unchanged, and the agent does not start: without
 * it, recorded addresses would be given to others.
 */
import { closeSync, constants, openSync } from 'node:fs';
import * as fs from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { libc } from '@vmdhcp/linux-sockets';
import { CommandError, ExitCode } from '@vmdhcp/service-process';
import { giveToOwnerOfFolder } from './give-to-owner-of-folder.js';
import { type FileOperations, replaceFile } from './replace-file.js';
import { EMPTY_STATE, formatState, parseState, type StateReading, type StateToSave, type StoredState } from './state-format.js';

const CURRENT = 'leases';
const PREVIOUS = 'leases.previous';
const LOCK = 'lock';

/** The warning about a state that could not be read correctly. */
interface StateReport {
  readonly file: string;
  readonly setAsideAs: string;
  readonly reason: string;
}

export interface LoadedState {
  readonly state: StoredState;
  readonly reports: readonly StateReport[];
}

/**
 * The folder in which an agent stores its addresses. One process has it open; a crash leaves either the old state or the new one.
 */
export class StateDirectory {
  readonly path: string;
  readonly #lock: number;
  readonly #files: FileOperations;
  #last: Promise<void> = Promise.resolve();

  /**
   * Opens the folder for this process alone; creates it if necessary.
   * @param files - the file functions for saving; lets tests simulate a disk.
   * @throws CommandError if it cannot be written, or another agent uses it.
   */
  static async open(path: string, files: FileOperations = fs): Promise<StateDirectory> {
    try {
      await makeFolder(path);
      const lock = openLock(path);
      if (libc.flock(lock, libc.LOCK_EX | libc.LOCK_NB) === 0) return new StateDirectory({ path, lock, files });
      const code = libc.lastErrorName();
      closeSync(lock);
      const why = code === 'EAGAIN' ? 'another agent uses it' : `it cannot be locked (${code})`;
      throw new CommandError(
        `state directory ${path}: ${why}; stop the other agent or give this one another --state`,
        ExitCode.cannotCreate,
      );
    } catch (error) {
      if (error instanceof CommandError) throw error;
      const remedy = 'make it writable or give another --state';
      throw new CommandError(`state directory ${path}: ${(error as Error).message}; ${remedy}`, ExitCode.cannotCreate, {
        cause: error,
      });
    }
  }

  private constructor({ path, lock, files }: { readonly path: string; readonly lock: number; readonly files: FileOperations }) {
    this.path = path;
    this.#lock = lock;
    this.#files = files;
  }

  /**
   * Reads the state that was saved last: the newer valid one of two files.
   * @throws CommandError if a file cannot be read, or a later version of the program wrote it; nothing is changed then.
   */
  async load(): Promise<LoadedState> {
    const reports: StateReport[] = [];
    let state = EMPTY_STATE;
    for (const name of [CURRENT, PREVIOUS]) {
      const file = join(this.path, name);
      const reading = await readStateFile(file);
      if (reading?.ok) {
        state = reading.state;
        break;
      }
      if (reading !== undefined) reports.push({ file, setAsideAs: `${file}.corrupt-${Date.now()}`, reason: reading.reason });
    }
    for (const { file, setAsideAs } of reports) await fs.rename(file, setAsideAs);
    return { state, reports };
  }

  /**
   * Resolves when the state is on the disk and was read back. Saves happen one after the other, in the order of the calls.
   * @throws Error that says what could not be written and why; the last saved state is still there.
   */
  save(state: StateToSave): Promise<void> {
    const file = { folder: this.path, name: CURRENT };
    const saving = this.#last.then(() => replaceFile(file, formatState(state), this.#files));
    this.#last = saving.catch(() => undefined);
    return saving;
  }

  async close(): Promise<void> {
    await this.#last;
    closeSync(this.#lock);
  }
}

function openLock(folder: string): number {
  const file = join(folder, LOCK);
  try {
    const created = openSync(file, constants.O_RDWR | constants.O_CREAT | constants.O_EXCL, 0o640);
    giveToOwnerOfFolder(created, folder);
    return created;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return openSync(file, constants.O_RDWR);
  }
}

/** Reads the state in a folder that another process may have open. */
export async function peekState(path: string): Promise<StoredState> {
  for (const name of [CURRENT, PREVIOUS]) {
    const reading = await readStateFile(join(path, name));
    if (reading?.ok) return reading.state;
  }
  throw new CommandError(`${path} holds no readable state; give the --state of an agent that has run`, ExitCode.noInput);
}

/** Undefined if the file does not exist. @throws CommandError if it cannot be read, or a later version wrote it. */
async function readStateFile(path: string): Promise<StateReading | undefined> {
  const text = await readText(path);
  if (text === undefined) return undefined;
  const reading = parseState(text);
  if (reading.ok || !reading.isNewer) return reading;
  throw new CommandError(
    `state file ${path}: ${reading.reason}; run the version of vmdhcp-agent that has written it, or move the file away to begin ` +
      'without the addresses recorded in it',
    ExitCode.invalidData,
  );
}

async function readText(path: string): Promise<string | undefined> {
  try {
    return await fs.readFile(path, 'utf8');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    const remedy = 'make it readable, or look at the disk; the addresses recorded in it are not known without it';
    throw new CommandError(`state file ${path} cannot be read: ${message}; ${remedy}`, ExitCode.noInput, { cause: error });
  }
}

/**
 * Makes a folder and its parents. This does not use `recursive: true`: if the system reports that a folder does not exist
 * although its parent does (`/proc/x`), Node tries again for ever.
 */
async function makeFolder(path: string): Promise<void> {
  try {
    await fs.mkdir(path, { mode: 0o750 });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST' && (await fs.stat(path)).isDirectory()) return;
    const parent = dirname(path);
    const parentIsThere = await fs.stat(parent).then(
      () => true,
      () => false,
    );
    if (code !== 'ENOENT' || parentIsThere) throw error;
    await makeFolder(parent);
    await makeFolder(path);
  }
}
