/** Addresses of one detailed picture: 16 rows of 16. */
export const BLOCK_SIZE = 256;
/** Columns of the detailed picture. */
export const BLOCK_COLUMNS = 16;
/** Columns of the picture of the whole subnet: a row is a /24. */
export const OVERVIEW_COLUMNS = 256;
const MOST_OVERVIEW_ROWS = 256;

/** Blocks of a subnet: one for up to 256 addresses. */
export function countBlocks(size: number): number {
  return Math.max(Math.ceil(size / BLOCK_SIZE), 1);
}

/** How a whole subnet is drawn. */
export interface OverviewShape {
  readonly rows: number;
  /** Addresses of one cell: 1 up to a /16. */
  readonly perCell: number;
}

/** The shape of the picture of a subnet with `size` addresses, a power of two. */
export function toOverviewShape(size: number): OverviewShape {
  const perCell = Math.max(Math.ceil(size / (OVERVIEW_COLUMNS * MOST_OVERVIEW_ROWS)), 1);
  return { rows: Math.max(Math.ceil(size / (OVERVIEW_COLUMNS * perCell)), 1), perCell };
}

/** The effect of a key on the selected address. */
export type GridMove =
  | 'left'
  | 'right'
  | 'up'
  | 'down'
  | 'row-start'
  | 'row-end'
  | 'start'
  | 'end'
  | 'block-before'
  | 'block-after';

const MOVES: Readonly<Record<string, GridMove>> = {
  ArrowLeft: 'left',
  ArrowRight: 'right',
  ArrowUp: 'up',
  ArrowDown: 'down',
  Home: 'row-start',
  End: 'row-end',
  PageUp: 'block-before',
  PageDown: 'block-after',
};

/** The move for a key in a grid of addresses, according to the ARIA Authoring Practices; undefined for other keys. */
export function toGridMove(key: string, isControl: boolean): GridMove | undefined {
  if (isControl) return key === 'Home' ? 'start' : key === 'End' ? 'end' : undefined;
  return Object.hasOwn(MOVES, key) ? MOVES[key] : undefined;
}

/** The selected offset after a move. It stays in the subnet; left and right continue in the next row and block. */
export function moveInGrid(offset: number, move: GridMove, size: number): number {
  const column = offset % BLOCK_COLUMNS;
  const start = offset - (offset % BLOCK_SIZE);
  const moved = {
    left: offset - 1,
    right: offset + 1,
    up: offset - BLOCK_COLUMNS,
    down: offset + BLOCK_COLUMNS,
    'row-start': offset - column,
    'row-end': offset - column + BLOCK_COLUMNS - 1,
    start,
    end: start + BLOCK_SIZE - 1,
    'block-before': offset - BLOCK_SIZE,
    'block-after': offset + BLOCK_SIZE,
  }[move];
  if (moved >= 0 && moved < size) return moved;
  const isEdge = move === 'row-end' || move === 'end';
  return isEdge ? size - 1 : offset;
}
