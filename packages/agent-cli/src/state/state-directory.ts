/**
 * The folder in which an agent keeps what must survive it. A file is never changed in place: the new one is written beside
 * it, flushed to the disk, read back, and takes its name; the one before is kept as `leases.previous`. A file that cannot be
 * believed is set aside under a name of its own, for a person to look at.
 */
import { closeSync, constants, openSync } from 'node:fs';
import * as fs from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { CommandError, ExitCode } from '@vmdhcp/service-process';
import { flock, LOCK_EX, LOCK_NB, lastErrorName } from '../net/libc.js';
import { type FileOperations, replaceFile } from './replace-file.js';
import { EMPTY_STATE, formatState, parseState, type StateToSave, type StoredState } from './state-format.js';

const CURRENT = 'leases';
const PREVIOUS = 'leases.previous';
const LOCK = 'lock';

/** What is to be told about a state that was not read as it should. */
interface StateReport {
  readonly file: string;
  readonly setAsideAs: string;
  readonly reason: string;
}

export interface LoadedState {
  readonly state: StoredState;
  readonly reports: readonly StateReport[];
}

export class StateDirectory {
  readonly path: string;
  readonly #lock: number;
  readonly #files: FileOperations;
  #last: Promise<void> = Promise.resolve();

  /**
   * Opens the folder for this process alone, and makes it if need be.
   * @param files - what saving is done with; for tests of what a disk may do.
   * @throws CommandError if it cannot be written, or another agent uses it.
   */
  static async open(path: string, files: FileOperations = fs): Promise<StateDirectory> {
    try {
      await makeFolder(path);
      const lock = openSync(join(path, LOCK), constants.O_RDWR | constants.O_CREAT, 0o640);
      if (flock(lock, LOCK_EX | LOCK_NB) === 0) return new StateDirectory({ path, lock, files });
      const code = lastErrorName();
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

  /** What was saved last; of two files the newer one that can be believed. Never throws for what a file holds. */
  async load(): Promise<LoadedState> {
    const reports: StateReport[] = [];
    for (const name of [CURRENT, PREVIOUS]) {
      const reading = await readStateFile(join(this.path, name));
      if (reading === undefined) continue;
      if (reading.ok) return { state: reading.state, reports };
      const setAsideAs = join(this.path, `${name}.corrupt-${Date.now()}`);
      await fs.rename(join(this.path, name), setAsideAs);
      reports.push({ file: join(this.path, name), setAsideAs, reason: reading.reason });
    }
    return { state: EMPTY_STATE, reports };
  }

  /**
   * Resolves when the state is on the disk and was read back. Saves happen one after the other, in the order they were asked for.
   * @throws Error that says what could not be written and why; what was saved before is still there.
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

/** The state in a folder that another process may have open, for looking at. */
export async function peekState(path: string): Promise<StoredState> {
  for (const name of [CURRENT, PREVIOUS]) {
    const reading = await readStateFile(join(path, name));
    if (reading?.ok) return reading.state;
  }
  throw new CommandError(`${path} holds no state that can be read; give the --state of an agent that has run`, ExitCode.noInput);
}

async function readStateFile(path: string): Promise<ReturnType<typeof parseState> | undefined> {
  try {
    return parseState(await fs.readFile(path, 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    return { ok: false, reason: (error as Error).message };
  }
}

/**
 * Makes a folder and those above it. Not with `recursive: true`: where the system says that a folder whose parent is there
 * does not exist (`/proc/x`), Node tries again for ever.
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
