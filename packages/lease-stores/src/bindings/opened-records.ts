import type { BindingStore, BindingTable } from '@vmdhcp/dhcp-allocator';

/** Stores records so that they survive: in a file, or in API objects. */
export interface RecordStore extends BindingStore {
  /** True if a snapshot would make the stored data much shorter. @param counting - the number of bindings and quarantines. */
  readonly isLong: (counting: number) => boolean;
  /** Closes the store after operations that have begun. */
  readonly close: () => Promise<void>;
  /** Called after a failure until it resolves; if it is missing, a snapshot is taken instead. */
  readonly repair?: () => Promise<void>;
  /** Describes lost records, which a snapshot restores. Called from time to time. */
  readonly check?: () => Promise<readonly string[]>;
}

/** What the log should say about opening the store. */
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

/** A line without a valid record. */
export interface LostLine {
  /** The line number, from 1. */
  readonly line: number;
  readonly reason: string;
  /** What was lost, as far as the line shows it. */
  readonly lost: string;
}

/** The largest number of log lines about corrupt records; the kept copy has all of them. */
const MOST_CORRUPT_LINES = 20;

/** @param fields - log fields that say where they are, and where the copy is. */
export function reportCorrupt(corrupt: readonly LostLine[], fields: object): RecordReport[] {
  const reports: RecordReport[] = corrupt.slice(0, MOST_CORRUPT_LINES).map(({ line, reason, lost }) => ({
    ...{ level: 'error', fields: { ...fields, line, reason } },
    message: `line ${line} of the bindings is corrupt and is ignored: ${lost}`,
  }));
  const more = corrupt.length - MOST_CORRUPT_LINES;
  if (more > 0)
    reports.push({ level: 'error', fields, message: `${more} more lines of the bindings are corrupt and are ignored` });
  return reports;
}
