import { ADDRESS_STATES } from '../../model/page-data.js';
import { OVERVIEW_COLUMNS, type OverviewShape } from './address-blocks.js';
import type { AddressStates } from './address-states.js';

/** The order of urgency: a cell with several addresses shows the most urgent state. */
const PRIORITY = ['quarantined', 'server', 'router', 'used', 'reserved', 'free', 'excluded', 'outside'] as const;
const RANKS = ADDRESS_STATES.map((state) => PRIORITY.indexOf(state));

/** Colours of the states in the order of `ADDRESS_STATES`, as pixels of an `ImageData`: 0xAABBGGRR on a little-endian machine. */
export type Palette = Uint32Array;

/** Writes the cells from offset `from` up to, not including, `to` as pixels, one for each cell. */
export function paintCells(
  { states, shape, palette }: { readonly states: AddressStates; readonly shape: OverviewShape; readonly palette: Palette },
  pixels: Uint32Array,
  { from, to }: { readonly from: number; readonly to: number },
): void {
  const { perCell } = shape;
  const last = Math.min(Math.ceil(to / perCell), shape.rows * OVERVIEW_COLUMNS);
  for (let cell = Math.floor(from / perCell); cell < last; cell++) {
    const code = perCell === 1 ? (states.codes[cell] ?? 0) : mostUrgent(states.codes, cell * perCell, perCell);
    pixels[cell] = palette[code] ?? 0;
  }
}

function mostUrgent(codes: Uint8Array, from: number, count: number): number {
  let found = codes[from] ?? 0;
  for (let offset = from + 1; offset < from + count; offset++) {
    const code = codes[offset] ?? 0;
    if ((RANKS[code] ?? 0) < (RANKS[found] ?? 0)) found = code;
  }
  return found;
}

/** Converts a computed colour of the browser, `rgb(35, 104, 173)`, to a pixel. @throws Error for any other form. */
export function toPixel(color: string): number {
  const [red, green, blue] = (/^rgba?\((\d+), (\d+), (\d+)/.exec(color) ?? []).slice(1).map(Number);
  if (red === undefined || green === undefined || blue === undefined) throw new Error(`not a colour as computed: ${color}`);
  return ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
}
