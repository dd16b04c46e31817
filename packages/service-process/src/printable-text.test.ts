import { describe, expect, it } from 'vitest';
import { printableJson, printableText } from './printable-text.js';

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

describe('JSON for a terminal', () => {
  it.each([undefined, 2])('has no control characters, and means the same: %s', (indent) => {
    const value = { '\u009b31m': ['\u001b[2J', '\u007f', '\u202eabc', 'größer → 大', 'a\tb\n'] };
    const text = printableJson(value, indent);
    expect(printableText(text)).toBe(text);
    expect(JSON.parse(text)).toEqual(value);
    expect(text).toContain('größer → 大');
  });
});
