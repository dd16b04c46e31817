import { ADDRESS_STATES, type AddressState } from '../../model/page-data.js';
import { OVERVIEW_COLUMNS, type OverviewShape } from './address-blocks.js';
import type { AddressStates } from './address-states.js';

/** States that matter even for a single address, the most urgent first. */
const SMALL: readonly AddressState[] = ['quarantined', 'server', 'router', 'reserved'];
/** The number of consecutive cells that is too small to be seen. */
const MOST_CELLS = 3;
const MOST_DOTS = 200;

/** A mark in the picture of a subnet, in cells. */
export interface MapDot {
  readonly state: AddressState;
  readonly column: number;
  readonly row: number;
}

/**
 * Marks for addresses that the picture of a whole subnet would hide, a few consecutive ones with the same state. If there are too many, only the most
 * urgent ones.
 */
export function toDots({ codes, size }: AddressStates, { perCell }: OverviewShape): readonly MapDot[] {
  const dots: MapDot[] = [];
  for (let from = 0, to = 1; from < size; from = to++) {
    while (to < size && codes[to] === codes[from]) to++;
    const state = ADDRESS_STATES[codes[from] ?? 0] ?? 'outside';
    if (to - from > MOST_CELLS * perCell || !SMALL.includes(state)) continue;
    const cell = Math.floor((from + to - 1) / 2 / perCell);
    dots.push({ state, column: cell % OVERVIEW_COLUMNS, row: Math.floor(cell / OVERVIEW_COLUMNS) });
  }
  const rankOf = ({ state }: MapDot): number => SMALL.indexOf(state);
  return dots.sort((one, other) => rankOf(one) - rankOf(other)).slice(0, MOST_DOTS);
}

/** A row of the picture, and the common prefix of its addresses. */
export interface AxisMark {
  readonly row: number;
  readonly text: string;
}

const MOST_MARKS = 8;

/** Names of rows at the left of the picture: the third octet; of rows with more than a /24 the second one too. */
export function toAxis(states: AddressStates, { rows, perCell }: OverviewShape): readonly AxisMark[] {
  const step = Math.max(Math.ceil(rows / MOST_MARKS), 1);
  return Array.from({ length: Math.ceil(rows / step) }, (_, index) => {
    const [, second = '', third = ''] = states.addressAt(index * step * OVERVIEW_COLUMNS * perCell).split('.');
    return { row: index * step, text: perCell === 1 ? `.${third}` : `.${second}.${third}` };
  });
}
