/**
 * The stored records of one pool: slices, each with batches of lines. A line is a record, or states what the records cover. If two lines have the
 * same serial, the one with an end counts, so lines may be duplicated, and in any order.
 */
import { formatTime, isRecord, parseTime, readText } from '@vmdhcp/kube-runtime';
import type { AssignmentRecord } from './assignment-record.js';
import type { OpenRecords } from './follow-pool.js';
import { parseRecord, toRecordText } from './record-text.js';

/** Records that are written together. */
export interface Batch {
  readonly records: readonly AssignmentRecord[];
  /** Assignments that ended before this time may have no record; undefined if unchanged. */
  readonly completeFromMs?: number | undefined;
}

/** The content that was read. */
export interface PoolLog {
  /** By serial. */
  readonly records: ReadonlyMap<number, AssignmentRecord>;
  readonly completeFromMs: number;
  /** The number of invalid lines, which are ignored. */
  readonly unreadable: number;
}

/** One line each. */
export function formatBatch({ records, completeFromMs }: Batch): string {
  const head = completeFromMs === undefined ? [] : [JSON.stringify({ completeFrom: formatTime(completeFromMs) })];
  return [...head, ...records.map((record) => JSON.stringify(toRecordText(record)))].join('\n');
}

/** Never throws. @param batches - in any order. */
export function readPoolLog(batches: Iterable<unknown>): PoolLog {
  const records = new Map<number, AssignmentRecord>();
  let completeFromMs = Number.NEGATIVE_INFINITY;
  let unreadable = 0;
  for (const line of linesOf(batches)) {
    const value = parseJson(line);
    const from = isRecord(value) ? parseTime(readText(value, 'completeFrom')) : Number.NaN;
    const record = parseRecord(value);
    if (record !== undefined) records.set(record.serial, laterOf(records.get(record.serial), record));
    else if (Number.isNaN(from)) unreadable++;
    else completeFromMs = Math.max(completeFromMs, from);
  }
  return { records, completeFromMs, unreadable };
}

function* linesOf(batches: Iterable<unknown>): Iterable<string> {
  for (const batch of batches) if (typeof batch === 'string') yield* batch.split('\n').filter((line) => line !== '');
}

function laterOf(known: AssignmentRecord | undefined, record: AssignmentRecord): AssignmentRecord {
  return known?.end === undefined ? record : known;
}

/** If there are two for one address, which only a manual edit can cause, the later one. */
export function openRecordsOf({ records }: Pick<PoolLog, 'records'>): OpenRecords {
  const byAddress = new Map<number, AssignmentRecord>();
  let last = 0;
  for (const record of records.values()) {
    last = Math.max(last, record.serial);
    const { address, serial, end } = record;
    if (end === undefined && (byAddress.get(address)?.serial ?? 0) < serial) byAddress.set(address, record);
  }
  return { byAddress: byAddress as OpenRecords['byAddress'], nextSerial: last + 1 };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
