import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FakeClock } from '../testing/fake-clock.js';
import { MemoryResource } from '../testing/memory-resource.js';
import { Reflector } from './reflector.js';

interface Thing {
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly uid: string;
    readonly resourceVersion?: string;
  };
  readonly size: number;
}

const thing = (name: string, size = 0): Thing => ({ metadata: { name, namespace: 'default', uid: name }, size });

function setUp({ pageSize = 2, silenceMs = 60_000 } = {}) {
  const clock = new FakeClock();
  const server = new MemoryResource<Thing>(clock);
  const log: string[] = [];
  const reflector: Reflector<Thing> = new Reflector<Thing>({
    port: server,
    clock,
    pageSize,
    silenceMs,
    backOff: { firstMs: 100, mostMs: 1_000, random: () => 0.999 },
    onChange: (key) => log.push(`${key.slice('default/'.length)}=${reflector.get(key)?.size ?? 'gone'}`),
    onSynced: () => log.push('synced'),
    onError: (error) => log.push(`error ${(error as Error).message}`),
  });
  return { clock, server, log, reflector };
}

describe('a reflector', () => {
  it('lists in pages, reports when it has everything, and then follows', async () => {
    const { clock, server, log, reflector } = setUp();
    for (const name of ['a', 'b', 'c', 'd', 'e']) server.put(thing(name));
    reflector.start();
    await clock.advance(2);
    expect([reflector.synced, log]).toEqual([false, []]);
    await clock.advance(10);
    expect(log).toEqual(['a=0', 'b=0', 'c=0', 'd=0', 'e=0', 'synced']);
    server.put(thing('a', 7));
    server.remove('default/b');
    server.put(thing('f', 1));
    expect(log.slice(6)).toEqual(['a=7', 'b=gone', 'f=1']);
    expect(server.requests).toEqual({ lists: 3, watches: 1 });
  });

  it('is not synced while lists fail, and tries again, later each time', async () => {
    const { clock, server, log, reflector } = setUp();
    server.failNext = 3;
    reflector.start();
    await clock.advance(90);
    expect([reflector.synced, log]).toEqual([false, ['error HTTP 500']]);
    await clock.advance(2_000);
    expect(log).toEqual(['error HTTP 500', 'error HTTP 500', 'error HTTP 500', 'synced']);
  });

  it('continues where a watch ended, and misses nothing', async () => {
    const { clock, server, log, reflector } = setUp();
    reflector.start();
    await clock.advance(200);
    server.closeWatches();
    server.put(thing('a', 1));
    await clock.advance(10);
    server.closeWatches('failed');
    server.put(thing('a', 2));
    await clock.advance(200);
    expect(log).toEqual(['synced', 'a=1', 'error connection reset', 'a=2']);
    expect(server.requests.lists).toBe(1);
  });

  it('lists anew when the server has forgotten where it was, and reports what is gone', async () => {
    const { clock, server, log, reflector } = setUp();
    for (const name of ['a', 'b']) server.put(thing(name));
    reflector.start();
    await clock.advance(200);
    server.closeWatches('failed');
    server.remove('default/a');
    server.put(thing('c', 3));
    server.compact();
    await clock.advance(500);
    expect(log).toEqual(['a=0', 'b=0', 'synced', 'error connection reset', 'c=3', 'a=gone']);
  });

  it('a bookmark saves the new list', async () => {
    const { clock, server, reflector } = setUp();
    reflector.start();
    await clock.advance(200);
    server.put(thing('a'));
    server.bookmark();
    server.compact();
    server.closeWatches();
    await clock.advance(500);
    expect(server.requests).toEqual({ lists: 1, watches: 2 });
  });

  it('begins the list anew when a page of it is forgotten', async () => {
    const { clock, server, log, reflector } = setUp();
    for (const name of ['a', 'b', 'c']) server.put(thing(name));
    reflector.start();
    await clock.advance(1);
    server.put(thing('d'));
    server.compact();
    await clock.advance(500);
    expect(log).toEqual(['a=0', 'b=0', 'c=0', 'd=0', 'synced']);
  });

  it('a watch that is closed at once, again and again, does not cause a hot loop', async () => {
    const { clock, server, reflector } = setUp();
    reflector.start();
    for (let ms = 0; ms < 10_000; ms += 5) {
      await clock.advance(5);
      server.closeWatches();
    }
    expect(server.requests.watches).toBeLessThan(20);
  });

  it('a silent watch is replaced', async () => {
    const { clock, server, reflector } = setUp({ silenceMs: 1_000 });
    reflector.start();
    await clock.advance(3_500);
    expect(server.requests).toEqual({ lists: 1, watches: 4 });
  });

  it('a listener that throws gets its error, and everything continues', async () => {
    const { clock, server, log } = setUp();
    const seen: string[] = [];
    const reflector = new Reflector<Thing>({
      port: server,
      clock,
      backOff: { firstMs: 100, mostMs: 1_000, random: () => 0 },
      onChange: (key) => {
        seen.push(key);
        throw new Error('listener');
      },
      onError: (error) => log.push((error as Error).message),
    });
    reflector.start();
    await clock.advance(100);
    server.put(thing('a'));
    server.put(thing('b'));
    expect([seen, log]).toEqual([
      ['default/a', 'default/b'],
      ['listener', 'listener'],
    ]);
  });

  it('stops for good, whatever it was doing', async () => {
    for (const ms of [0, 1, 2, 5, 150]) {
      const { clock, server, log, reflector } = setUp();
      server.put(thing('a'));
      reflector.start();
      await clock.advance(ms);
      const before = log.length;
      reflector.stop();
      server.put(thing('b'));
      server.closeWatches('failed');
      await clock.advance(100_000);
      expect(log).toHaveLength(before);
      expect(clock.pending).toBe(0);
    }
  });

  it('fact 1: 12,000 objects come in pages of 500; a page that is forgotten begins the list once more, and the copy changes at once', async () => {
    const clock = new FakeClock();
    const server = new MemoryResource<Thing>(clock);
    const changes: string[] = [];
    const reflector: Reflector<Thing> = new Reflector<Thing>({
      port: server,
      clock,
      backOff: { firstMs: 100, mostMs: 1_000, random: () => 0.5 },
      onChange: (key) => changes.push(`${key} ${reflector.get(key) === undefined ? 'gone' : 'here'}`),
    });
    for (let index = 0; index < 12_000; index++) server.put(thing(`n${index}`));
    server.compact();
    reflector.start();
    await clock.advance(30);
    expect([reflector.size, changes.length, server.requests]).toEqual([12_000, 12_000, { lists: 24, watches: 1 }]);
    server.closeWatches('failed');
    server.remove('default/n7');
    server.compact();
    reflector.relist();
    await clock.advance(2);
    server.put(thing('later'));
    server.compact();
    expect([reflector.size, changes.length]).toEqual([12_000, 12_000]);
    await clock.advance(24 + 200);
    expect(changes.slice(12_000)).toEqual(['default/later here', 'default/n7 gone']);
    expect([reflector.size, server.requests.lists]).toEqual([12_000, 24 + 3 + 24]);
  });

  it('fact 3: what was deleted while the history was forgotten is reported, by one list', async () => {
    const { clock, server, log, reflector } = setUp({ pageSize: 10 });
    for (const name of ['a', 'b']) server.put(thing(name));
    reflector.start();
    await clock.advance(50);
    server.remove('default/b');
    server.closeWatches('expired');
    await clock.advance(5_000);
    expect(server.requests).toEqual({ lists: 2, watches: 2 });
    expect(log.at(-1)).toBe('b=gone');
  });

  it('fact 4: a watch that is closed twice within a second without an event is listed anew, and rarer each time', async () => {
    const { clock, server, reflector } = setUp({ silenceMs: 600_000 });
    reflector.start();
    await clock.advance(10);
    for (let close = 0; close < 2; close++) {
      await clock.advance(500);
      server.closeWatches();
    }
    await clock.advance(300);
    expect(server.requests).toEqual({ lists: 2, watches: 3 });
    const at: number[] = [];
    for (let ms = 0; ms < 60_000; ms += 10) {
      await clock.advance(10);
      server.closeWatches();
      if (server.requests.lists > 2 + at.length) at.push(ms);
    }
    expect(at.length, 'lists in a minute').toBeLessThan(40);
  });

  it('fact 4: a watch that lasts, or brings something, is reopened at once and not listed', async () => {
    const { clock, server, reflector } = setUp({ silenceMs: 600_000 });
    reflector.start();
    await clock.advance(10);
    for (let close = 0; close < 4; close++) {
      await clock.advance(1_001);
      server.closeWatches();
      await clock.advance(2);
      expect(server.requests).toEqual({ lists: 1, watches: close + 2 });
    }
    for (let close = 0; close < 4; close++) {
      await clock.advance(500);
      server.put(thing('a', close));
      server.closeWatches();
      await clock.advance(2);
      expect(server.requests).toEqual({ lists: 1, watches: close + 6 });
    }
  });

  it('fact 5: by default a watch without a sign of life is replaced after three minutes; one with bookmarks is never cut', async () => {
    const clock = new FakeClock();
    const server = new MemoryResource<Thing>(clock);
    const reflector = new Reflector<Thing>({
      port: server,
      clock,
      backOff: { firstMs: 100, mostMs: 1_000, random: () => 0.5 },
      onChange: () => undefined,
    });
    expect(reflector.silentMs).toBeUndefined();
    reflector.start();
    await clock.advance(180_000);
    expect([server.requests.watches, reflector.silentMs]).toEqual([1, 179_999]);
    await clock.advance(1);
    expect(server.requests.watches).toBe(2);
    for (let minute = 0; minute < 60; minute++) {
      await clock.advance(60_000);
      server.bookmark();
    }
    expect([server.requests, reflector.silentMs]).toEqual([{ lists: 1, watches: 2 }, 0]);
    await clock.advance(5);
    expect(reflector.silentMs).toBe(5);
  });

  it.each(['list', 'watch'] as const)(
    'fact 6: Retry-After of a refused %s is obeyed, and there is one watch at a time',
    async (what) => {
      const clock = new FakeClock();
      const at: number[] = [];
      let open = 0;
      const busy = Object.assign(new Error('429'), { retryAfterMs: 7_000 });
      const isBusy = () => {
        at.push(clock.nowMs());
        return at.length <= 2;
      };
      const reflector = new Reflector<Thing>({
        port: {
          list: async () => {
            if (what === 'list' && isBusy()) throw busy;
            return { items: [], resourceVersion: '5' };
          },
          watch: (_, { onEnd }) => {
            expect(++open).toBe(1);
            if (what === 'watch' && isBusy())
              clock.after(0, () => {
                open--;
                onEnd({ kind: 'failed', error: busy });
              });
            return () => open--;
          },
        },
        clock,
        backOff: { firstMs: 100, mostMs: 30_000, random: () => 0.5 },
        onChange: () => undefined,
      });
      reflector.start();
      await clock.advance(60_000);
      expect(at).toEqual([0, 7_000, 14_000]);
      reflector.relist();
      await clock.advance(10);
      expect([open, reflector.synced]).toEqual([1, true]);
    },
  );

  it('fact 6: any failure is retried forever, at most the longest back-off apart', async () => {
    const { clock, server, reflector } = setUp();
    server.failNext = Number.POSITIVE_INFINITY;
    reflector.start();
    await clock.advance(600_000);
    const before = server.requests.lists;
    await clock.advance(10_100);
    expect(server.requests.lists - before).toBeGreaterThanOrEqual(10);
    server.failNext = 0;
    await clock.advance(1_100);
    expect(reflector.synced).toBe(true);
  });

  it('law: whatever fails, closes, expires or is forgotten, in the end the copy equals the server, and every change was reported', async () => {
    const step = fc.oneof(
      {
        weight: 4,
        arbitrary: fc.record({ kind: fc.constant('put' as const), name: fc.constantFrom('a', 'b', 'c', 'd'), size: fc.nat(99) }),
      },
      { weight: 2, arbitrary: fc.record({ kind: fc.constant('delete' as const), name: fc.constantFrom('a', 'b', 'c', 'd') }) },
      { weight: 3, arbitrary: fc.record({ kind: fc.constant('wait' as const), ms: fc.nat(400) }) },
      fc.record({
        kind: fc.constant('close' as const),
        end: fc.constantFrom('closed' as const, 'failed' as const, 'expired' as const),
      }),
      fc.record({ kind: fc.constant('fail' as const), count: fc.integer({ min: 1, max: 3 }) }),
      fc.record({ kind: fc.constantFrom('compact' as const, 'bookmark' as const) }),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 40, size: 'max' }),
        fc.integer({ min: 1, max: 3 }),
        async (steps, pageSize) => {
          const clock = new FakeClock();
          const server = new MemoryResource<Thing>(clock);
          /** The state of a listener that reads every key that it receives. */
          const known = new Map<string, number>();
          const reflector: Reflector<Thing> = new Reflector<Thing>({
            port: server,
            clock,
            pageSize,
            backOff: { firstMs: 50, mostMs: 400, random: () => 0.5 },
            onChange: (key) => {
              const size = reflector.get(key)?.size;
              if (size === undefined) known.delete(key);
              else known.set(key, size);
            },
          });
          reflector.start();
          for (const one of steps) {
            if (one.kind === 'put') server.put(thing(one.name, one.size));
            else if (one.kind === 'delete') server.remove(`default/${one.name}`);
            else if (one.kind === 'wait') await clock.advance(one.ms);
            else if (one.kind === 'close') server.closeWatches(one.end);
            else if (one.kind === 'fail') server.failNext = one.count;
            else server[one.kind]();
          }
          server.failNext = 0;
          await clock.advance(10_000);
          const expected = new Map([...server.objects].map(([key, { size }]) => [key, size]));
          expect(reflector.synced).toBe(true);
          expect(new Map([...reflector.values()].map(({ metadata, size }) => [`default/${metadata.name}`, size]))).toEqual(
            expected,
          );
          expect(known).toEqual(expected);
        },
      ),
      {
        numRuns: 300,
        // History is forgotten, and an object changes, between two pages of a list.
        examples: [
          [
            [
              { kind: 'put', name: 'c', size: 0 },
              { kind: 'put', name: 'a', size: 0 },
              { kind: 'wait', ms: 1 },
              { kind: 'compact' },
              { kind: 'put', name: 'a', size: 0 },
            ],
            1,
          ],
          // An object that is older than the history is deleted between two pages.
          [
            [
              { kind: 'put', name: 'a', size: 0 },
              { kind: 'compact' },
              { kind: 'put', name: 'd', size: 0 },
              { kind: 'wait', ms: 1 },
              { kind: 'delete', name: 'a' },
            ],
            1,
          ],
        ],
      },
    );
  });
});
