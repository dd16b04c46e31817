import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cutText, octetsOf } from './cut-text.js';
import { describeCount, describeNames, describeProblems } from './describe-problems.js';
import { quote } from './quote.js';

const texts = fc.string({ unit: 'binary', maxLength: 300 });
/** Also halves of characters. */
const unpaired = fc.integer({ min: 0xd700, max: 0xe0ff }).map((unit) => String.fromCharCode(unit));

describe('text for people is bounded', () => {
  it('law: octets are counted as UTF-8 has them', () => {
    fc.assert(
      fc.property(fc.oneof(texts, fc.string({ unit: unpaired, maxLength: 20 })), (text) => {
        expect(octetsOf(text)).toBe(Buffer.byteLength(text));
      }),
    );
  });

  it('law: cut text fits, is the beginning of the text, and whole where it fits', () => {
    fc.assert(
      fc.property(texts, fc.integer({ min: 3, max: 400 }), (text, most) => {
        const cut = cutText(text, most);
        expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(most);
        if (Buffer.byteLength(text) <= most) expect(cut).toBe(text);
        else expect(text.startsWith(cut.slice(0, -3)) && cut.endsWith('...') && cut.isWellFormed()).toBe(true);
      }),
    );
  });

  it.each([
    [[], '', ''],
    [['a'], 'a', 'a'],
    [['a', 'b', 'c'], 'a; b; c', 'a, b, c'],
    [['a', 'b', 'c', 'd', 'e', 'f'], 'a; b; c; and 3 more', 'a, b, c, d, e and 1 more'],
    [Array.from({ length: 4_096 }, () => 'a'), 'a; a; a; and 4,093 more', 'a, a, a, a, a and 4,091 more'],
    [Array.from({ length: 1_234_570 }, () => 'a'), 'a; a; a; and 1,234,567 more', 'a, a, a, a, a and 1,234,565 more'],
    [['x'.repeat(1_000)], `${'x'.repeat(237)}...`, `${'x'.repeat(125)}...`],
  ])('the first few, and how many more: %#', (list, problems, names) => {
    expect([describeProblems(list), describeNames(list)]).toEqual([problems, names]);
  });

  it('quotes with control characters escaped', () => {
    expect(quote('a"b\n\u001b[31m')).toBe('"a\\"b\\n\\u001b[31m"');
    expect(quote('y'.repeat(65))).toBe(`"${'y'.repeat(61)}..."`);
  });
});

it.each<[number, string, string | undefined, string]>([
  [0, 'client', undefined, '0 clients'],
  [1, 'client', undefined, '1 client'],
  [2, 'client', undefined, '2 clients'],
  [1, 'address', 'addresses', '1 address'],
  [999, 'address', 'addresses', '999 addresses'],
  [1_000, 'address', 'addresses', '1,000 addresses'],
  [1_234_567, 'address', 'addresses', '1,234,567 addresses'],
])('describeCount: %d %s', (count, singular, plural, text) => {
  expect(describeCount(count, singular, plural)).toBe(text);
});
