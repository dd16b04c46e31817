import type { PageState } from '../../model/page-data.js';
import { element } from '../dom/element.js';
import { PAGE_STATE_WORDS } from '../text/state-words.js';

/** The state of an object: sign, word and colour. @param name - default: the word of the state. */
export function stateBadge(state: PageState, name = PAGE_STATE_WORDS[state].name): HTMLElement {
  const { sign } = PAGE_STATE_WORDS[state];
  return element('span', { class: `badge badge-${state}` }, [
    element('span', { class: 'sign', 'aria-hidden': 'true' }, sign),
    element('span', {}, name),
  ]);
}
