/**
 * Keeps the data of a store over a restart: one line of JSON per write, appended as it happens. A line is in the hands of the
 * operating system before the write is answered, so that killing the process loses nothing that was acknowledged.
 */
import { closeSync, existsSync, openSync, readFileSync, renameSync, writeFileSync, writeSync } from 'node:fs';
import type { Journal, JournalEntry } from './object-store.js';

export interface StoredEntry {
  readonly collection: string;
  readonly key: string;
  readonly json: Buffer;
}

interface Line {
  readonly c: string;
  readonly k: string;
  readonly v: number;
  /** The object; absent: deleted. */
  readonly o?: unknown;
}

export class DataFile implements Journal {
  readonly #file: string;
  #descriptor: number | undefined;
  readonly entries: readonly StoredEntry[];
  readonly resourceVersion: number;

  /** Reads what is there, and writes it back without its history. */
  constructor(file: string) {
    this.#file = file;
    const { entries, resourceVersion } = readEntries(file);
    this.entries = entries;
    this.resourceVersion = resourceVersion;
    this.#rewrite();
    this.#descriptor = openSync(file, 'a', 0o600);
  }

  append(entry: JournalEntry): void {
    if (this.#descriptor !== undefined) writeSync(this.#descriptor, lineOf(entry));
  }

  close(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#descriptor = undefined;
  }

  #rewrite(): void {
    const lines = this.entries.map((entry) => lineOf({ ...entry, resourceVersion: this.resourceVersion }));
    const next = `${this.#file}.next`;
    writeFileSync(next, lines.join(''), { mode: 0o600 });
    renameSync(next, this.#file);
  }
}

function lineOf({ collection, key, resourceVersion, json }: JournalEntry): string {
  const head = `{"c":${JSON.stringify(collection)},"k":${JSON.stringify(key)},"v":${resourceVersion}`;
  return json === undefined ? `${head}}\n` : `${head},"o":${json.toString('utf8')}}\n`;
}

function readEntries(file: string): { readonly entries: readonly StoredEntry[]; readonly resourceVersion: number } {
  if (!existsSync(file)) return { entries: [], resourceVersion: 1 };
  const entries = new Map<string, StoredEntry>();
  let resourceVersion = 1;
  for (const text of readFileSync(file, 'utf8').split('\n')) {
    const line = parseLine(text);
    if (line === undefined) continue;
    resourceVersion = Math.max(resourceVersion, line.v);
    const id = `${line.c} ${line.k}`;
    if (line.o === undefined) entries.delete(id);
    else entries.set(id, { collection: line.c, key: line.k, json: Buffer.from(JSON.stringify(line.o)) });
  }
  return { entries: [...entries.values()], resourceVersion };
}

/** A last line that was cut off by a crash was never acknowledged. */
function parseLine(text: string): Line | undefined {
  if (text === '') return undefined;
  try {
    return JSON.parse(text) as Line;
  } catch {
    return undefined;
  }
}
