/**
 * Keeps the leases of unknown clients in the state directory, in a file `bindings` that grows: one line for each record, flushed
 * to the disk before the client gets its ACK. From time to time a snapshot replaces it: a new file `bindings.next` with one line
 * for each binding is flushed and renamed, and the folder is flushed. So at every moment the file holds everything that was
 * acknowledged; a partial write of a crash is after the last whole line, and is dropped.
 *
 * After a failed write, the file is repaired before the next one: anything that may have been added is cut off. After a failed
 * flush, the disk may hold anything instead of the added data, and a second flush may succeed without having written it; so the
 * whole lines before it are copied to a new file.
 */
import { join } from 'node:path';
import type { BindingRecord, BindingStore, BindingTable } from '@vmdhcp/dhcp-allocator';
import { CommandError, ExitCode } from '@vmdhcp/service-process';
import { describeWriteFailure } from '../state/describe-write-failure.js';
import { formatBindingLine } from './binding-line.js';
import { BINDINGS_FILE, guarded, NEXT_FILE, publishNext, type Written, writeNext } from './binding-snapshot.js';
import { type LogFile, type LogFiles, nodeLogFiles } from './log-files.js';
import { BINDING_FILE_VERSION, type BindingFileReading, readBindingFile } from './read-binding-file.js';
import { recordsOf, tableOf } from './tables-by-pool.js';

const COPIED_OCTETS = 1 << 16;
/** A snapshot pays off when the file has this many records more than one and a half times the current ones: an agent that starts reads all of them. */
const FEWEST_SUPERSEDED = 10_000;
const COUNTING_SHARE = 1.5;

/**
 * - `sound`: the file ends with the last record appended.
 * - `cut-needed`: a write failed; there may be octets after the last valid line.
 * - `copy-needed`: a flush failed; what the disk holds after that line is not known.
 */
type Soundness = 'sound' | 'cut-needed' | 'copy-needed';

export interface OpenedBindings {
  readonly file: BindingFile;
  /** By pool. */
  readonly tables: ReadonlyMap<string, BindingTable>;
  readonly reading: BindingFileReading;
  /** Where a file with corrupt lines was kept for inspection. */
  readonly setAsideAs?: string;
}

export interface BindingFilePlace {
  /** A state directory that this process has locked, see `StateDirectory.open`. */
  readonly folder: string;
  readonly nowMs: () => number;
}

export class BindingFile implements BindingStore {
  readonly #folder: string;
  readonly #files: LogFiles;
  #file: LogFile;
  #soundness: Soundness = 'sound';
  /** The length of the valid part of the file, in octets. */
  #length: number;
  #recordsInFile: number;
  /** Runs operations one after the other. */
  #last: Promise<unknown> = Promise.resolve();

