import { describe, expect, it } from 'vitest';
import { printableText } from './printable-text.js';

describe('text for a terminal', () => {
  it.each([
    ['\u001b[2J', ' [2J'],
    ['\u001b]0;title\u0007', ' ]0;title '],
    ['\u007f\u009b31m', '  31m'],
    ['\u202eabc', ' abc'],
    ['one\r\n\ttwo\0', 'one \n\ttwo '],
    ['größer → 大', 'größer → 大'],
  ])('%j', (text, expected) => expect(printableText(text)).toBe(expected));
});
