import type { PageState } from '../../model/page-data.js';
import { element } from '../dom/element.js';
import { PAGE_STATE_WORDS } from '../text/state-words.js';

/** The state of an object: sign, word and colour. */
export function stateBadge(state: PageState): HTMLElement {
  const { name, sign } = PAGE_STATE_WORDS[state];
  return element('span', { class: `badge badge-${state}` }, [
    element('span', { class: 'sign', 'aria-hidden': 'true' }, sign),
    element('span', {}, name),
  ]);
}
