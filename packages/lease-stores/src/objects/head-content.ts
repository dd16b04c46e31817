import { isRecord, readField } from '@vmdhcp/kube-runtime';

/** The records that count: those of these slices, in this order, then the lines below. */
export interface HeadContent {
  readonly slices: readonly string[];
  /** Lines, each with its end. */
  readonly records: string;
}

/** The writer of the head. */
export interface HeadLeader {
  /** Identifies one run of one agent. */
  readonly identity: string;
  /** From 1; each agent that takes over increments it. */
  readonly term: number;
  /** From 0 in each term; it distinguishes one write from another. */
  readonly write: number;
}

/** The valid part of what is stored: a person may have edited it. */
export interface StoredHead extends HeadContent {
  readonly leader: HeadLeader | undefined;
}

/** Never throws. */
export function readHead(object: { readonly spec?: unknown }): StoredHead {
  const { spec } = object;
  const [slices, records, leader] = [readField(spec, 'slices'), readField(spec, 'records'), readField(spec, 'leader')];
  return {
    slices: Array.isArray(slices) ? slices.filter((one) => typeof one === 'string') : [],
    records: typeof records === 'string' ? records : '',
    leader: readLeader(leader),
  };
}

export function isSameContent(one: HeadContent, other: HeadContent): boolean {
  return (
    one.records === other.records &&
    one.slices.length === other.slices.length &&
    one.slices.every((name, index) => name === other.slices[index])
  );
}

function readLeader(value: unknown): HeadLeader | undefined {
  if (!isRecord(value)) return undefined;
  const { identity, term, write = 0 } = value;
  if (typeof identity !== 'string' || typeof term !== 'number' || typeof write !== 'number') return undefined;
  return Number.isSafeInteger(term) && term > 0 ? { identity, term, write } : undefined;
}
