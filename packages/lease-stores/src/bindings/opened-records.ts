import type { BindingStore, BindingTable } from '@vmdhcp/dhcp-allocator';

/** Where records of leases survive: a file, API objects. */
export interface RecordStore extends BindingStore {
  /** True if a snapshot would make what is stored much shorter. @param counting - how many bindings and quarantines there are. */
  readonly isLong: (counting: number) => boolean;
  /** Ends after what was begun. */
  readonly close: () => Promise<void>;
  /** Tried after a failure until it resolves; where it is missing, a snapshot is. */
  readonly repair?: () => Promise<void>;
  /** What was lost of what is stored, in words: a snapshot brings it back. Called from time to time. */
  readonly check?: () => Promise<readonly string[]>;
}

/** What a person is to know about the opening. */
export interface RecordReport {
  readonly level: 'info' | 'error';
  readonly message: string;
  readonly fields: object;
}

export interface OpenedRecords {
  readonly store: RecordStore;
  /** By pool. */
  readonly tables: ReadonlyMap<string, BindingTable>;
  readonly reports: readonly RecordReport[];
}

/** A line that holds no record that can be believed. */
export interface LostLine {
  /** From 1. */
  readonly line: number;
  readonly reason: string;
  /** What was lost, as far as the line shows it. */
  readonly lost: string;
}

/** Lines about corrupt records in the log; all of them are in what is kept. */
const MOST_CORRUPT_LINES = 20;

/** @param fields - where they are, and where they were kept. */
export function reportCorrupt(corrupt: readonly LostLine[], fields: object): RecordReport[] {
  const reports: RecordReport[] = corrupt.slice(0, MOST_CORRUPT_LINES).map(({ line, reason, lost }) => ({
    ...{ level: 'error', fields: { ...fields, line, reason } },
    message: `line ${line} of the bindings is corrupt and was left out: ${lost}`,
  }));
  const more = corrupt.length - MOST_CORRUPT_LINES;
  if (more > 0)
    reports.push({ level: 'error', fields, message: `${more} more lines of the bindings are corrupt and were left out` });
  return reports;
}
