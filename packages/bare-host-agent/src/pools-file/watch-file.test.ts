import { appendFileSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { fileState, watchFile } from './watch-file.js';

let folder: string;
let path: string;
let ended: AbortController;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'vmdhcp-watch-'));
  path = join(folder, 'pools.yaml');
  writeFileSync(path, 'one');
  ended = new AbortController();
});

afterEach(() => {
  ended.abort();
  rmSync(folder, { recursive: true });
});

/** Watches a file; `next` resolves at the next change. */
function watch(since: string) {
  const watched = { changes: 0, next: Promise.withResolvers<void>() };
  watchFile({ path, since, signal: ended.signal }, () => {
    watched.changes++;
    watched.next.resolve();
    watched.next = Promise.withResolvers();
  });
  return watched;
}

describe('watchFile', () => {
  it.each<[string, () => void]>([
    ['is written', () => writeFileSync(path, 'two')],
    [
      'is replaced, as editors do',
      () => {
        writeFileSync(`${path}.new`, 'one');
        renameSync(`${path}.new`, path);
      },
    ],
    ['goes', () => rmSync(path)],
  ])('reports a file that %s', async (_, change) => {
    const watched = watch(await fileState(path));
    change();
    await watched.next.promise;
    expect(watched.changes).toBe(1);
  });

  /** The look ends before the next one: it makes the same request as this. */
  const look = async () => {
    vi.advanceTimersByTime(250);
    await fileState(path);
    await fileState(path);
  };

  it('reports a file that has stayed the same for a second, so that nothing half written takes effect', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    try {
      const watched = watch(await fileState(path));
      for (let part = 0; part < 12; part++) {
        appendFileSync(path, 'two');
        await look();
      }
      for (let quiet = 0; quiet < 3; quiet++) await look();
      expect(watched.changes).toBe(0);
      await look();
      expect(watched.changes).toBe(1);
      for (let quiet = 0; quiet < 8; quiet++) await look();
      expect(watched.changes).toBe(1);
    } finally {
      ended.abort();
      vi.useRealTimers();
    }
  });

  it('reports a change between reading the file and watching it', async () => {
    const since = await fileState(path);
    writeFileSync(path, 'two, before it was watched');
    await watch(since).next.promise;
  });

  it('reports nothing if the file stays the same, or after its end', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    try {
      const watched = watch(await fileState(path));
      vi.advanceTimersByTime(250);
      // The check in progress has to end first: it makes the same request as this one.
      await fileState(path);
      await fileState(path);
      expect(watched.changes).toBe(0);
      ended.abort();
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });
});
