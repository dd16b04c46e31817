import { PrintableLines } from '@vmdhcp/service-process';
import { describe, expect, it } from 'vitest';
import { printableIn, printableLine } from './printable-line.js';

/** ESC, BEL, DEL, the control sequence introducer of C1, and a character that changes the direction of text. */
const HOSTILE = ['\u001b[2J', '\u001b]0;title\u0007', '\u007f', '\u009b31m', '\u202e', '\r', '\t', '\0'];

describe('text from others on a terminal', () => {
  it.each(HOSTILE)('%j has a space for each such character', (text) => {
    for (const shown of [printableLine(text), printableIn({ chain: [{ message: text }] }).chain[0]?.message ?? ''])
      expect(shown).toMatch(/^[ -~]+$/);
    expect(new PrintableLines().push(Buffer.from(`a${text}b\n`)).toString()).toMatch(/^a[ -~\t]+b\n$/);
  });

  it('keeps other characters, even if a piece ends within one', () => {
    const octets = Buffer.from('größer → 大\nnext\n');
    for (let at = 0; at <= octets.length; at++) {
      const lines = new PrintableLines();
      const shown = Buffer.concat([lines.push(octets.subarray(0, at)), lines.push(octets.subarray(at))]);
      expect(shown.toString()).toBe('größer → 大\nnext\n');
    }
  });

  it('has a space for a control character in two pieces', () => {
    const lines = new PrintableLines();
    const shown = Buffer.concat([lines.push(Buffer.of(0x61, 0xc2)), lines.push(Buffer.of(0x9b, 0x62, 0x0a))]);
    expect(shown.toString()).toBe('a b\n');
  });

  it('values other than text stay unchanged', () => {
    expect(printableIn({ count: 1, is: true, none: null, list: ['a'] })).toEqual({ count: 1, is: true, none: null, list: ['a'] });
  });
});
