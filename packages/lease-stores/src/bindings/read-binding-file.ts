import type { BindingRecord } from '@vmdhcp/dhcp-allocator';
import { type BindingLineFault, parseBindingLine } from './binding-line.js';
import { describeLost } from './describe-lost.js';
import type { LogFile } from './log-files.js';

/** The first line of the file, without its version. */
export const FORMAT = 'vmdhcp-agent-bindings';
export const BINDING_FILE_VERSION = 1;

const CHUNK_OCTETS = 1 << 16;
/** A longer line is not valid. */
const LONGEST_LINE = 4_096;
const LINE_FEED = 10;

/** A line before the last one that holds no valid record. */
export interface CorruptLine {
  /** The line number, from 1. */
  readonly line: number;
  readonly reason: BindingLineFault | 'header-invalid';
  /** What was lost, as far as the line shows it. */
  readonly lost: string;
}

export interface BindingFileReading {
  /** The length of the whole lines at the start of the file. */
  readonly length: number;
  /**
   * The length of the data after the last whole line: the rest of a write that a crash interrupted, and that was never
   * acknowledged.
   */
  readonly tornOctets: number;
  /** The number of records that were read. */
  readonly records: number;
  readonly corrupt: readonly CorruptLine[];
  /** The format version, if it is later than ours: then nothing was read. */
  readonly newerVersion?: number;
}

/** Passes on every record of the file, in order. @throws any read error. */
export async function readBindingFile(
  file: Pick<LogFile, 'read'>,
  onRecord: (record: BindingRecord) => void,
): Promise<BindingFileReading> {
  const reader = new LineReader(onRecord);
  const chunk = Buffer.allocUnsafe(CHUNK_OCTETS);
  let position = 0;
  for (;;) {
    const octets = await file.read(chunk, position);
    if (octets === 0 || reader.newerVersion !== undefined) break;
    position += octets;
    reader.take(chunk.subarray(0, octets));
  }
  return reader.end();
}

class LineReader {
  newerVersion: number | undefined;
  readonly #onRecord: (record: BindingRecord) => void;
  readonly #corrupt: CorruptLine[] = [];
  #rest = Buffer.alloc(0);
  #line = 0;
  #length = 0;
  #records = 0;

  constructor(onRecord: (record: BindingRecord) => void) {
    this.#onRecord = onRecord;
  }

  take(chunk: Buffer): void {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    let start = 0;
    for (let end = bytes.indexOf(LINE_FEED); end >= 0; end = bytes.indexOf(LINE_FEED, start)) {
      this.#takeLine(bytes.subarray(start, end));
      start = end + 1;
    }
    this.#length += start;
    this.#rest = Buffer.from(bytes.subarray(start));
  }

  end(): BindingFileReading {
    const hasHeader = this.#line > 0;
    // Ours always has a whole one: another program wrote this file, and what is appended to it would not be found again.
    if (!hasHeader) this.#corrupt.push({ line: 1, reason: 'header-invalid', lost: describeLost(this.#rest.toString()) });
    return {
      length: this.#length,
      tornOctets: hasHeader ? this.#rest.length : 0,
      records: this.#records,
      corrupt: this.#corrupt,
      ...(this.newerVersion !== undefined && { newerVersion: this.newerVersion }),
    };
  }

  #takeLine(octets: Buffer): void {
    this.#line += 1;
    if (this.newerVersion !== undefined) return;
    const text = octets.toString('utf8', 0, LONGEST_LINE);
    if (this.#line === 1) {
      this.#takeHeader(text);
      return;
    }
    const reading = parseBindingLine(text);
    if (!reading.ok) {
      this.#corrupt.push({ line: this.#line, reason: reading.reason, lost: describeLost(text) });
      return;
    }
    this.#records += 1;
    this.#onRecord(reading.record);
  }

  #takeHeader(text: string): void {
    if (text === `${FORMAT} ${BINDING_FILE_VERSION}`) return;
    const [format, version] = text.split(' ');
    if (format === FORMAT && Number(version) > BINDING_FILE_VERSION) this.newerVersion = Number(version);
    else this.#corrupt.push({ line: 1, reason: 'header-invalid', lost: describeLost(text) });
  }
}
