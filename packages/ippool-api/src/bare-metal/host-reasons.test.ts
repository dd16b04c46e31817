import { describe, expect, it } from 'vitest';
import { REASONS } from '../reasons.js';
import { HOST_REASONS } from './host-reasons.js';

const entries = Object.entries(HOST_REASONS).map(([reason, { shown, meaning, remedy }]) => ({ reason, shown, meaning, remedy }));

describe('the table of reasons of bare-metal hosts', () => {
  it.each(entries)(
    '$reason: one word in CamelCase, shown somewhere, each place once, and in no other table',
    ({ reason, shown }) => {
      expect(reason).toMatch(/^([A-Z]+[a-z]*)+$/);
      expect(shown.length).toBeGreaterThan(0);
      expect(new Set<string>(shown).size).toBe(shown.length);
      expect(Object.hasOwn(REASONS, reason)).toBe(false);
    },
  );

  it.each(entries)('$reason: meaning and remedy are sentences that fit into an Event', ({ meaning, remedy }) => {
    for (const text of [meaning, remedy]) expect(text).toMatch(/^[A-Z`].*\.$/);
    expect(new TextEncoder().encode(`${meaning} ${remedy}`).length).toBeLessThanOrEqual(1_024);
  });

  it('no two reasons mean the same', () => {
    expect(new Set(entries.map(({ meaning }) => meaning)).size).toBe(entries.length);
  });
});
