import type { PageReason } from '../../model/page-data.js';
import { type Child, element } from '../dom/element.js';

/** Reasons with their meaning and remedy; null if there are none. */
export function reasonList(reasons: readonly PageReason[]): HTMLElement | null {
  if (reasons.length === 0) return null;
  return element('ul', { class: 'reasons' }, reasons.map(reasonItem));
}

function reasonItem({ reason, message, meaning, remedy }: PageReason): HTMLElement {
  return element('li', {}, [
    element('p', {}, [element('code', { class: 'reason' }, reason), message === '' ? null : element('span', {}, ` ${message}`)]),
    meaning === '' || meaning === message ? null : element('p', { class: 'soft' }, withCode(meaning)),
    remedy === '' ? null : element('p', {}, [element('strong', {}, 'What to do: '), ...withCode(remedy)]),
  ]);
}

/** The texts in the table of reasons mark fields and commands with backticks. */
function withCode(text: string): readonly Child[] {
  return text.split('`').map((part, index) => (index % 2 === 0 ? part : element('code', {}, part)));
}
