import { element, setText } from '../dom/element.js';
import { describeAge } from '../text/describe-age.js';

const FULL = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' });

/** An age that `refreshTimes` keeps up to date. @param fallback - for null. */
export function timeElement(atMs: number | null, nowMs: number, fallback = 'not known'): HTMLElement {
  if (atMs === null) return element('span', { class: 'soft' }, fallback);
  const at = new Date(atMs);
  // Extreme times, such as the year 300,000, have no ISO form.
  if (Number.isNaN(at.getTime())) return element('span', { class: 'soft' }, fallback);
  return element('time', { datetime: at.toISOString(), title: FULL.format(at), 'data-at': atMs }, describeAge(atMs, nowMs));
}

/** Shows another time in an element of `timeElement`. */
export function moveTime(time: HTMLElement, atMs: number, nowMs: number): void {
  const made = timeElement(atMs, nowMs);
  for (const { name, value } of made.attributes) time.setAttribute(name, value);
  setText(time, made.textContent ?? '');
}

/** Updates all ages within an element. */
export function refreshTimes(within: ParentNode, nowMs: number): void {
  for (const time of within.querySelectorAll<HTMLElement>('time[data-at]')) {
    setText(time, describeAge(Number(time.dataset['at']), nowMs));
  }
}
