/**
 * A disk in memory that fails and crashes when a test tells it to. A crash may lose what was not flushed: a part at the end of
 * each file, and changes of names since the folder was flushed.
 */
import type { LogFile, LogFiles } from './log-files.js';

interface Node {
  content: Buffer;
  /** The number of octets at the start that a crash does not change. */
  flushed: Buffer;
}

export class Crash extends Error {}

/** What the disk does at each written octet and each other change, counted from 0. */
export interface DiskFaults {
  /** The machine loses power before this step. */
  readonly crashAtStep?: number;
  /** How much of the data that was not flushed survives: 0 to 1. */
  readonly survives?: number;
  /** Called at each write and flush; returns the error code with which it fails. */
  readonly failsWith?: (operation: 'append' | 'flush' | 'create' | 'rename') => string | undefined;
}

export class FakeDisk {
  #names = new Map<string, Node>();
  #flushedNames = new Map<string, Node>();
  #faults: DiskFaults = {};
  #hasCrashed = false;
  steps = 0;

  setFaults(faults: DiskFaults): void {
    this.#faults = faults;
    this.steps = 0;
  }

  textOf(path: string): string {
    return this.#names.get(path)?.content.toString() ?? '';
  }

  setText(path: string, text: string): void {
    const content = Buffer.from(text);
    const node = { content, flushed: content };
    this.#names.set(path, node);
    this.#flushedNames.set(path, node);
  }

  names(): string[] {
    return [...this.#names.keys()].toSorted();
  }

  /** Turns the machine on again, with the data on its disk. */
  restart(): void {
    const survives = this.#faults.survives ?? 0;
    const names = survives > 0.5 ? this.#names : this.#flushedNames;
    for (const node of new Set(names.values())) {
      node.content = survivingContent(node, survives);
      node.flushed = node.content;
    }
    this.#names = new Map(names);
    this.#flushedNames = new Map(names);
    this.#hasCrashed = false;
    this.setFaults({});
  }

  readonly files: LogFiles = {
    open: async (path) => {
      const node = this.#names.get(path);
      return node === undefined ? undefined : this.#handle(node);
    },
    create: async (path) => {
      this.#step('create');
      const node = { content: Buffer.alloc(0), flushed: Buffer.alloc(0) };
      this.#names.set(path, node);
      return this.#handle(node);
    },
    rename: async (from, to) => {
      this.#step('rename');
      const node = this.#names.get(from);
      if (node === undefined) throw new Error(`no ${from}`);
      this.#names.delete(from);
      this.#names.set(to, node);
    },
    remove: async (path) => {
      this.#step();
      this.#names.delete(path);
    },
    flushFolder: async () => {
      this.#step('flush');
      this.#flushedNames = new Map(this.#names);
    },
  };

  #handle(node: Node): LogFile {
    return {
      append: async (bytes) => {
        // Each octet is one step; those before the crash are written.
        const written = this.#hasCrashed ? 0 : Math.min(bytes.length, (this.#faults.crashAtStep ?? Infinity) - this.steps);
        node.content = Buffer.concat([node.content, bytes.subarray(0, written)]);
        this.steps += written;
        this.#step('append');
      },
      read: async (into, position) => node.content.copy(into, 0, position),
      flush: async () => {
        this.#step('flush');
        node.flushed = node.content;
      },
      truncate: async (length) => {
        this.#step();
        node.content = node.content.subarray(0, length);
      },
      close: async () => undefined,
    };
  }

  #step(operation?: 'append' | 'flush' | 'create' | 'rename'): void {
    if (this.#hasCrashed || this.steps === this.#faults.crashAtStep) {
      this.#hasCrashed = true;
      throw new Crash('the machine lost power');
    }
    this.steps += 1;
    const code = operation === undefined ? undefined : this.#faults.failsWith?.(operation);
    if (code !== undefined) throw Object.assign(new Error('refused'), { code });
  }
}

/** The flushed data, and a part of the changes since then. */
function survivingContent({ content, flushed }: Node, survives: number): Buffer {
  if (content.length < flushed.length) return survives > 0.5 ? content : flushed;
  return content.subarray(0, flushed.length + Math.round((content.length - flushed.length) * survives));
}
