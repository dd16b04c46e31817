import { describe, expect, expectTypeOf, it } from 'vitest';
import {
  type ConditionOf,
  describeReason,
  type EventOf,
  isReasonAt,
  REASONS,
  type Reason,
  type ReasonAt,
  reasonOf,
} from './reasons.js';

const entries = Object.entries(REASONS).map(([reason, { shown, meaning, remedy }]) => ({ reason, shown, meaning, remedy }));
/** The length limit of conditions and Events is 1,024 octets, including names and addresses. */
const MOST_OCTETS = 512;

describe('the table of reasons', () => {
  it.each(entries)('$reason: one word in CamelCase, shown somewhere, each place once', ({ reason, shown }) => {
    expect(reason).toMatch(/^([A-Z]+[a-z]*)+$/);
    expect(shown.length).toBeGreaterThan(0);
    expect(new Set<string>(shown).size).toBe(shown.length);
  });

  it.each(entries)('$reason: meaning and remedy are sentences that fit into a condition', ({ meaning, remedy }) => {
    for (const text of [meaning, remedy]) {
      expect(text).toMatch(/^[A-Z`].*\.$/);
      expect(new TextEncoder().encode(text).length).toBeLessThan(MOST_OCTETS);
    }
    expect(meaning).not.toBe(remedy);
  });

  it.each(entries)('$reason: meaning and remedy together fit too', ({ reason, meaning, remedy }) => {
    const text = describeReason(reason as Reason);
    expect(text).toBe(`${meaning} ${remedy}`);
    expect(new TextEncoder().encode(text).length).toBeLessThanOrEqual(1_024);
  });

  it('no two reasons mean the same', () => {
    expect(new Set(entries.map(({ meaning }) => meaning)).size).toBe(entries.length);
  });

  it('the condition AgentReady shows every reason that an agent reports', () => {
    for (const { reason, shown } of entries) {
      const places: readonly string[] = shown;
      if (places.includes('agent report')) expect(places, reason).toContain('IPPool AgentReady=False');
    }
  });
});

describe('isReasonAt', () => {
  it.each([
    ['IPPool AgentReady=False', 'NotLeading', true],
    ['IPPool AgentReady=True', 'NotLeading', false],
    ['agent report', 'Draining', true],
    ['agent report', 'Pending', false],
    ['agent report', 'NoSuchReason', false],
    ['agent report', 'toString', false],
  ] as const)('%s may show %s: %s', (place, text, expected) => {
    expect(isReasonAt(place, text)).toBe(expected);
  });
});

describe('reasonOf', () => {
  it.each([
    ['pool-exhausted', 'PoolExhausted'],
    ['no-pool', 'NoPool'],
    ['paused', 'Paused'],
    ['mac-address-claimed-twice', 'MacAddressClaimedTwice'],
  ])('%s is %s', (word, reason) => {
    expect(reasonOf(word)).toBe(reason);
  });
});

describe('code that writes a reason', () => {
  it('compiles only with a reason that the table allows in that place', () => {
    expectTypeOf(reasonOf('pool-exhausted')).toEqualTypeOf<'PoolExhausted'>();
    expectTypeOf<'Lagging'>().toExtend<ReasonAt<'IPPool AgentReady=False'>>();
    expectTypeOf<'Lagging'>().not.toExtend<ReasonAt<'agent report'>>();
    expectTypeOf<'Typo'>().not.toExtend<Reason>();
    expectTypeOf<{ type: 'CacheReady'; status: 'False'; reason: 'NetworkTaken' }>().toExtend<ConditionOf<'IPPool'>>();
    expectTypeOf<{ type: 'CacheReady'; status: 'True'; reason: 'NetworkTaken' }>().not.toExtend<ConditionOf<'IPPool'>>();
    expectTypeOf<{ type: 'Normal'; reason: 'AwaitingMacAddress'; message: '' }>().toExtend<EventOf<'VirtualMachine'>>();
    expectTypeOf<{ type: 'Warning'; reason: 'AwaitingMacAddress'; message: '' }>().not.toExtend<EventOf<'VirtualMachine'>>();
  });
});
