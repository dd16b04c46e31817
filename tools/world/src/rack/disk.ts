/** A disk on which operations take time, which loses what was not flushed with the power, and to which an old copy may be restored. */
import type { FakeProcess } from '@vmdhcp/dhcp-agent/testing';
import type { Random } from '@vmdhcp/kube-runtime/testing';
import type { LogFile, LogFiles } from '@vmdhcp/lease-stores';
import type { Scheduler } from '../time/scheduler.js';

interface StoredFile {
  content: Buffer;
  /** What power cannot take. */
  flushed: Buffer;
}

const NORMAL_MS = 4;

export class Disk {
  readonly #scheduler: Scheduler;
  readonly #random: Random;
  #names = new Map<string, StoredFile>();
  #flushedNames = new Map<string, StoredFile>();
  /** The longest time of an operation. */
  mostMs = NORMAL_MS;
  /** True if nothing can be added. */
  isFull = false;

  constructor(scheduler: Scheduler, random: Random) {
    this.#scheduler = scheduler;
    this.#random = random;
  }

  /** Everything works again. */
  mend(): void {
    this.mostMs = NORMAL_MS;
    this.isFull = false;
  }

  /** What was not flushed survives in part: the beginning of it, and names as they were, or as they should be. */
  losePower(): void {
    const names = this.#random(2) === 0 ? this.#names : this.#flushedNames;
    for (const file of new Set(names.values())) {
      const { content, flushed } = file;
      const more = Math.max(0, content.length - flushed.length);
      const isLonger = content.length >= flushed.length;
      file.content = isLonger ? content.subarray(0, flushed.length + this.#random(more + 1)) : flushed;
      file.flushed = file.content;
    }
    this.#names = new Map(names);
    this.#flushedNames = new Map(names);
  }

  /** Copies what the disk has now. Returns what restores the copy: nobody may use the disk then. */
  copy(): () => void {
    const contents = [...this.#names].map(([name, { content }]) => [name, content] as const);
    return () => {
      this.#names = new Map(contents.map(([name, content]) => [name, { content, flushed: content }]));
      this.#flushedNames = new Map(this.#names);
    };
  }

  /** The files as a process sees them: what it has begun ends when it is killed. */
  filesOf(process: FakeProcess): LogFiles {
    const during = async <Result>(run: () => Result): Promise<Result> => {
      await process.settled(this.#scheduler.sleep((this.#random(1_000) / 1_000) * this.mostMs));
      return run();
    };
    return {
      open: (path) =>
        during(() => {
          const file = this.#names.get(path);
          return file && this.#handleOf(file, during);
        }),
      create: (path) =>
        during(() => {
          const file = { content: Buffer.alloc(0), flushed: Buffer.alloc(0) };
          this.#names.set(path, file);
          return this.#handleOf(file, during);
        }),
      rename: (from, to) =>
        during(() => {
          const file = this.#names.get(from);
          if (file === undefined) throw new Error(`there is no ${from}`);
          this.#names.delete(from);
          this.#names.set(to, file);
        }),
      remove: (path) => during(() => void this.#names.delete(path)),
      flushFolder: () =>
        during(() => {
          this.#flushedNames = new Map(this.#names);
        }),
    };
  }

  #handleOf(file: StoredFile, during: <Result>(run: () => Result) => Promise<Result>): LogFile {
    const add = (bytes: Uint8Array) => {
      file.content = Buffer.concat([file.content, bytes]);
    };
    return {
      // In two steps: a process may be killed between them.
      append: async (bytes) => {
        const half = this.#random(bytes.length + 1);
        await during(() => add(bytes.subarray(0, half)));
        if (this.isFull) throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
        await during(() => add(bytes.subarray(half)));
      },
      read: (into, position) => during(() => file.content.copy(into, 0, position)),
      flush: () =>
        during(() => {
          file.flushed = file.content;
        }),
      truncate: (length) =>
        during(() => {
          file.content = file.content.subarray(0, length);
        }),
      close: async () => undefined,
    };
  }
}
