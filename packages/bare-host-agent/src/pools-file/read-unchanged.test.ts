import { spawn, spawnSync } from 'node:child_process';
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
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
  expect([octets.toString(), readings]).toEqual(['one more more ', 3]);
});

it('a pipe is read once', async () => {
  spawnSync('sh', ['-c', 'mkfifo "$1"', 'sh', path]);
  const writer = spawn('sh', ['-c', 'printf one > "$1"', 'sh', path]);
  expect((await readUnchanged(path)).toString()).toBe('one');
  expect(writer.exitCode ?? 0).toBe(0);
});
