import { ADDRESS_STATES, type AddressState } from '../../model/page-data.js';
import { element, setText } from '../dom/element.js';
import { describeNumber } from '../text/describe-number.js';
import { ADDRESS_STATE_WORDS } from '../text/state-words.js';
import type { StateCounts } from './address-states.js';
import { type Palette, toPixel } from './paint-overview.js';

/** The states with their colours, patterns and counts. Selecting a state moves to its next addresses. */
export class MapLegend {
  readonly element: HTMLElement;
  readonly #swatches: readonly HTMLElement[];
  readonly #counts: readonly HTMLElement[];
  readonly #buttons: readonly HTMLButtonElement[];

  constructor(onNext: (state: AddressState) => void) {
    this.#swatches = ADDRESS_STATES.map((state) => element('span', { class: `swatch state-${state}`, 'aria-hidden': 'true' }));
    this.#counts = ADDRESS_STATES.map(() => element('span', { class: 'legend-count' }));
    this.#buttons = ADDRESS_STATES.map((state) => nextButton(state, onNext));
    const items = this.#buttons.map((button, index) =>
      element('li', {}, [this.#swatches[index] ?? null, button, this.#counts[index] ?? null]),
    );
    this.element = element('ul', { class: 'legend', 'aria-label': 'Legend: addresses by state' }, items);
  }

  show(counts: StateCounts): void {
    for (const [index, state] of ADDRESS_STATES.entries()) {
      const shown = this.#counts[index];
      if (shown !== undefined) setText(shown, describeNumber(counts[state]));
      this.#buttons[index]?.toggleAttribute('disabled', counts[state] === 0);
    }
  }

  /** The current colours of the states in the style sheet. The legend must be in the document. */
  readPalette(): Palette {
    return Uint32Array.from(this.#swatches, (swatch) => toPixel(getComputedStyle(swatch).color));
  }
}

function nextButton(state: AddressState, onNext: (state: AddressState) => void): HTMLButtonElement {
  const { name, meaning } = ADDRESS_STATE_WORDS[state];
  const attributes = {
    type: 'button',
    class: 'quiet',
    title: meaning,
    'aria-label': `${name}: next`,
  };
  const button = element('button', attributes, name);
  button.addEventListener('click', () => onNext(state));
  return button;
}