  /**
   * Opens or creates the file, and reads it.
   * @param files - lets tests simulate a disk.
   * @throws CommandError if it cannot be read or created, or a later version of the program wrote it.
   */
  static async open({ folder, nowMs }: BindingFilePlace, files: LogFiles = nodeLogFiles): Promise<OpenedBindings> {
    const path = join(folder, BINDINGS_FILE);
    try {
      const tables = new Map<string, BindingTable>();
      await files.remove(join(folder, NEXT_FILE));
      const present = await files.open(path);
      if (present === undefined) return { ...(await BindingFile.#create(folder, files)), tables };
      const reading = await guarded(present, async () => {
        const read = await readBindingFile(present, (record) => tableOf(tables, record).apply(record));
        refuseNewer(path, read);
        if (read.tornOctets === 0) return read;
        await present.truncate(read.length);
        await present.flush();
        return read;
      });
      const file = new BindingFile({ folder, files, file: present, length: reading.length, records: reading.records });
      if (reading.corrupt.length === 0) return { file, tables, reading };
      const setAsideAs = `${path}.corrupt-${nowMs()}`;
      await file.#replaceAside(recordsOf(tables), setAsideAs);
      return { file, tables, reading, setAsideAs };
    } catch (error) {
      if (error instanceof CommandError) throw error;
      throw new CommandError(`bindings ${path} cannot be used: ${describeWriteFailure(error)}`, ExitCode.cannotCreate, {
        cause: error,
      });
    }
  }

  static async #create(folder: string, files: LogFiles): Promise<Omit<OpenedBindings, 'tables'>> {
    const written = await writeNext(folder, [], files);
    await guarded(written.file, () => publishNext(folder, files));
    await files.flushFolder(folder);
    const file = new BindingFile({ folder, files, ...written });
    return { file, reading: { length: written.length, tornOctets: 0, records: 0, corrupt: [] } };
  }

  private constructor(opened: {
    readonly folder: string;
    readonly files: LogFiles;
    readonly file: LogFile;
    readonly length: number;
    readonly records: number;
  }) {
    this.#folder = opened.folder;
    this.#files = opened.files;
    this.#file = opened.file;
    this.#length = opened.length;
    this.#recordsInFile = opened.records;
  }

  /** True if a snapshot would make the file much shorter. @param counting - the number of bindings and quarantines. */
  isLong(counting: number): boolean {
    return this.#recordsInFile > COUNTING_SHARE * counting + FEWEST_SUPERSEDED;
  }

  /**
   * Resolves when all of these are on the disk. Without records, it only repairs the file, if necessary.
   * @throws Error in words for a person; a restart finds none of them then, unless the process dies before the next call.
   */
  append(records: readonly BindingRecord[]): Promise<void> {
    return this.#inTurn(async () => {
      await this.#repair();
      if (records.length === 0) return;
      const bytes = Buffer.from(records.map(formatBindingLine).join(''));
      this.#soundness = 'cut-needed';
      await this.#file.append(bytes);
      this.#soundness = 'copy-needed';
      await this.#file.flush();
      this.#soundness = 'sound';
      this.#length += bytes.length;
      this.#recordsInFile += records.length;
    });
  }

  /** Resolves when the file holds only these records. @throws Error in words for a person; the file is unchanged then. */
  replace(records: Iterable<BindingRecord>): Promise<void> {
    return this.#inTurn(() => this.#replace(records));
  }

  /** Closes the file after operations that have begun. */
  async close(): Promise<void> {
    await this.#last;
    await this.#file.close();
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    const done = this.#last.then(work).catch((error: unknown) => {
      throw new Error(`bindings ${join(this.#folder, BINDINGS_FILE)} cannot be written: ${describeWriteFailure(error)}`, {
        cause: error,
      });
    });
    this.#last = done.catch(() => undefined);
    return done;
  }

  async #repair(): Promise<void> {
    if (this.#soundness === 'cut-needed') {
      await this.#file.truncate(this.#length);
      await this.#file.flush();
      this.#soundness = 'sound';
    } else if (this.#soundness === 'copy-needed') await this.#copy();
  }

  async #copy(): Promise<void> {
    const copy = await this.#files.create(join(this.#folder, NEXT_FILE));
    await guarded(copy, async () => {
      const buffer = Buffer.allocUnsafe(COPIED_OCTETS);
      for (let position = 0; position < this.#length; ) {
        const octets = await this.#file.read(buffer.subarray(0, Math.min(COPIED_OCTETS, this.#length - position)), position);
        if (octets === 0) throw new Error('the file is shorter than what was written to it');
        await copy.append(buffer.subarray(0, octets));
        position += octets;
      }
      await copy.flush();
    });
    await this.#take({ file: copy, length: this.#length, records: this.#recordsInFile });
  }

  async #replace(records: Iterable<BindingRecord>): Promise<void> {
    const snapshot = await writeNext(this.#folder, records, this.#files);
    await this.#take(snapshot);
  }

  async #replaceAside(records: Iterable<BindingRecord>, setAsideAs: string): Promise<void> {
    const aside = await this.#files.create(setAsideAs);
    await guarded(aside, async () => {
      const buffer = Buffer.allocUnsafe(COPIED_OCTETS);
      for (let position = 0; ; ) {
        const octets = await this.#file.read(buffer, position);
        if (octets === 0) break;
        await aside.append(buffer.subarray(0, octets));
        position += octets;
      }
      await aside.flush();
    });
    await aside.close();
    await this.#replace(records);
  }

  /** After the rename, a restart finds the new file, so append to it even if flushing the folder fails. */
  async #take(next: Written): Promise<void> {
    await guarded(next.file, () => publishNext(this.#folder, this.#files));
    const former = this.#file;
    this.#file = next.file;
    this.#length = next.length;
    this.#recordsInFile = next.records;
    // Until the folder is flushed, a crash may bring back the old file, without anything appended from now on.
    this.#soundness = 'copy-needed';
    await former.close().catch(() => undefined);
    await this.#files.flushFolder(this.#folder);
    this.#soundness = 'sound';
  }
}

function refuseNewer(path: string, { newerVersion }: BindingFileReading): void {
  if (newerVersion === undefined) return;
  throw new CommandError(
    `bindings ${path}: it has format version ${newerVersion}; this program reads ${BINDING_FILE_VERSION}; run the version of vmdhcp-agent that has written it, or ` +
      'move the file away to begin without the leases recorded in it',
    ExitCode.invalidData,
  );
}
