import fc from 'fast-check';
import { expect, it } from 'vitest';
import { toMatcher } from './to-matcher.js';

it.each([
  [undefined, '.*'],
  [['default/net-48'], 'default/net-48'],
  [['a.b', 'c'], String.raw`a\\.b|c`],
  [['"} or up{job=~"'], String.raw`\"\\} or up\\{job=~\"`],
] as const)('%j becomes %s', (texts, matcher) => {
  expect(toMatcher(texts)).toBe(matcher);
});

it('law: whatever a name is, it stays within its quotes, and matches itself and no other', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.string(), (name, other) => {
      const matcher = toMatcher([name]);
      expect(matcher).toMatch(/^(?:[^"\\\n]|\\["\\n])*$/);
      const pattern = new RegExp(`^(?:${matcher.replace(/\\(["\\n])/g, (_, one: string) => (one === 'n' ? '\n' : one))})$`);
      expect([pattern.test(name), pattern.test(other)]).toEqual([true, other === name]);
    }),
  );
});
