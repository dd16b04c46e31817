import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FakeClock } from '../testing/fake-clock.js';
import { MemoryLeaseStore } from '../testing/memory-lease-store.js';
import { settle } from '../testing/settle.js';
import { LeaseElector } from './lease-elector.js';
import type { LeaseStore } from './lease-store.js';

const TIMES = { leaseDurationMs: 3_000, renewDeadlineMs: 2_000, retryPeriodMs: 500, random: () => 0 };

function electorOf(identity: string, store: LeaseStore, clock: FakeClock, log: string[] = []) {
  const elector = new LeaseElector({
    ...TIMES,
    identity,
    store,
    clock,
    onLeading: () => log.push(`${clock.nowMs()} ${identity} leads`),
    onLost: () => log.push(`${clock.nowMs()} ${identity} lost`),
    onError: () => log.push(`${clock.nowMs()} ${identity} error`),
  });
  return elector;
}

/** A connection to the store that can be cut, be slow, or lose answers. */
function wayTo(store: LeaseStore, clock: FakeClock) {
  const way = { cut: false, delayMs: 0, losesAnswers: false };
  const travel = () =>
    way.delayMs === 0 ? Promise.resolve() : new Promise<void>((resolve) => clock.after(way.delayMs, resolve));
  const check = () => {
    if (way.cut) throw new Error('no way');
  };
  const through: LeaseStore = {
    read: async () => {
      check();
      await travel();
      return store.read();
    },
    write: async (record, version) => {
      check();
      await travel();
      const written = await store.write(record, version);
      if (way.losesAnswers) throw new Error('answer lost');
      await travel();
      return written;
    },
  };
  return { way, through };
}

