import { describe, expect, it } from 'vitest';
import { readTar } from '../tar/read-tar.js';
import { writeTar } from '../tar/write-tar.js';
import type { FileEntry, ImageEntry } from '../tree/image-entry.js';
import { scanImage } from './scan-image.js';

const file = (path: string, more: Partial<FileEntry> = {}): ImageEntry => ({
  kind: 'file',
  path,
  mode: 0o644,
  content: Buffer.from('text'),
  ...more,
});
const scan = (...entries: readonly ImageEntry[]) =>
  scanImage(readTar(writeTar(entries)), { architecture: 'amd64', privileged: [], foreignTexts: ['/home/builder'] });

describe('the scan of an image', () => {
  it('finds nothing in what belongs there', () => {
    const page = file('app/node_modules/vmdhcp-agent/program/status-page/page/style.css');
    const others = [file('etc/passwd'), file('usr/bin/node', { mode: 0o755 })];
    expect(scan(file('app/node_modules/@x/y/dist/index.js'), page, ...others)).toEqual([]);
  });

  it.each<[string, ImageEntry, RegExp]>([
    ['a shell', file('bin/sh', { mode: 0o755 }), /bin\/sh: a tool/],
    ['a package manager', file('app/node_modules/npm/bin/npm'), /a tool/],
    ['a file of no package', file('root/.npmrc'), /not in the list/],
    ['a file of a page elsewhere', file('app/node_modules/x/page/style.css'), /neither code nor a licence/],
    ['a type declaration', file('app/node_modules/x/index.d.ts'), /neither code nor a licence/],
    ['a program that runs as its owner', file('usr/bin/node', { mode: 0o4755 }), /mode 4755/],
    ['a file that any user may write', file('etc/passwd', { mode: 0o666 }), /mode 666/],
    ['a folder that any user may write', { kind: 'folder', path: 'tmp', mode: 0o1777 }, /mode 1777/],
    ['a capability', file('usr/bin/node', { capabilities: ['NET_RAW'] }), /security\.capability/],
    ['a link to nothing', { kind: 'link', path: 'var/run', target: '/nowhere' }, /a link to \/nowhere/],
    [
      'a path of the machine that built it',
      file('app/node_modules/x/a.js', { content: Buffer.from('"/home/builder/x"') }),
      /home\/builder/,
    ],
  ])('finds %s', (_, entry, expected) => expect(scan(entry).join('\n')).toMatch(expected));

  it('finds a program for another processor, and a library that is missing', () => {
    const found = scan(file('usr/bin/node', { mode: 0o755, content: Buffer.concat([elf(183), Buffer.alloc(64)]) }));
    expect(found).toEqual(['usr/bin/node: needs libgone.so.1, which is not there', 'usr/bin/node: for arm64, not for amd64']);
  });
});

/** A program with one segment that is its list of libraries: `libgone.so.1`. */
function elf(machine: number): Buffer {
  const content = Buffer.alloc(256);
  content.writeUInt32BE(0x7f_45_4c_46, 0);
  content.writeUInt16LE(machine, 18);
  content.writeBigUInt64LE(64n, 32);
  content.writeUInt16LE(56, 54);
  content.writeUInt16LE(1, 56);
  content.writeUInt32LE(2, 64);
  content.writeBigUInt64LE(128n, 64 + 8);
  content.writeBigUInt64LE(48n, 64 + 32);
  content.writeBigInt64LE(1n, 128);
  content.writeBigInt64LE(0n, 136);
  content.writeBigInt64LE(5n, 144);
  content.writeBigInt64LE(200n, 152);
  content.write('libgone.so.1\0', 200);
  return content;
}
