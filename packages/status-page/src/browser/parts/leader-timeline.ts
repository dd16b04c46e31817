import type { PageAgentGroup } from '../../model/page-data.js';
import { element, svgElement } from '../dom/element.js';
import { describeDuration } from '../text/describe-age.js';
import { amountOf } from '../text/describe-number.js';
import { countTakeOvers, type TimelinePiece, toTimeline } from '../text/describe-terms.js';
import { timeElement } from './time-element.js';

/** Colours repeat after these; the list below shows each term. */
const COLOURS = 4;
const WIDTH = 600;
const HEIGHT = 20;

/** Shows which pod was leader when, as a timeline and as a list. */
export function leaderTimeline({ terms, name }: PageAgentGroup, fromMs: number, nowMs: number): HTMLElement {
  const pieces = toTimeline(terms, fromMs, nowMs);
  const bars = pieces.map(({ from, until, place }) =>
    svgElement('rect', {
      class: toClass(place),
      x: from * WIDTH,
      y: 0,
      // Even a term of a second must be visible.
      width: Math.max((until - from) * WIDTH, 1),
      height: HEIGHT,
    }),
  );
  const takeOvers = countTakeOvers(terms);
  const words = `${amountOf(takeOvers, 'change of leader', 'changes of leader')} in ${describeDuration(nowMs - fromMs)}`;
  const chart = svgElement(
    'svg',
    {
      class: 'timeline',
      viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
      preserveAspectRatio: 'none',
      role: 'img',
      'aria-label': `Leaders of ${name}: ${words}`,
    },
    bars,
  );
  const ends = element('p', { class: 'timeline-ends soft' }, [
    element('span', {}, `${describeDuration(nowMs - fromMs)} ago`),
    element('span', {}, words),
    element('span', {}, 'now'),
  ]);
  return element('div', {}, [chart, ends, leadersList(pieces), termsList(terms, nowMs)]);
}

/** The colours of the pods, in the order of their first terms. */
function leadersList(pieces: readonly TimelinePiece[]): HTMLElement | null {
  const firsts = new Map(pieces.map((piece) => [piece.place, piece]));
  if (firsts.size === 0) return null;
  const items = [...firsts.values()].map(({ place, leader }) =>
    element('li', {}, [
      svgElement('svg', { class: 'timeline-key', viewBox: '0 0 1 1', preserveAspectRatio: 'none', 'aria-hidden': 'true' }, [
        svgElement('rect', { class: toClass(place), width: 1, height: 1 }),
      ]),
      element('span', {}, leader === '' ? 'no leader' : leader),
    ]),
  );
  return element('ul', { class: 'legend leaders', 'aria-label': 'Leaders by colour' }, items);
}

function toClass(place: number): string {
  return place < 0 ? 'term-none' : `term-${place % COLOURS}`;
}

function termsList(terms: PageAgentGroup['terms'], nowMs: number): HTMLElement | null {
  if (terms.length === 0) return null;
  const items = terms.map(({ leader, fromMs, untilMs }) =>
    element('li', {}, [
      element('span', {}, leader === '' ? 'no leader' : leader),
      element('span', { class: 'soft' }, [
        ' from ',
        timeElement(fromMs, nowMs),
        untilMs === null ? ' until now' : ' until ',
        untilMs === null ? null : timeElement(untilMs, nowMs),
        untilMs === null ? null : ` (${describeDuration(untilMs - fromMs)})`,
      ]),
    ]),
  );
  return element('details', {}, [
    element('summary', {}, 'Terms of leadership, the newest first'),
    element('ol', { class: 'terms' }, items),
  ]);
}
