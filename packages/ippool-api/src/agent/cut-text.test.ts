import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cutText, octetsOf, quote } from './cut-text.js';

const anyText = fc.string({ unit: 'binary', maxLength: 40 });

describe('octets of text', () => {
  it.each([
    ['', 0],
    ['a\u007f', 2],
    ['\u0080', 2],
    ['\u07ff', 2],
    ['\u0800', 3],
    ['\uffff', 3],
    ['\u{10000}', 4],
  ])('%j has %i', (text, octets) => {
    expect(octetsOf(text)).toBe(octets);
  });

  it('law: the same number as UTF-8 has', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(octetsOf(text)).toBe(Buffer.byteLength(text));
      }),
    );
  });
});

describe('text that is cut', () => {
  it.each([
    ['abcdef', 6, 'abcdef'],
    ['abcdefg', 6, 'abc...'],
    ['äöü', 6, 'äöü'],
    ['äöüß', 6, 'ä...'],
    ['abcd', 3, '...'],
  ])('%j to %i octets: %j', (text, most, cut) => {
    expect(cutText(text, most)).toBe(cut);
  });

  it('law: it is within the limit, and begins like the text', () => {
    fc.assert(
      fc.property(anyText, fc.integer({ min: 3, max: 50 }), (text, most) => {
        const cut = cutText(text, most);
        expect(octetsOf(cut)).toBeLessThanOrEqual(most);
        expect(cut === text || text.startsWith(cut.slice(0, -3))).toBe(true);
      }),
    );
  });

  it('in quotation marks it has at most 64 octets, and no line breaks', () => {
    expect(quote('a\nb"')).toBe('"a\\nb\\""');
    expect(quote('x'.repeat(64))).toBe(`"${'x'.repeat(64)}"`);
    expect(quote('x'.repeat(65))).toBe(`"${'x'.repeat(61)}..."`);
  });
});
