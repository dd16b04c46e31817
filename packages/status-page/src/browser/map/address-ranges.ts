import type { AddressState } from '../../model/page-data.js';
import { BLOCK_SIZE, countBlocks } from './address-blocks.js';
import type { AddressStates, StateCounts } from './address-states.js';

/** Consecutive addresses with the same state. */
export interface AddressRange {
  readonly state: AddressState;
  readonly first: string;
  readonly last: string;
  readonly count: number;
}

/** The addresses from offset `from` up to, not including, `to`, as ranges of one state. */
export function toRanges(states: AddressStates, from: number, to: number): readonly AddressRange[] {
  const ranges: AddressRange[] = [];
  const end = Math.min(to, states.size);
  let start = from;
  for (let offset = from + 1; offset <= end; offset++) {
    if (offset < end && states.codes[offset] === states.codes[start]) continue;
    const range = { state: states.stateAt(start), first: states.addressAt(start), last: states.addressAt(offset - 1) };
    ranges.push({ ...range, count: offset - start });
    start = offset;
  }
  return ranges;
}

/** A block of 256 addresses in numbers. */
export interface BlockRow {
  readonly block: number;
  readonly first: string;
  readonly counts: StateCounts;
}

/** The blocks of a subnet that have any address in the range of the pool, at most `limit`. */
export function toBlockRows(states: AddressStates, limit: number): readonly BlockRow[] {
  const rows: BlockRow[] = [];
  for (let block = 0; block < countBlocks(states.size) && rows.length < limit; block++) {
    const from = block * BLOCK_SIZE;
    const size = Math.min(BLOCK_SIZE, states.size - from);
    const counts = states.count(from, from + size);
    if (counts.outside < size) rows.push({ block, first: states.addressAt(from), counts });
  }
  return rows;
}
