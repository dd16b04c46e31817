import { element, fill } from '../dom/element.js';
import { BLOCK_SIZE, OVERVIEW_COLUMNS, type OverviewShape, toOverviewShape } from './address-blocks.js';
import type { AddressStates } from './address-states.js';
import { toAxis, toDots } from './map-dots.js';
import { type Palette, paintCells } from './paint-overview.js';

/** The callbacks of the picture, with the offset of an address. */
export interface SubnetCanvasListener {
  readonly onSelect: (offset: number) => void;
  /** Undefined if the pointer is not on an address. */
  readonly onHover: (offset: number | undefined) => void;
}

/** A subnet of more than 256 addresses as a picture: a row is a /24, a pixel an address; larger than /16, a pixel is several addresses. */
export class SubnetCanvas {
  readonly element: HTMLElement;
  readonly #canvas: HTMLCanvasElement;
  readonly #marker: HTMLElement;
  readonly #dots = element('div', { 'aria-hidden': 'true' });
  readonly #states: AddressStates;
  readonly #shape: OverviewShape;
  readonly #image: ImageData;
  readonly #pixels: Uint32Array;
  #palette: Palette;
  /** The rows to redraw: from the first up to, not including, the second number. */
  #dirty: [number, number] | undefined;
  #isDrawnSoon = false;

  constructor(states: AddressStates, palette: Palette, listener: SubnetCanvasListener) {
    this.#states = states;
    this.#palette = palette;
    this.#shape = toOverviewShape(states.size);
    const { rows } = this.#shape;
    this.#image = new ImageData(OVERVIEW_COLUMNS, rows);
    this.#pixels = new Uint32Array(this.#image.data.buffer);
    const label = `Picture of all ${states.size} addresses. The slider below selects a block of 256; the table of blocks has the same in numbers.`;
    this.#canvas = element('canvas', {
      width: OVERVIEW_COLUMNS,
      height: rows,
      role: 'img',
      'aria-label': label,
      class: toHeightClass(rows),
    });
    this.#marker = element('div', { class: 'marker', 'aria-hidden': 'true' });
    const picture = element('div', { class: 'subnet' }, [this.#canvas, this.#dots, this.#marker]);
    this.element = element('div', { class: 'subnet-axis' }, [this.#makeAxis(), picture]);
    this.#canvas.addEventListener('click', (event) => listener.onSelect(this.#offsetOf(event)));
    this.#canvas.addEventListener('pointermove', (event) => listener.onHover(this.#offsetOf(event)));
    this.#canvas.addEventListener('pointerleave', () => listener.onHover(undefined));
    this.refresh(0, states.size);
  }

  /** Redraws the addresses from offset `from` up to, not including, `to`, with the next frame. */
  refresh(from: number, to: number): void {
    paintCells({ states: this.#states, shape: this.#shape, palette: this.#palette }, this.#pixels, { from, to });
    const perRow = OVERVIEW_COLUMNS * this.#shape.perCell;
    const [first, last] = [Math.floor(from / perRow), Math.min(Math.ceil(to / perRow), this.#shape.rows)];
    this.#dirty = this.#dirty === undefined ? [first, last] : [Math.min(this.#dirty[0], first), Math.max(this.#dirty[1], last)];
    if (!this.#isDrawnSoon) requestAnimationFrame(() => this.#draw());
    this.#isDrawnSoon = true;
  }

  /** Redraws everything in new colours. */
  recolor(palette: Palette): void {
    this.#palette = palette;
    this.refresh(0, this.#states.size);
  }

  /** Marks the block that is shown in detail. */
  mark(block: number): void {
    const cells = countCells(this.#states.size, this.#shape);
    const at = Math.floor((block * BLOCK_SIZE) / this.#shape.perCell);
    const rows = this.#shape.rows;
    // Set through the object model, because the page allows no style attributes.
    this.#marker.style.top = toPercent(Math.floor(at / OVERVIEW_COLUMNS), rows);
    this.#marker.style.height = toPercent(1, rows);
    this.#marker.hidden = at >= cells;
  }

  /** Which addresses a row has: the table of blocks names them for screen readers. */
  #makeAxis(): HTMLElement {
    const marks = toAxis(this.#states, this.#shape).map(({ row, text }) => {
      const mark = element('span', {}, text);
      mark.style.top = toPercent(row, this.#shape.rows);
      return mark;
    });
    return element('div', { class: 'axis', 'aria-hidden': 'true' }, marks);
  }

  #drawDots(): void {
    const dots = toDots(this.#states, this.#shape).map(({ state, column, row }) => {
      const dot = element('i', { class: `dot-mark state-${state}` });
      dot.style.left = toPercent(column + 0.5, OVERVIEW_COLUMNS);
      dot.style.top = toPercent(row + 0.5, this.#shape.rows);
      return dot;
    });
    fill(this.#dots, dots);
  }

  #draw(): void {
    this.#isDrawnSoon = false;
    const [from, to] = this.#dirty ?? [0, 0];
    this.#dirty = undefined;
    this.#drawDots();
    this.#canvas.getContext('2d')?.putImageData(this.#image, 0, 0, 0, from, OVERVIEW_COLUMNS, to - from);
    if (performance.getEntriesByName('vmdhcp-picture').length === 0) performance.mark('vmdhcp-picture');
  }

  #offsetOf(event: MouseEvent): number {
    const { width, height } = this.#canvas.getBoundingClientRect();
    const column = toCell(event.offsetX / width, OVERVIEW_COLUMNS);
    const row = toCell(event.offsetY / height, this.#shape.rows);
    return Math.min((row * OVERVIEW_COLUMNS + column) * this.#shape.perCell, this.#states.size - 1);
  }
}

function toPercent(part: number, whole: number): string {
  return `${(100 * part) / whole}%`;
}

function toCell(share: number, count: number): number {
  return Math.min(Math.max(Math.floor(share * count), 0), count - 1);
}

function countCells(size: number, shape: OverviewShape): number {
  return Math.ceil(size / shape.perCell);
}

/** If there are few rows, they are drawn higher, so that a pointer can hit them. */
function toHeightClass(rows: number): string {
  if (rows <= 8) return 'rows-8';
  return rows <= 64 ? 'rows-64' : 'rows-256';
}
