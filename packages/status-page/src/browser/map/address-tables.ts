import { element } from '../dom/element.js';
import { DataTable } from '../parts/data-table.js';
import { describeNumber } from '../text/describe-number.js';
import { ADDRESS_STATE_WORDS } from '../text/state-words.js';
import { BLOCK_SIZE } from './address-blocks.js';
import { type AddressRange, type BlockRow, toBlockRows, toRanges } from './address-ranges.js';
import type { AddressStates } from './address-states.js';

/** The maximum number of blocks in a table, that of a /16. */
const MOST_BLOCKS = 256;

/**
 * The picture as tables, for people who cannot see it: ranges of the visible block, and the blocks of a large subnet. Filled only while it is open.
 */
export class AddressTables {
  readonly element: HTMLElement;
  readonly #ranges: DataTable<AddressRange>;
  readonly #blocks: DataTable<BlockRow> | undefined;
  readonly #states: AddressStates;
  #from = 0;

  constructor(states: AddressStates, onBlock: (block: number) => void) {
    this.#states = states;
    this.#ranges = rangesTable();
    this.#blocks = states.size > BLOCK_SIZE ? blocksTable(onBlock) : undefined;
    this.element = element('details', {}, [
      element('summary', {}, 'The same as a table'),
      this.#ranges.element,
      ...(this.#blocks === undefined ? [] : [this.#blocks.element]),
    ]);
    this.element.addEventListener('toggle', () => this.refresh());
  }

  /** Shows the block that begins at this offset. */
  show(from: number): void {
    this.#from = from;
    this.refresh();
  }

  refresh(): void {
    if (!(this.element instanceof HTMLDetailsElement && this.element.open)) return;
    this.#ranges.show(toRanges(this.#states, this.#from, this.#from + BLOCK_SIZE));
    this.#blocks?.show(toBlockRows(this.#states, MOST_BLOCKS));
  }
}

function rangesTable(): DataTable<AddressRange> {
  return new DataTable<AddressRange>({
    caption: 'Addresses of the block that is shown, as ranges of one state',
    keyOf: ({ first }) => first,
    columns: [
      { title: 'From', cell: ({ first }) => element('code', {}, first) },
      { title: 'To', cell: ({ last }) => element('code', {}, last) },
      { title: 'Addresses', kind: 'number', cell: ({ count }) => describeNumber(count) },
      { title: 'State', cell: ({ state }) => ADDRESS_STATE_WORDS[state].name },
    ],
  });
}

function blocksTable(onBlock: (block: number) => void): DataTable<BlockRow> {
  const button = ({ block, first }: BlockRow): HTMLElement => {
    const made = element('button', { type: 'button', class: 'quiet', 'aria-label': `Show the block of ${first}` }, first);
    made.addEventListener('click', () => onBlock(block));
    return made;
  };
  return new DataTable<BlockRow>({
    caption: 'Blocks of 256 addresses',
    keyOf: ({ first }) => first,
    columns: [
      { title: 'Block', cell: button },
      { title: 'Used', kind: 'number', cell: ({ counts }) => describeNumber(counts.used) },
      { title: 'Free', kind: 'number', cell: ({ counts }) => describeNumber(counts.free) },
      { title: 'Reserved', kind: 'number', cell: ({ counts }) => describeNumber(counts.reserved) },
      { title: 'Excluded', kind: 'wide', cell: ({ counts }) => describeNumber(counts.excluded) },
      { title: 'Quarantined', kind: 'number', cell: ({ counts }) => describeNumber(counts.quarantined) },
    ],
  });
}
