import { type Child, element } from '../dom/element.js';

/** A fact: its name, and its value; null leaves it out. */
export type Fact = readonly [string, Child];

/** Names and values, one below the other on narrow screens. */
export function facts(all: readonly Fact[]): HTMLElement {
  const known = all.filter(([, value]) => value !== null && value !== '');
  return element(
    'dl',
    { class: 'facts' },
    known.map(([name, value]) => element('div', {}, [element('dt', {}, name), element('dd', {}, [value])])),
  );
}
