/** One row of a list: it is made again only if its signature differs. */
export interface Row {
  /** Names the row among all of its list. */
  readonly key: string;
  /** Two rows of one signature look the same. */
  readonly signature: string;
  readonly make: () => HTMLElement;
}

/**
 * The rows of a list that changes while people read it: rows that stay the same keep their elements, and the focus stays on the row where it is.
 */
export class KeyedRows {
  readonly #container: HTMLElement;
  #shown = new Map<string, { readonly signature: string; readonly element: HTMLElement }>();

  constructor(container: HTMLElement) {
    this.#container = container;
  }

  /** Shows these rows in this order. Of rows with one key, the last one counts. */
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

/** The new element takes the place of the old one, and the focus moves to the part that stands where the focused one stood. */
function replaceWithFocus(old: HTMLElement, made: HTMLElement): void {
  const focused = old.contains(document.activeElement) ? focusables(old).indexOf(document.activeElement as HTMLElement) : -1;
  old.replaceWith(made);
  if (focused >= 0) focusables(made)[focused]?.focus({ preventScroll: true });
}

function focusables(within: HTMLElement): HTMLElement[] {
  return [...within.querySelectorAll<HTMLElement>('a[href], button, input, select, summary, [tabindex]')];
}
