import { type Child, element } from '../dom/element.js';
import { KeyedRows, type Row } from '../dom/keyed-rows.js';

/** A column of a table. */
export interface TableColumn<Item> {
  readonly title: string;
  /**
   * `number`: aligned to the right. `wide`: left out on narrow screens. `aside`: on narrow screens it is at the right of the row's name, and the
   * other cells are below each other. The first column names its row.
   */
  readonly kind?: 'number' | 'wide' | 'aside' | undefined;
  readonly cell: (item: Item) => Child | readonly Child[];
}

/** The content of a table. */
export interface TableContent<Item> {
  readonly caption: string;
  /** True if only screen readers see the caption, because a heading beside it shows the same. */
  readonly isCaptionHidden?: boolean | undefined;
  readonly columns: readonly TableColumn<Item>[];
  readonly keyOf: (item: Item) => string;
}

/** A table with a caption whose rows change in place. */
export class DataTable<Item> {
  readonly element: HTMLElement;
  readonly #settings: TableContent<Item>;
  readonly #rows: KeyedRows;

  constructor(settings: TableContent<Item>) {
    this.#settings = settings;
    // The roles repeat those of the elements, because some browsers drop them when cells are below each other.
    const body = element('tbody', { role: 'rowgroup' });
    this.#rows = new KeyedRows(body);
    const head = settings.columns.map(({ title, kind }) =>
      element('th', { scope: 'col', class: kind, role: 'columnheader' }, title),
    );
    const isStacked = settings.columns.some(({ kind }) => kind === 'aside');
    const table = element('table', { role: 'table', class: isStacked ? 'stacked' : undefined }, [
      element('caption', { class: settings.isCaptionHidden === true ? 'unseen' : undefined }, settings.caption),
      element('thead', { role: 'rowgroup' }, [element('tr', { role: 'row' }, head)]),
      body,
    ]);
    this.element = element('div', { class: 'table' }, [table]);
  }

  show(items: readonly Item[]): void {
    this.#rows.show(items.map((item) => this.#toRow(item)));
  }

  #toRow(item: Item): Row {
    return { key: this.#settings.keyOf(item), signature: JSON.stringify(item), make: () => this.#makeRow(item) };
  }

  #makeRow(item: Item): HTMLElement {
    const cells = this.#settings.columns.map(({ cell, kind }, index) => {
      const content = cell(item);
      const children = Array.isArray(content) ? (content as readonly Child[]) : [content as Child];
      return index === 0
        ? element('th', { scope: 'row', class: kind, role: 'rowheader' }, children)
        : element('td', { class: kind, role: 'cell' }, children);
    });
    return element('tr', { role: 'row' }, cells);
  }
}
