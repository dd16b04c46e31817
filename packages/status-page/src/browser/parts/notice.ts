import { type Child, element } from '../dom/element.js';
import type { SectionHelp } from '../text/section-help.js';

/** A notice in place of missing content. */
export function notice(title: string, children: readonly Child[] = []): HTMLElement {
  return element('div', { class: 'notice' }, [element('p', { class: 'notice-title' }, title), ...children]);
}

/** Explains why a view has no data, and how to get it. */
export function sectionNotice({ title, text, command }: SectionHelp): HTMLElement {
  return notice(title, [
    element('p', {}, text),
    command === '' ? null : element('pre', { tabindex: 0 }, [element('code', {}, command)]),
  ]);
}
