import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { expect, it, onTestFinished, vi } from 'vitest';
import { writeBlocks } from './copy-capture.js';

/** A section header block without options. */
const CAPTURE = Buffer.from('0a0d0d0a1c0000004d3c2b1a01000000ffffffffffffffff1c000000', 'hex');

function earlierCapture(): string {
  const folder = mkdtempSync(join(tmpdir(), 'vmdhcp-copy-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'file.pcapng');
  writeFileSync(path, 'an earlier capture', { mode: 0o644 });
  return path;
}

it('an earlier capture in the file is kept if the agent sends nothing', async () => {
  const path = earlierCapture();
  expect(await writeBlocks(Readable.from([]), { path, packets: 1, cut: new AbortController() })).toMatchObject({ packets: 0 });
  // As after a command that ended with its first packets.
  const ended = Readable.from([]);
  await ended.toArray();
  expect(await writeBlocks(ended, { path, packets: 1, cut: new AbortController() })).toMatchObject({ packets: 0 });
  expect(readFileSync(path, 'utf8')).toBe('an earlier capture');
});

it('an earlier capture is kept if the agent sends something else than a capture', async () => {
  const path = earlierCapture();
  const stdout = Readable.from([Buffer.from('error: unknown command capture\n')]);
  await expect(writeBlocks(stdout, { path, packets: 10, cut: new AbortController() })).rejects.toMatchObject({ exitCode: 69 });
  expect(readFileSync(path, 'utf8')).toBe('an earlier capture');
});

it('a capture can be read by its user alone, also in a file that was there', async () => {
  const path = earlierCapture();
  await writeBlocks(Readable.from([CAPTURE]), { path, packets: 10, cut: new AbortController() });
  expect([readFileSync(path), statSync(path).mode & 0o777]).toEqual([CAPTURE, 0o600]);
});

it('an earlier capture is kept in a file of another user, who could read the new one', async () => {
  const path = earlierCapture();
  const user = vi.spyOn(process, 'geteuid').mockReturnValue(4_242);
  onTestFinished(() => user.mockRestore());
  const written = writeBlocks(Readable.from([CAPTURE]), { path, packets: 10, cut: new AbortController() });
  await expect(written).rejects.toMatchObject({ exitCode: 73, message: expect.stringContaining('give a file of your own') });
  expect(readFileSync(path, 'utf8')).toBe('an earlier capture');
});

it('a named pipe without a reader is refused, for whom the command would wait without end', async () => {
  const path = join(dirname(earlierCapture()), 'pipe');
  execFileSync('sh', ['-c', `mkfifo ${path}`]);
  const written = writeBlocks(Readable.from([CAPTURE]), { path, packets: 10, cut: new AbortController() });
  await expect(written).rejects.toMatchObject({ exitCode: 73, message: expect.stringContaining('start the reader first') });
});
