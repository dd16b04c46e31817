import type { Column } from '@vmdhcp/explain/observe';
import { describe, expect, it } from 'vitest';
import { tableLines } from './table.js';
import { NO_TERMINAL, paint, terminalOf, wrap } from './terminal.js';

interface Row {
  readonly name: string;
  readonly text: string;
}

const COLUMNS: readonly Column<Row>[] = [
  { header: 'NAME', value: ({ name }) => name },
  { header: 'EXTRA', value: () => 'x', isWide: true },
  { header: 'TEXT', value: ({ text }) => text },
];
const ROWS = [
  { name: 'one', text: 'short' },
  { name: 'number-two', text: 'a much longer text' },
];

describe('a table', () => {
  it('has columns as wide as their longest cell', () => {
    expect(tableLines(COLUMNS, ROWS, { isWide: false, terminal: NO_TERMINAL })).toEqual([
      'NAME         TEXT',
      'one          short',
      'number-two   a much longer text',
    ]);
    expect(tableLines(COLUMNS, ROWS, { isWide: true, terminal: NO_TERMINAL })[0]).toBe('NAME         EXTRA   TEXT');
  });

  it('is cut at the width of a terminal, and nowhere else', () => {
    const terminal = { columns: 20, hasColour: false };
    expect(tableLines(COLUMNS, ROWS, { isWide: false, terminal })[2]).toBe('number-two   a much…');
  });

  it('passes no control character to the terminal', () => {
    const rows = [{ name: 'a\u001b[31m', text: 'b\nc' }];
    expect(tableLines(COLUMNS, rows, { isWide: false, terminal: NO_TERMINAL })[1]).toBe('a [31m   b c');
  });
});

describe('a terminal', () => {
  it('has colours, unless NO_COLOR is set, the terminal is dumb, or it is a file without FORCE_COLOR', () => {
    expect(terminalOf({ isTTY: true, columns: 120 }, {})).toEqual({ columns: 120, hasColour: true });
    expect(terminalOf({ isTTY: true, columns: 10 }, { NO_COLOR: '1' })).toEqual({ columns: 40, hasColour: false });
    expect(terminalOf({ isTTY: true }, { TERM: 'dumb' })).toEqual({ columns: 80, hasColour: false });
    expect(terminalOf({}, {})).toEqual(NO_TERMINAL);
    expect(terminalOf({}, { FORCE_COLOR: '1' })).toEqual({ columns: undefined, hasColour: true });
    expect(terminalOf({}, { FORCE_COLOR: '1', NO_COLOR: '1' })).toEqual(NO_TERMINAL);
    expect(paint('text', 'red', { columns: 80, hasColour: true })).toBe('\u001b[31mtext\u001b[0m');
    expect(paint('text', 'red', NO_TERMINAL)).toBe('text');
  });

  it('lines are broken at spaces, and longer words stay whole', () => {
    expect(wrap('one two three-and-more four', 9)).toEqual(['one two', 'three-and-more', 'four']);
  });
});
