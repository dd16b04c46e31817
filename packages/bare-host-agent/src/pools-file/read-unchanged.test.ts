import { spawn, spawnSync } from 'node:child_process';
import { appendFileSync, mkdtempSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { readUnchanged } from './read-unchanged.js';

let folder: string;
let path: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'vmdhcp-read-'));
  path = join(folder, 'pools.yaml');
});

afterEach(() => rmSync(folder, { recursive: true }));

it('a file that is written while it is read is read again, as a part of it lacks machines', async () => {
  writeFileSync(path, 'one ');
  let readings = 0;
  const octets = await readUnchanged(path, async (from) => {
    const read = await readFile(from);
    if (++readings < 3) appendFileSync(path, 'more ');
    return read;
  });
  expect(octets.toString()).toBe('one more more ');
  expect(readings).toBeGreaterThanOrEqual(3);
});

it('a file that was written a moment ago is not read before nobody has written it for a second, as by an agent that starts meanwhile', async () => {
  writeFileSync(path, 'one');
  let readAtMs = 0;
  await readUnchanged(path, (from) => {
    readAtMs = Date.now();
    return readFile(from);
  });
  expect(readAtMs - statSync(path).mtimeMs).toBeGreaterThan(990);
});

it('a file whose time is ahead of the clock is read at once', async () => {
  writeFileSync(path, 'one');
  utimesSync(path, new Date(), new Date(Date.now() + 3_600_000));
  let readings = 0;
  await readUnchanged(path, (from) => {
    readings++;
    return readFile(from);
  });
  expect(readings).toBe(1);
});

it('a pipe is read once', async () => {
  spawnSync('sh', ['-c', 'mkfifo "$1"', 'sh', path]);
  const writer = spawn('sh', ['-c', 'printf one > "$1"', 'sh', path]);
  expect((await readUnchanged(path)).toString()).toBe('one');
  expect(writer.exitCode ?? 0).toBe(0);
});
