import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ImageEntry } from '../tree/image-entry.js';
import { readTar } from './read-tar.js';
import { writeTar } from './write-tar.js';

const LONG = `${'long-name/'.repeat(14)}file.js`;
const file = (path: string, text = path): ImageEntry => ({ kind: 'file', path, mode: 0o644, content: Buffer.from(text) });

describe('an archive of a layer', () => {
  it('has every folder, in the order of the octets, with the names that GNU tar reads', () => {
    const entries = [file('b'), file('a/c'), file(LONG), { kind: 'link' as const, path: 'a.link', target: LONG }];
    const listed = execFileSync('tar', ['--list'], { input: writeTar(entries), encoding: 'utf8' })
      .trim()
      .split('\n');
    const folders = Array.from({ length: 14 }, (_, index) => 'long-name/'.repeat(index + 1));
    expect(listed).toEqual(['a/', 'a.link', 'a/c', 'b', ...folders, LONG]);
  });

  it('belongs to root and is of 1970-01-01', () => {
    const [line] = execFileSync('tar', ['--list', '--verbose', '--numeric-owner', '--utc'], {
      input: writeTar([file('a')]),
      encoding: 'utf8',
    }).split('\n');
    expect(line).toMatch(/^-rw-r--r-- 0\/0 +1 1970-01-01 00:00 a$/);
  });

  it('lets a program take capabilities into use, as setcap =p writes it', () => {
    const node: ImageEntry = { ...file('node'), kind: 'file', mode: 0o755, content: Buffer.from('x'), capabilities: ['NET_RAW'] };
    const archive = writeTar([node]);
    expect(readTar(archive)[0]?.attributes).toEqual(['security.capability']);
    // From `setcap cap_net_raw=p FILE; getfattr -e hex -n security.capability FILE`.
    expect(archive.includes(Buffer.from('0000000200200000000000000000000000000000', 'hex'))).toBe(true);
  });

  it('refuses two entries with one path', () => {
    expect(() => writeTar([file('a'), file('a')])).toThrow('two files of an image have the path a');
  });

  it('law: what is written is read again, and the order of the entries does not matter', () => {
    const name = fc.stringMatching(/^[a-z][a-z0-9.é-]{0,60}$/);
    const paths = fc.uniqueArray(fc.array(name, { minLength: 1, maxLength: 4 }).map((parts) => `d/${parts.join('_/')}_f`));
    fc.assert(
      fc.property(paths, fc.uint8Array({ maxLength: 1_500 }), (names, content) => {
        const entries = names.map((path): ImageEntry => ({ kind: 'file', path, mode: 0o755, content: Buffer.from(content) }));
        const archive = writeTar(entries);
        expect(writeTar(entries.toReversed()).equals(archive)).toBe(true);
        const read = readTar(archive).filter(({ type }) => type === '0');
        expect(new Set(read.map(({ path }) => path))).toEqual(new Set(names));
        for (const { content: octets, mode } of read) {
          expect(octets.equals(Buffer.from(content))).toBe(true);
          expect(mode).toBe(0o755);
        }
      }),
      { numRuns: 50 },
    );
  });
});
