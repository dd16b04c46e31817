import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
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

  it('reports a file that has stayed the same for a second, so that nothing half written takes effect, or has changed for a minute', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    try {
      let [state, changes] = ['one', 0];
      watchFile({ path, since: state, signal: ended.signal, stateOf: async () => state }, () => changes++);
      const look = async (next = state) => {
        state = next;
        vi.advanceTimersByTime(250);
        for (let turn = 0; turn < 5; turn++) await Promise.resolve();
      };
      for (let part = 0; part < 12; part++) await look(`part ${part}`);
      for (let quiet = 0; quiet < 3; quiet++) await look();
      expect(changes).toBe(0);
      await look();
      expect(changes).toBe(1);
      for (let quiet = 0; quiet < 8; quiet++) await look();
      expect(changes).toBe(1);
      for (let part = 0; part < 239; part++) await look(`again ${part}`);
      expect(changes).toBe(1);
      await look('and again');
      expect(changes).toBe(2);
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
