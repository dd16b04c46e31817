/** One row of a list; it is rebuilt only if its signature changes. */
export interface Row {
  /** Identifies the row in its list. */
  readonly key: string;
  /** Two rows of one signature look the same. */
  readonly signature: string;
  readonly make: () => HTMLElement;
}

/** The rows of a list that changes while people read it: unchanged rows keep their elements, and the focus stays on its row. */
export class KeyedRows {
  readonly #container: HTMLElement;
  #shown = new Map<string, { readonly signature: string; readonly element: HTMLElement }>();

  constructor(container: HTMLElement) {
    this.#container = container;
  }

  /** Shows these rows in this order. If several rows have the same key, the last one counts. */
  show(rows: readonly Row[]): void {
    const next = new Map<string, { readonly signature: string; readonly element: HTMLElement }>();
    for (const row of rows) next.set(row.key, this.#shownOrMade(row));
    for (const [key, { element }] of this.#shown) if (next.get(key)?.element !== element) element.remove();
    let place: Element | null = this.#container.firstElementChild;
    for (const { element } of next.values()) {
      if (element === place) place = place.nextElementSibling;
      else this.#container.insertBefore(element, place);
    }
    this.#shown = next;
  }

  #shownOrMade(row: Row): { readonly signature: string; readonly element: HTMLElement } {
    const shown = this.#shown.get(row.key);
    if (shown?.signature === row.signature) return shown;
    const element = row.make();
    if (shown !== undefined) replaceWithFocus(shown.element, element);
    return { signature: row.signature, element };
  }
}

/** Replaces the old element by the new one, and moves the focus to the part at the same position. */
function replaceWithFocus(old: HTMLElement, made: HTMLElement): void {
  const focused = old.contains(document.activeElement) ? focusables(old).indexOf(document.activeElement as HTMLElement) : -1;
  old.replaceWith(made);
  if (focused >= 0) focusables(made)[focused]?.focus({ preventScroll: true });
}

function focusables(within: HTMLElement): HTMLElement[] {
  return [...within.querySelectorAll<HTMLElement>('a[href], button, input, select, summary, [tabindex]')];
}