describe('a lease elector', () => {
  it('the first one leads, the second one waits', async () => {
    const [clock, store, log] = [new FakeClock(), new MemoryLeaseStore(), [] as string[]];
    const [a, b] = [electorOf('a', store, clock, log), electorOf('b', store, clock, log)];
    a.start();
    await settle();
    b.start();
    await clock.advance(20_000);
    expect(log).toEqual(['0 a leads']);
    expect([a.isLeading(), b.isLeading()]).toEqual([true, false]);
    expect(store.stored?.record).toEqual({ holder: 'a', leaseDurationMs: 3_000, transitions: 0 });
  });

  it('a leader that stops is replaced within a retry period', async () => {
    const [clock, store, log] = [new FakeClock(), new MemoryLeaseStore(), [] as string[]];
    const [a, b] = [electorOf('a', store, clock, log), electorOf('b', store, clock, log)];
    a.start();
    await settle();
    b.start();
    await clock.advance(5_200);
    await a.stop();
    await clock.advance(500);
    expect(log).toEqual(['0 a leads', '5200 a lost', '5500 b leads']);
    expect(store.stored?.record.transitions).toBe(1);
  });

  it('a leader that is cut off loses its leadership by itself, before another one becomes leader', async () => {
    const [clock, store, log] = [new FakeClock(), new MemoryLeaseStore(), [] as string[]];
    const { way, through } = wayTo(store, clock);
    const [a, b] = [electorOf('a', through, clock, log), electorOf('b', store, clock, log)];
    a.start();
    await settle();
    b.start();
    await clock.advance(5_100);
    way.cut = true;
    await clock.advance(10_000);
    expect(log.filter((line) => !line.endsWith('error'))).toEqual(['0 a leads', '7000 a lost', '8000 b leads']);
    way.cut = false;
    await clock.advance(5_000);
    expect([a.isLeading(), b.isLeading()]).toEqual([false, true]);
  });

  it('a leader that was frozen knows at once that it is not leader any more', async () => {
    const [clock, store] = [new FakeClock(), new MemoryLeaseStore()];
    const frozen = { nowMs: clock.nowMs, after: () => () => undefined };
    const a = new LeaseElector({
      ...TIMES,
      identity: 'a',
      store,
      clock: frozen,
      onLeading: () => undefined,
      onLost: () => undefined,
    });
    a.start();
    await settle();
    expect(a.isLeading()).toBe(true);
    await clock.advance(2_000);
    expect(a.isLeading()).toBe(false);
  });

  it('a renewal whose answer is lost does not end the leadership', async () => {
    const [clock, store, log] = [new FakeClock(), new MemoryLeaseStore(), [] as string[]];
    const { way, through } = wayTo(store, clock);
    const a = electorOf('a', through, clock, log);
    a.start();
    await clock.advance(1_100);
    way.losesAnswers = true;
    await clock.advance(500);
    way.losesAnswers = false;
    await clock.advance(5_000);
    expect(log).toEqual(['0 a leads', '1500 a error']);
    expect(a.isLeading()).toBe(true);
  });

  it('an answer that comes too late does not make a leader', async () => {
    const [clock, store, log] = [new FakeClock(), new MemoryLeaseStore(), [] as string[]];
    const { way, through } = wayTo(store, clock);
    way.delayMs = 1_500;
    const a = electorOf('a', through, clock, log);
    a.start();
    await clock.advance(10_000);
    expect(log.filter((line) => line.endsWith('leads'))).toEqual([]);
    way.delayMs = 0;
    await clock.advance(10_000);
    expect(a.isLeading()).toBe(true);
  });

  it('a record that is deleted by hand is created again by the leader', async () => {
    const [clock, log] = [new FakeClock(), [] as string[]];
    let store = new MemoryLeaseStore();
    const behind: LeaseStore = { read: () => store.read(), write: (record, version) => store.write(record, version) };
    const a = electorOf('a', behind, clock, log);
    a.start();
    await clock.advance(1_100);
    store = new MemoryLeaseStore();
    await clock.advance(3_000);
    expect(log).toEqual(['0 a leads']);
    expect(store.stored?.record.holder).toBe('a');
  });

  it('deleting a record by hand does not end leadership: a candidate that saw the holder waits, even if the holder cannot renew', async () => {
    const [clock, log] = [new FakeClock(), [] as string[]];
    let store = new MemoryLeaseStore();
    const behind: LeaseStore = { read: () => store.read(), write: (record, version) => store.write(record, version) };
    const { way, through } = wayTo(behind, clock);
    const a = electorOf('a', through, clock, log);
    const b = electorOf('b', behind, clock, log);
    a.start();
    await clock.advance(100);
    b.start();
    await clock.advance(900);
    way.cut = true;
    store = new MemoryLeaseStore();
    b.tryNow();
    for (let ms = 0; ms < 10_000; ms += 50) {
      await clock.advance(50);
      expect(a.isLeading() && b.isLeading()).toBe(false);
    }
    expect(b.isLeading()).toBe(true);
  });

  it('`finish` runs while the leadership lasts; if it fails, the record expires', async () => {
    for (const isFinished of [true, false]) {
      const [clock, store, log] = [new FakeClock(), new MemoryLeaseStore(), [] as string[]];
      const a = electorOf('a', store, clock, log);
      a.start();
      await clock.advance(100);
      const led: boolean[] = [];
      await a.stop(async () => {
        led.push(a.isLeading());
        return isFinished;
      });
      expect(led).toEqual([true]);
      expect(store.stored?.record.holder).toBe(isFinished ? '' : 'a');
      expect(a.isLeading()).toBe(false);
    }
  });

  it('times that leave no room are refused', () => {
    const make = (times: Partial<typeof TIMES>) => () =>
      new LeaseElector({
        ...TIMES,
        ...times,
        identity: 'a',
        store: new MemoryLeaseStore(),
        clock: new FakeClock(),
        onLeading: () => undefined,
        onLost: () => undefined,
      });
    expect(make({ renewDeadlineMs: 3_000 })).toThrow(RangeError);
    expect(make({ retryPeriodMs: 1_900 })).toThrow(RangeError);
  });

  it('law: never two leaders, whatever is cut, slow, lost, stopped or set to another rate; and in the end one is leader', async () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant('wait' as const), ms: fc.integer({ min: 1, max: 4_000 }) }),
      fc.record({ kind: fc.constantFrom('cut' as const, 'mend' as const, 'lose-answers' as const), who: fc.nat(2) }),
      fc.record({ kind: fc.constant('slow' as const), who: fc.nat(2), ms: fc.nat(2_500) }),
      fc.record({ kind: fc.constant('news' as const), who: fc.nat(2) }),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 30, size: 'max' }),
        fc.array(fc.double({ min: 0, max: 0.999, noNaN: true }), { minLength: 3, maxLength: 3 }),
        async (steps, spread) => {
          const clock = new FakeClock();
          const store = new MemoryLeaseStore();
          const all = spread.map((share, index) => {
            const { way, through } = wayTo(store, clock);
            const elector: LeaseElector = new LeaseElector({
              ...TIMES,
              random: () => share,
              identity: String(index),
              store: through,
              clock,
              onLeading: () =>
                expect(all.filter((other) => other.elector.isLeading()).map((other) => other.elector)).toEqual([elector]),
              onLost: () => undefined,
            });
            return { elector, way };
          });
          for (const { elector } of all) elector.start();
          const leaders = () => all.filter(({ elector }) => elector.isLeading()).length;
          for (const one of steps) {
            const way = 'who' in one ? all[one.who]?.way : undefined;
            if (one.kind === 'news') all[one.who]?.elector.tryNow();
            else if (one.kind === 'wait') {
              for (let left = one.ms; left > 0; left -= 100) {
                await clock.advance(Math.min(left, 100));
                expect(leaders()).toBeLessThanOrEqual(1);
              }
            } else if (way !== undefined) {
              if (one.kind === 'cut') way.cut = true;
              else if (one.kind === 'lose-answers') way.losesAnswers = true;
              else if (one.kind === 'slow') way.delayMs = one.ms;
              else Object.assign(way, { cut: false, losesAnswers: false, delayMs: 0 });
            }
          }
          for (const { way } of all) Object.assign(way, { cut: false, losesAnswers: false, delayMs: 0 });
          await clock.advance(20_000);
          expect(leaders()).toBe(1);
        },
      ),
      { numRuns: 150 },
    );
  });
});
