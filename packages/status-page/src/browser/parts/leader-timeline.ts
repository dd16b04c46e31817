import type { AgentGroup } from '../../model/page-data.js';
import { element, svgElement } from '../dom/element.js';
import { describeDuration } from '../text/describe-age.js';
import { describeCount } from '../text/describe-count.js';
import { countTakeOvers, toTimeline } from '../text/describe-terms.js';
import { timeElement } from './time-element.js';

/** Colours repeat after these; names stand in the table below. */
const COLOURS = 4;
const WIDTH = 600;
const HEIGHT = 20;

/** Which pod was leader when: a timeline, and the same as a list. */
export function leaderTimeline({ terms, name }: AgentGroup, fromMs: number, nowMs: number): HTMLElement {
  const pieces = toTimeline(terms, fromMs, nowMs);
  const bars = pieces.map(({ from, until, place, leader }) => {
    const bar = svgElement('rect', {
      class: place < 0 ? 'term-none' : `term-${place % COLOURS}`,
      x: from * WIDTH,
      y: 0,
      // A term of a second must be seen too.
      width: Math.max((until - from) * WIDTH, 1),
      height: HEIGHT,
    });
    bar.append(svgElement('title', {}, [leader === '' ? 'no leader' : leader]));
    return bar;
  });
  const takeOvers = countTakeOvers(terms);
  const words = `${describeCount(takeOvers, 'change of leader', 'changes of leader')} in ${describeDuration(nowMs - fromMs)}`;
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
  return element('div', {}, [chart, ends, termsList(terms, nowMs)]);
}

function termsList(terms: AgentGroup['terms'], nowMs: number): HTMLElement | null {
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
