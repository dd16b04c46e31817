/** Who had an address at a time: the answer is right, or it is that this is not known. */
import type { Ipv4Address } from '@vmdhcp/dhcp-allocator';
import type { AssignmentRecord } from './assignment-record.js';

/** A time of which records may be missing: from the one, until before the other, in milliseconds. */
export interface Gap {
  readonly fromMs: number;
  readonly untilMs: number;
}

/** What is recorded of a pool. */
export interface PoolRecords {
  readonly records: readonly AssignmentRecord[];
  /** Of assignments that ended before, there may be no record. */
  readonly completeFromMs: number;
  /** What happened then or later may not be recorded yet. */
  readonly completeUntilMs: number;
  readonly gaps: readonly Gap[];
}

export type OwnerAnswer =
  | { readonly kind: 'assigned'; readonly record: AssignmentRecord }
  | { readonly kind: 'free' }
  /** @see UNKNOWN_REASONS */
  | {
      readonly kind: 'not-known';
      readonly reason: UnknownReason;
      /** Who had it right before or after, or may have had it. */
      readonly candidates: readonly AssignmentRecord[];
    };

/** Why it is not known who had an address. */
export const UNKNOWN_REASONS = {
  'older-than-records': 'the records of the pool do not reach so far back',
  'nothing-recorded': 'nothing was recorded at that time: the controller had stopped, or its records could not be written',
  'not-recorded-yet': 'the records do not reach so far yet',
  'time-not-exact': 'the address changed its client about that time, and it is not known when',
} as const satisfies Readonly<Record<string, string>>;
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
