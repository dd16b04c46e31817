import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { LiveView } from './live-view.js';
import { wrapLine } from './wrap-line.js';

const ESCAPE = '\u001b';
/** Lines up to erase, and what is written after that. */
const PARTS = new RegExp(`(?:${ESCAPE}\\[(\\d+)A${ESCAPE}\\[J)?((?:(?!${ESCAPE}\\[\\d+A)[\\s\\S])*)`, 'g');

/** What is left to be seen: lines, of which a terminal shows one that is too long in several. */
class Terminal {
  readonly isTTY = true;
  columns: number;
  #lines: string[] = [''];

  constructor(columns: number) {
    this.columns = columns;
  }

  get lines(): readonly string[] {
    return this.#lines;
  }

  write(text: string): void {
    for (const [, up, rest = ''] of text.matchAll(PARTS)) {
      if (up !== undefined) this.#lines = [...this.#lines.slice(0, -1 - Number(up)), ''];
      for (const character of stripVTControlCharacters(rest)) this.#put(character);
    }
  }

  #put(character: string): void {
    const last = this.#lines.at(-1) ?? '';
    if (character === '\n') this.#lines.push('');
    else if (last.length >= this.columns) this.#lines.push(character);
    else this.#lines[this.#lines.length - 1] = last + character;
  }
}

const WIDTHS = [60, 80, 120, 200];
const TEXT =
  'the standby answers a client that asks again without a reply, and is leader when the Lease of the dead one ends, vm-dhcp-agent-mgmt-1-7dd6d5db79-lj4qj';

/** Plays what a story does on a terminal of that width. */
function play(terminal: Terminal): void {
  const view = new LiveView(terminal);
  view.table('VIRTUAL MACHINE', 'MAC ADDRESS', 'RUN STRATEGY', 'STATUS', 'STARTS');
  for (const name of ['office/build-server', 'office/mail-server'])
    view.set(name, { 'MAC ADDRESS': '02:00:5e:00:77:01', 'RUN STRATEGY': 'Manual', STATUS: 'Stopped', STARTS: '0' });
  for (let count = 1; count <= 5; count++) {
    view.step(TEXT);
    view.line(TEXT);
    view.set('office/build-server', { STARTS: String(count) });
  }
  view.end();
}

describe('the view of the demo', () => {
  it.each(WIDTHS)('on a terminal of %i columns shows the table once, as it is now, and breaks no word', (columns) => {
    const terminal = new Terminal(columns);
    play(terminal);
    expect(terminal.lines.filter((line) => line.startsWith('VIRTUAL MACHINE'))).toHaveLength(1);
    const row = terminal.lines.filter((line) => line.startsWith('office/build-server'));
    expect(row).toEqual([expect.stringMatching(/Stopped +5$/)]);
    const words = terminal.lines.flatMap((line) => line.split(' ').filter((word) => word !== ''));
    for (const word of TEXT.split(' ')) expect(words.filter((one) => one === word).length, word).toBeGreaterThanOrEqual(10);
  });

  it('erases the whole table after the terminal became narrower', () => {
    const terminal = new Terminal(120);
    const view = new LiveView(terminal);
    view.table('MACHINE', 'NETWORK', 'ADDRESS');
    view.set('gateway-front', { NETWORK: 'a network with a long name, which needs much room', ADDRESS: '192.168.48.10' });
    const wide = [...terminal.lines];
    const narrow = new Terminal(60);
    narrow.write(wide.join('\n'));
    terminal.columns = 60;
    const written: string[] = [];
    const write = terminal.write.bind(terminal);
    terminal.write = (text) => void written.push(text);
    view.line('next');
    terminal.write = write;
    narrow.write(written.join(''));
    expect(narrow.lines.filter((line) => line.includes('MACHINE'))).toHaveLength(1);
  });

  it('writes whole lines and the table once where there is no terminal', () => {
    const written: string[] = [];
    const view = new LiveView({ write: (text) => written.push(text) });
    view.table('MACHINE', 'ADDRESS');
    view.line(TEXT);
    view.set('web', { ADDRESS: '-' });
    view.set('web', { ADDRESS: '192.168.48.10' });
    view.end();
    const lines = stripVTControlCharacters(written.join('')).split('\n');
    expect(lines).toEqual([
      expect.stringMatching(new RegExp(`^ +[\\d.]+ s {2}${TEXT}$`)),
      '',
      'MACHINE  ADDRESS',
      'web      192.168.48.10',
      '',
    ]);
  });
});

describe('a line that is too long', () => {
  it.each([
    ['a tree goes on', '├─ ✗ address         none is recorded for the interface, and so it stays', 62, '│                    '],
    [
      'text below the text of its column',
      '  README.md, "In a cluster"              the same in your cluster: one command, two files',
      82,
      ' '.repeat(41),
    ],
    [
      'below its indentation, where the column leaves no room',
      '  README.md, "In a cluster"              the same in your cluster',
      60,
      ' '.repeat(6),
    ],
  ])('is continued: %s', (_, line, columns, margin) => {
    const [first = '', second = '', ...others] = wrapLine(line, columns);
    expect(others).toEqual([]);
    expect(second.startsWith(`${margin}`) && second[margin.length] !== ' ').toBe(true);
    expect(`${first.trimEnd()} ${second.slice(margin.length)}`).toBe(line);
  });

  it('ends a word without a space after its punctuation', () => {
    const json = 'WolConfig office: {"discoveryMode":"All","namespaceSelectors":["office"],"wolPorts":[9]}';
    const lines = wrapLine(json, 40);
    expect(lines.every((line) => line.length <= 40)).toBe(true);
    expect(
      lines
        .map((line) => line.trimStart())
        .join('')
        .replace(':{', ': {'),
    ).toBe(json);
    expect(lines[1]?.trimStart()).toBe('{"discoveryMode":"All",');
  });

  it('counts no colours', () => {
    expect(wrapLine('\x1b[2mone two\x1b[22m', 7)).toEqual(['\x1b[2mone two\x1b[22m']);
  });
});
