import { element } from '../dom/element.js';
import { ADDRESS_STATE_WORDS } from '../text/state-words.js';
import { BLOCK_COLUMNS, BLOCK_SIZE, type GridMove, toGridMove } from './address-blocks.js';
import type { AddressStates } from './address-states.js';

/** The callbacks of the grid. */
export interface BlockGridListener {
  /** A key was pressed on the selected address. */
  readonly onMove: (move: GridMove) => void;
  /** The address at this offset was clicked. */
  readonly onSelect: (offset: number) => void;
  /** The pointer is on the address at this offset; undefined if it is on none. */
  readonly onHover: (offset: number | undefined) => void;
  /** The owner of an address, in words; empty if there is none, or it is not known. */
  readonly describeOwner: (offset: number) => string;
}

/**
 * Up to 256 addresses as a table of cells. It is an ARIA grid: the arrow keys move in it, and a screen reader reads each cell as
 * `192.168.48.17, used, default/web`.
 */
export class BlockGrid {
  readonly element: HTMLElement;
  readonly #listener: BlockGridListener;
  readonly #cells: readonly HTMLElement[];
  readonly #rowHeads: readonly HTMLElement[];
  readonly #table: HTMLElement;
  #states: AddressStates | undefined;
  /** Offset of the first address. */
  #from = 0;
  #selected = -1;

  constructor(size: number, listener: BlockGridListener) {
    this.#listener = listener;
    const shown = Math.min(size, BLOCK_SIZE);
    const rows = Math.ceil(shown / BLOCK_COLUMNS);
    this.#rowHeads = Array.from({ length: rows }, () => element('th', { scope: 'row' }));
    this.#cells = Array.from({ length: shown }, (_, index) =>
      element('td', { role: 'gridcell', tabindex: -1, 'data-cell': index }),
    );
    const heads = Array.from({ length: Math.min(BLOCK_COLUMNS, shown) }, (_, column) =>
      element('th', { scope: 'col', 'aria-label': `plus ${column}` }, `+${column}`),
    );
    const bodyRows = this.#rowHeads.map((head, row) =>
      element('tr', {}, [head, ...this.#cells.slice(row * BLOCK_COLUMNS, (row + 1) * BLOCK_COLUMNS)]),
    );
    this.#table = element('table', { class: 'grid', role: 'grid' }, [
      element('thead', {}, [element('tr', {}, [element('td'), ...heads])]),
      element('tbody', {}, bodyRows),
    ]);
    this.element = this.#table;
    this.#listen();
  }

  /** Shows the block that begins at offset `from`. */
  show(states: AddressStates, from: number): void {
    this.#states = states;
    this.#from = from;
    const last = Math.min(from + this.#cells.length, states.size) - 1;
    this.#table.setAttribute('aria-label', `Addresses ${states.addressAt(from)} to ${states.addressAt(last)}`);
    for (const [row, head] of this.#rowHeads.entries()) {
      const address = states.addressAt(from + row * BLOCK_COLUMNS);
      head.textContent = `.${address.split('.')[3]}`;
      head.setAttribute('aria-label', address);
    }
    this.refresh(from, from + this.#cells.length);
  }

  /** Redraws the visible addresses from offset `from` up to, not including, `to`. */
  refresh(from: number, to: number): void {
    const last = Math.min(to - this.#from, this.#cells.length);
    for (let index = Math.max(from - this.#from, 0); index < last; index++) this.#refreshCell(index);
  }

  /** Marks the selected address. With `isFocused`, the focus moves there. */
  select(offset: number, isFocused: boolean): void {
    const before = this.#cells[this.#selected];
    before?.setAttribute('tabindex', '-1');
    before?.removeAttribute('aria-selected');
    this.#selected = offset - this.#from;
    const cell = this.#cells[this.#selected];
    cell?.setAttribute('tabindex', '0');
    cell?.setAttribute('aria-selected', 'true');
    if (isFocused) cell?.focus();
  }

  #refreshCell(index: number): void {
    const [cell, states, offset] = [this.#cells[index], this.#states, this.#from + index];
    if (cell === undefined || states === undefined) return;
    const state = states.stateAt(offset);
    const owner = this.#listener.describeOwner(offset);
    const label = [states.addressAt(offset), ADDRESS_STATE_WORDS[state].name.toLowerCase(), owner]
      .filter((part) => part !== '')
      .join(', ');
    if (cell.getAttribute('aria-label') === label) return;
    cell.setAttribute('aria-label', label);
    cell.className = `cell state-${state}`;
  }

  #listen(): void {
    this.#table.addEventListener('keydown', (event) => {
      const move = event.altKey || event.metaKey || event.shiftKey ? undefined : toGridMove(event.key, event.ctrlKey);
      if (move === undefined || this.#offsetOf(event) === undefined) return;
      event.preventDefault();
      this.#listener.onMove(move);
    });
    this.#table.addEventListener('click', (event) => {
      const offset = this.#offsetOf(event);
      if (offset !== undefined) this.#listener.onSelect(offset);
    });
    this.#table.addEventListener('pointerover', (event) => this.#listener.onHover(this.#offsetOf(event)));
    this.#table.addEventListener('pointerleave', () => this.#listener.onHover(undefined));
  }

  #offsetOf(event: Event): number | undefined {
    const cell = event.target instanceof HTMLElement ? event.target.dataset['cell'] : undefined;
    return cell === undefined ? undefined : this.#from + Number(cell);
  }
}
