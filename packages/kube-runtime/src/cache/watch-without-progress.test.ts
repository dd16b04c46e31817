/** Watches that cannot go on from where they are, as after etcd was restored from a backup: versions go back there. */
import { describe, expect, it } from 'vitest';
import type { ListPage, WatchHandlers } from '../api/resource-port.js';
import type { KubernetesObject } from '../object/kubernetes-object.js';
import { FakeClock } from '../testing/fake-clock.js';
import { Reflector } from './reflector.js';

type Answer = (resourceVersion: string, handlers: WatchHandlers<KubernetesObject>) => void;

const MINUTE_MS = 60_000;
const object = (name: string, resourceVersion: string): KubernetesObject => ({ metadata: { name, uid: name, resourceVersion } });

/** A server at version 1000, which a test restores to version 500. Watches are answered as `answer` says. */
function setUp(answer: Answer, random = 0.5) {
  const clock = new FakeClock();
  let page: ListPage<KubernetesObject> = { items: [object('before', '900')], resourceVersion: '1000' };
  const counts = { lists: 0, watches: 0 };
  const reflector = new Reflector<KubernetesObject>({
    clock,
    backOff: { firstMs: 100, mostMs: 30_000, random: () => random },
    onChange: () => undefined,
    port: {
      list: async () => {
        counts.lists++;
        return page;
      },
      watch: (resourceVersion, handlers) => {
        counts.watches++;
        return clock.after(5, () => answer(resourceVersion, handlers));
      },
    },
  });
  const restore = () => {
    page = { items: [object('after', '450')], resourceVersion: '500' };
  };
  return { clock, reflector, counts, restore, names: () => [...reflector.keys()] };
}

const refused = (status: number) => Object.assign(new Error(`HTTP ${status}`), { status });

describe('after etcd was restored', () => {
  it('watches from a version that the server has not reached are silent: after three of them there is a new list', async () => {
    const { clock, reflector, restore, names } = setUp(() => undefined);
    reflector.start();
    await clock.advance(MINUTE_MS);
    restore();
    await clock.advance(9 * MINUTE_MS);
    expect(names()).toEqual(['after']);
  });

  it.each([
    ['closes them', { kind: 'closed' }],
    ['cuts them', { kind: 'failed', error: new Error('ECONNRESET') }],
  ] as const)('a proxy that %s each minute does not keep silent watches going for ever', async (_, end) => {
    const { clock, reflector, restore, names } = setUp((version, { onEnd }) => {
      if (version === '1000') clock.after(MINUTE_MS, () => onEnd(end));
    });
    reflector.start();
    await clock.advance(1_000);
    restore();
    await clock.advance(10 * MINUTE_MS);
    expect(names()).toEqual(['after']);
  });

  it.each([400, 403, 500, 504])('a watch that is refused with %i is followed by a list', async (status) => {
    let isRestored = false;
    const { clock, reflector, restore, names, counts } = setUp((version, { onEvent, onEnd }) => {
      if (isRestored && version === '1000') onEnd({ kind: 'failed', error: refused(status) });
      else onEvent({ type: 'bookmark', resourceVersion: version });
      if (!isRestored) clock.after(2 * MINUTE_MS, () => onEnd({ kind: 'closed' }));
    });
    reflector.start();
    await clock.advance(3.5 * MINUTE_MS);
    restore();
    isRestored = true;
    await clock.advance(2 * MINUTE_MS);
    expect([names(), counts.lists]).toEqual([['after'], 2]);
  });
});

describe('a list costs much where there are many objects', () => {
  it('watches that are refused again and again cause lists ever more rarely: once an hour or so', async () => {
    const { clock, reflector, counts } = setUp((_, { onEnd }) => onEnd({ kind: 'failed', error: refused(403) }));
    reflector.start();
    await clock.advance(10 * MINUTE_MS);
    expect(counts).toEqual({ lists: 2, watches: expect.any(Number) as number });
    await clock.advance(24 * 60 * MINUTE_MS);
    expect(counts.lists).toBeGreaterThanOrEqual(20);
    expect(counts.lists).toBeLessThan(60);
  });

  it('watches that are refused after a bookmark cause a list every three minutes at most', async () => {
    const { clock, reflector, counts } = setUp((version, { onEvent, onEnd }) => {
      onEvent({ type: 'bookmark', resourceVersion: version });
      onEnd({ kind: 'failed', error: refused(500) });
    });
    reflector.start();
    await clock.advance(60 * MINUTE_MS);
    expect(counts.lists).toBeGreaterThan(10);
    expect(counts.lists).toBeLessThanOrEqual(21);
  });

  it('a server that is too busy for a watch is not asked for a list', async () => {
    const busy = Object.assign(refused(429), { retryAfterMs: 1_000 });
    const { clock, reflector, counts } = setUp((_, { onEnd }) => onEnd({ kind: 'failed', error: busy }));
    reflector.start();
    await clock.advance(5 * MINUTE_MS);
    expect(counts.lists).toBe(1);
  });

  it('a kind that does not change is listed once as long as bookmarks come', async () => {
    const { clock, reflector, counts } = setUp((version, { onEvent, onEnd }) => {
      for (let minute = 0; minute < 5; minute++)
        clock.after(minute * MINUTE_MS, () => onEvent({ type: 'bookmark', resourceVersion: version }));
      clock.after(5 * MINUTE_MS, () => onEnd({ kind: 'closed' }));
    });
    reflector.start();
    await clock.advance(24 * 60 * MINUTE_MS);
    expect(counts.lists).toBe(1);
    expect(counts.watches).toBeGreaterThan(200);
  });

  it.each([0, 0.5, 0.999])(
    'a kind that does not change, of a server without bookmarks, is listed ever more rarely: once an hour or so (random %d)',
    async (random) => {
      const { clock, reflector, counts } = setUp(() => undefined, random);
      reflector.start();
      await clock.advance(24 * 60 * MINUTE_MS);
      expect(counts.lists).toBeGreaterThanOrEqual(20);
      expect(counts.lists).toBeLessThan(60);
    },
  );
});
