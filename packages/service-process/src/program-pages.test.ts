import { readFileSync, readlinkSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { releaseProgramPages, unchangedMappings } from './program-pages.js';

const PROGRAM = '/usr/local/bin/node';

function entry(range: string, rights: string, { file = PROGRAM, anonymousKilobytes = 0 } = {}): string {
  return `${range} ${rights} 0034a000 fe:00 5906662${file === '' ? '' : `                            ${file}`}
Size:              41960 kB
Rss:               30104 kB
Anonymous:         ${String(anonymousKilobytes).padStart(5)} kB
VmFlags: rd ex mr mw me
`;
}

describe('mappings with the content of the file', () => {
  it('code and constants of the program, as proc(5) shows them', () => {
    const smaps = [
      entry('00400000-00746000', 'r--p'),
      entry('0074a000-03044000', 'r-xp'),
      entry('7ff6af580000-7ff6af785000', 'r-xp'),
    ];
    expect(unchangedMappings(smaps.join(''), PROGRAM)).toEqual([
      { start: 0x400000, length: 0x346000 },
      { start: 0x74a000, length: 0x28fa000 },
      { start: 0x7ff6af580000, length: 0x205000 },
    ]);
  });

  it.each([
    [
      'that the loader has changed, and made read-only (relocations)',
      entry('06b52000-06b56000', 'r--p', { anonymousKilobytes: 16 }),
    ],
    ['that can be written', entry('06b56000-06b7d000', 'rw-p')],
    ['that processes share', entry('06b56000-06b7d000', 'r--s')],
    ['of a library', entry('7f0000000000-7f0000001000', 'r-xp', { file: '/usr/lib/libc.so.6' })],
    ['of a program that was replaced meanwhile', entry('00400000-00746000', 'r--p', { file: `${PROGRAM} (deleted)` })],
    ['without a file', entry('7f0000000000-7f0000001000', 'r-xp', { file: '' })],
    ['without details', '00400000-00746000 r--p 00000000 fe:00 5906662   /usr/local/bin/node\n'],
  ])('none %s', (_, smaps) => {
    expect(unchangedMappings(smaps, PROGRAM)).toEqual([]);
  });
});

it.skipIf(process.platform !== 'linux')('the process continues with fewer pages of its program', async () => {
  const mappedKilobytes = () => {
    const text = readFileSync('/proc/self/smaps', 'utf8');
    const own = text
      .split(/^(?=[0-9a-f]+-[0-9a-f]+ )/m)
      .filter((one) => one.split('\n')[0]?.endsWith(readlinkSync('/proc/self/exe')));
    return own.reduce((sum, one) => sum + Number(/^Rss: +(\d+) kB/m.exec(one)?.[1]), 0);
  };
  const before = mappedKilobytes();
  await releaseProgramPages();
  expect(mappedKilobytes()).toBeLessThan(before / 2);
});
