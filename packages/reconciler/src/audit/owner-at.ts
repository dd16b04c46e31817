/** Answers who had an address at a time: the answer is correct, or says that this is unknown. */
import type { Ipv4Address } from '@vmdhcp/dhcp-allocator';
import type { AssignmentRecord } from './assignment-record.js';

/** A period in which records may be missing: from `from` up to, not including, `to`, in milliseconds. */
export interface Gap {
  readonly fromMs: number;
  readonly untilMs: number;
}

/** The records of a pool. */
export interface PoolRecords {
  readonly records: readonly AssignmentRecord[];
  /** Assignments that ended before this time may have no record. */
  readonly completeFromMs: number;
  /** Events at or after this time may not be recorded yet. */
  readonly completeUntilMs: number;
  readonly gaps: readonly Gap[];
}

/** Who had an address at a time, or why that is not known. */
export type OwnerAnswer =
  | { readonly kind: 'assigned'; readonly record: AssignmentRecord }
  | { readonly kind: 'free' }
  /** @see UNKNOWN_REASONS */
  | {
      readonly kind: 'not-known';
      readonly reason: UnknownReason;
      /** The clients right before and after, or those that may have had it. */
      readonly candidates: readonly AssignmentRecord[];
    };

/** Why it is not known who had an address. */
export const UNKNOWN_REASONS = {
  'older-than-records': 'the records of the pool do not reach so far back',
  'nothing-recorded':
    'nothing was recorded at that time: the controller had stopped, its clock was wrong, or its records could not be written or are lost',
  'not-recorded-yet': 'the records do not reach so far yet',
  'time-not-exact': 'the address changed its client about that time, and it is not known when',
} as const satisfies Readonly<Record<string, string>>;
/** Why it is not known who had an address. */
export type UnknownReason = keyof typeof UNKNOWN_REASONS;

/** @param atMs - milliseconds since 1970. */
export function ownerAt(pool: PoolRecords, address: Ipv4Address, atMs: number): OwnerAnswer {
  const candidates = pool.records.filter((record) => record.address === address && mayHaveHadIt(record, atMs));
  const certain = candidates.filter((record) => hadIt(record, atMs));
  const missing = missingAt(pool, atMs);
  if (missing !== undefined) return { kind: 'not-known', reason: missing, candidates };
  const [record] = certain;
  if (record !== undefined && certain.length === 1) return { kind: 'assigned', record };
  if (candidates.length > 0) return { kind: 'not-known', reason: 'time-not-exact', candidates };
  return atMs < pool.completeFromMs ? { kind: 'not-known', reason: 'older-than-records', candidates } : { kind: 'free' };
}

function missingAt({ gaps, completeUntilMs }: PoolRecords, atMs: number): UnknownReason | undefined {
  if (gaps.some(({ fromMs, untilMs }) => fromMs <= atMs && atMs < untilMs)) return 'nothing-recorded';
  return atMs >= completeUntilMs ? 'not-recorded-yet' : undefined;
}

function hadIt({ from, end }: AssignmentRecord, atMs: number): boolean {
  return from.notAfterMs <= atMs && (end === undefined || atMs < end.to.notBeforeMs);
}

function mayHaveHadIt({ from, end }: AssignmentRecord, atMs: number): boolean {
  return from.notBeforeMs <= atMs && (end === undefined || atMs < end.to.notAfterMs);
}
