import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ADDRESS_STATES, type LeaderTerm, SECTIONS } from '../../model/page-data.js';
import { describeAge, describeDuration } from './describe-age.js';
import { amountOf, describeShare, describeWaits } from './describe-number.js';
import { countTakeOvers, toTimeline } from './describe-terms.js';
import { describeAccess } from './section-help.js';
import { ADDRESS_STATE_WORDS } from './state-words.js';

const NOW = Date.UTC(2026, 10, 23);

describe('ages', () => {
  it.each([
    [0, '0 s'],
    [-5, '0 s'],
    [59_999, '59 s'],
    [60_000, '1 min'],
    [3_599_999, '59 min'],
    [7_200_000, '2 h'],
    [86_400_000 * 40, '40 d'],
  ])('%i ms are %s', (durationMs, words) => {
    expect(describeDuration(durationMs)).toBe(words);
  });

  it.each([
    [NOW - 999, 'now'],
    [NOW - 12_000, '12 s ago'],
    [NOW + 4000, 'now'],
    [NOW + 180_000, 'in 3 min'],
  ])('%i', (atMs, words) => {
    expect(describeAge(atMs, NOW)).toBe(words);
  });
});

describe('numbers', () => {
  it.each([
    [1, '1 address'],
    [0, '0 addresses'],
    [40_000, '40,000 addresses'],
  ])('%i', (value, words) => {
    expect(amountOf(value, 'address', 'addresses')).toBe(words);
  });

  it.each([
    [0, 0, '–'],
    [0, 10, '0\u00a0%'],
    [1, 1000, 'under 1\u00a0%'],
    [999, 1000, '99\u00a0%'],
    [1000, 1000, '100\u00a0%'],
  ])('%i of %i', (part, whole, words) => {
    expect(describeShare(part, whole)).toBe(words);
  });
});

describe('how many need action, and how many wait', () => {
  it.each([
    [1, 0, '1 needs action'],
    [2, 1, '2 need action, 1 waits'],
    [0, 1_200, '1,200 wait'],
    [0, 0, ''],
  ])('%i and %i', (broken, waiting, words) => {
    expect(describeWaits(broken, waiting)).toBe(words);
  });
});

describe('words of states and sections', () => {
  it('has a different name for each state of an address', () => {
    expect(new Set(ADDRESS_STATES.map((state) => ADDRESS_STATE_WORDS[state].name)).size).toBe(ADDRESS_STATES.length);
  });

  it('explains each section that is off', () => {
    const texts = SECTIONS.map((section) => describeAccess(section, { kind: 'off' })?.text);
    expect(texts.every((text) => text !== undefined && text !== '')).toBe(true);
    expect(describeAccess('wake-on-lan', { kind: 'off' })?.command).toContain('wakeOnLan.enabled=true');
    expect(describeAccess('hosts', { kind: 'off' })?.command).toContain('bareMetal.enabled=true');
  });

  it('names the right that is missing', () => {
    const access = { kind: 'denied', right: 'list hoststatuses.bmc.spidernet.io' } as const;
    expect(describeAccess('hosts', access)?.text).toContain('list hoststatuses.bmc.spidernet.io');
    expect(describeAccess('hosts', { kind: 'shown' })).toBeUndefined();
  });
});

describe('terms of leadership as a timeline', () => {
  const TERMS: readonly LeaderTerm[] = [
    { leader: 'b', fromMs: 60, untilMs: null },
    { leader: '', fromMs: 50, untilMs: 60 },
    { leader: 'a', fromMs: 0, untilMs: 50 },
  ];

  it('goes from the oldest to now, and cuts off what lies before', () => {
    expect(toTimeline(TERMS, 25, 125)).toEqual([
      { leader: 'a', from: 0, until: 0.25, place: 0 },
      { leader: '', from: 0.25, until: 0.35, place: -1 },
      { leader: 'b', from: 0.35, until: 1, place: 1 },
    ]);
  });

  it.each<[string, string[], number]>([
    ['one leader', ['a'], 0],
    ['another one', ['a', 'b'], 1],
    ['a gap, then another one', ['a', '', 'b'], 1],
    ['a gap, then the same one', ['a', '', 'a'], 0],
    ['back and forth', ['a', 'b', 'a'], 2],
  ])('%s', (_title, leaders, takeOvers) => {
    const terms = leaders.map((leader, index) => ({ leader, fromMs: index, untilMs: index + 1 }));
    expect(countTakeOvers(terms.toReversed())).toBe(takeOvers);
  });

  it('law: pieces stay inside the timeline, in order', () => {
    const term = fc.record({ leader: fc.constantFrom('', 'a', 'b'), fromMs: fc.nat(1000), untilMs: fc.option(fc.nat(2000)) });
    fc.assert(
      fc.property(fc.array(term), fc.nat(1500), (terms, fromMs) => {
        for (const { from, until } of toTimeline(terms, fromMs, 1600)) {
          expect(from).toBeGreaterThanOrEqual(0);
          expect(until).toBeGreaterThan(from);
          expect(until).toBeLessThanOrEqual(1);
        }
      }),
    );
  });
});
