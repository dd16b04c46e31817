import { ADDRESS_STATES } from '../../model/page-data.js';
import { element, setText } from '../dom/element.js';
import { describeNumber } from '../text/describe-count.js';
import { ADDRESS_STATE_WORDS } from '../text/state-words.js';
import type { StateCounts } from './address-states.js';
import { type Palette, toPixel } from './paint-overview.js';

/** The states with their colours and patterns, and how many addresses have each. */
export class MapLegend {
  readonly element: HTMLElement;
  readonly #swatches: readonly HTMLElement[];
  readonly #counts: readonly HTMLElement[];

  constructor() {
    this.#swatches = ADDRESS_STATES.map((state) => element('span', { class: `swatch state-${state}`, 'aria-hidden': 'true' }));
    this.#counts = ADDRESS_STATES.map(() => element('span', { class: 'legend-count' }));
    const items = ADDRESS_STATES.map((state, index) =>
      element('li', { title: ADDRESS_STATE_WORDS[state].meaning }, [
        this.#swatches[index] ?? null,
        element('span', {}, ADDRESS_STATE_WORDS[state].name),
        this.#counts[index] ?? null,
      ]),
    );
    this.element = element('ul', { class: 'legend', 'aria-label': 'Legend: addresses by state' }, items);
  }

  show(counts: StateCounts): void {
    for (const [index, state] of ADDRESS_STATES.entries()) {
      const shown = this.#counts[index];
      if (shown !== undefined) setText(shown, describeNumber(counts[state]));
    }
  }

  /** The colours of the states as the style sheet has them now. The legend must be in the document. */
  readPalette(): Palette {
    return Uint32Array.from(this.#swatches, (swatch) => toPixel(getComputedStyle(swatch).color));
  }
}
