import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cutText, octetsOf } from './cut-text.js';
import { describeCount, describeNames, describeProblems } from './describe-problems.js';
import { quote } from './quote.js';

const texts = fc.string({ unit: 'binary', maxLength: 300 });
/** Including halves of surrogate pairs. */
const unpaired = fc.integer({ min: 0xd700, max: 0xe0ff }).map((unit) => String.fromCharCode(unit));

describe('text for people is bounded', () => {
  it('law: octets are counted as in UTF-8', () => {
    fc.assert(
      fc.property(fc.oneof(texts, fc.string({ unit: unpaired, maxLength: 20 })), (text) => {
        expect(octetsOf(text)).toBe(Buffer.byteLength(text));
      }),
    );
  });

  it.each<[string, number]>([
    ['', 0],
    ['\u007f', 1],
    ['\u0080', 2],
    ['\u07ff', 2],
    ['\u0800', 3],
    ['\ud7ff', 3],
    ['\ue000', 3],
    ['\uffff', 3],
    ['\u{10000}', 4],
    ['\u{10ffff}', 4],
    ['\ud83d', 3],
    ['\udc00', 3],
    ['\udc00\ud800', 6],
    ['\ud800\ud800\udc00a', 8],
    ['\ue000\u{1f600}', 7],
  ])('%j has %d octets, and is cut if there is room for one less', (text, octets) => {
    expect([octetsOf(text), Buffer.byteLength(text)]).toEqual([octets, octets]);
    expect(cutText(`12345${text}`, octets + 5)).toBe(`12345${text}`);
    if (octets > 0) expect(cutText(`12345${text}`, octets + 4)).toMatch(/\.\.\.$/);
  });

  it.each([
    ['éé', 4, 'éé'],
    ['éé', 3, '...'],
    ['aéé', 4, 'a...'],
    ['€uro', 6, '€uro'],
    ['€uros', 6, '€...'],
    ['\u{1f600}abc', 7, '\u{1f600}abc'],
    ['\u{1f600}abcd', 7, '\u{1f600}...'],
    ['\u{1f600}abcd', 6, '...'],
  ])('%j in %d octets is %j', (text, most, cut) => {
    expect(cutText(text, most)).toBe(cut);
  });

  it('law: cut text fits, begins like the text, and is complete if that fits', () => {
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
