import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { expect, it, onTestFinished } from 'vitest';
import { writeBlocks } from './copy-capture.js';

it('an earlier capture in the file is kept if the agent sends nothing', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'vmdhcp-copy-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'file.pcapng');
  writeFileSync(path, 'an earlier capture');
  expect(await writeBlocks(Readable.from([]), { path, packets: 1, cut: new AbortController() })).toMatchObject({ packets: 0 });
  // As after a command that ended with its first packets.
  const ended = Readable.from([]);
  await ended.toArray();
  expect(await writeBlocks(ended, { path, packets: 1, cut: new AbortController() })).toMatchObject({ packets: 0 });
  expect(readFileSync(path, 'utf8')).toBe('an earlier capture');
});
