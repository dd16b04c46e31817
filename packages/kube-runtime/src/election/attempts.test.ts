import { describe, expect, it } from 'vitest';
import { FakeClock } from '../testing/fake-clock.js';
import { MemoryLeaseStore } from '../testing/memory-lease-store.js';
import { settle } from '../testing/settle.js';
import { LeaseElector } from './lease-elector.js';
import type { LeaseElectorSettings } from './lease-elector-settings.js';

const TIMES = { leaseDurationMs: 3_000, renewDeadlineMs: 2_000, retryPeriodMs: 500 };
const OTHER = { record: { holder: 'other', leaseDurationMs: 3_000, transitions: 4 }, version: '100' };

/** An elector whose reads and writes take this long, with the times at which they begin. */
function setUp({ delayMs = 0, ...more }: { delayMs?: number } & Partial<LeaseElectorSettings> = {}) {
  const clock = new FakeClock();
  const store = new MemoryLeaseStore();
  const log: string[] = [];
  const note = (what: string) => log.push(`${clock.nowMs()} ${what}`);
  const travel = async () => {
    if (delayMs > 0) await new Promise<void>((resolve) => clock.after(delayMs, resolve));
  };
  const elector = new LeaseElector({
    ...TIMES,
    identity: 'a',
    random: () => 0,
    clock,
    store: {
      read: async () => {
        note('reads');
        await travel();
        return await store.read();
      },
      write: async (record, version) => {
        note(record.holder === '' ? 'releases' : 'writes');
        await travel();
        return await store.write(record, version);
      },
    },
    onLeading: () => note('leads'),
    onLost: () => note('lost'),
    onError: (error) => note(`error ${(error as Error).message}`),
    ...more,
  });
  return { clock, store, log, elector };
}

/** What was logged since the last call. */
const news = (log: string[]) => log.splice(0);

describe('attempts of an elector', () => {
  it('a leader writes once a period and reads nothing', async () => {
    const { clock, log, elector } = setUp();
    elector.start();
    await clock.advance(1_400);
    expect(log).toEqual(['0 reads', '0 writes', '0 leads', '500 writes', '1000 writes']);
  });

  it('a period begins with the attempt, and is up to a fifth longer', async () => {
    const { clock, log, elector } = setUp({ delayMs: 100, random: () => 0.5 });
    elector.start();
    await clock.advance(1_500);
    expect(log).toEqual(['0 reads', '100 writes', '200 leads', '550 writes', '1100 writes']);
  });

  it('an attempt that takes longer than a period is followed by the next one at once', async () => {
    const { clock, log, elector } = setUp({ delayMs: 700 });
    elector.start();
    await clock.advance(2_500);
    expect(log).toEqual(['0 reads', '700 writes', '1400 leads', '1400 writes', '2100 writes']);
  });

  it('a second start has no effect; there are no attempts before the start and after the stop', async () => {
    const { clock, log, elector } = setUp();
    elector.tryNow();
    elector.observe(OTHER);
    await clock.advance(10_000);
    expect([news(log), clock.pending]).toEqual([[], 0]);
    elector.start();
    elector.start();
    await settle();
    expect(news(log)).toEqual(['10000 reads', '10000 writes', '10000 leads']);
    await elector.stop();
    news(log);
    elector.start();
    elector.tryNow();
    elector.observe(OTHER);
    elector.observe({ ...OTHER, record: { ...OTHER.record, holder: '' } });
    await clock.advance(10_000);
    expect([news(log), clock.pending]).toEqual([[], 0]);
  });

  it('a request during an attempt causes another one right after it', async () => {
    const { clock, log, elector } = setUp({ delayMs: 100 });
    elector.start();
    await clock.advance(600);
    news(log);
    elector.tryNow();
    await clock.advance(300);
    expect(news(log)).toEqual(['600 writes']);
    elector.tryNow();
    await clock.advance(50);
    elector.tryNow();
    elector.tryNow();
    await clock.advance(300);
    expect(news(log)).toEqual(['900 writes', '1000 writes']);
  });
});

describe('what an elector observes', () => {
  it('changes nothing while it leads', async () => {
    const { clock, log, elector } = setUp();
    elector.start();
    await settle();
    news(log);
    elector.observe(OTHER);
    elector.observe({ ...OTHER, record: { ...OTHER.record, holder: '' } });
    await clock.advance(1_000);
    expect(news(log)).toEqual(['500 writes', '1000 writes']);
  });

  it('another leader: the next attempt comes when the record can be taken, a little spread', async () => {
    const { clock, store, log, elector } = setUp({ random: () => 0.4 });
    await store.write(OTHER.record, undefined);
    elector.start();
    await clock.advance(100);
    expect(news(log)).toEqual(['0 reads']);
    elector.observe(OTHER);
    await clock.advance(1_000);
    elector.observe({ ...OTHER, version: '99' });
    elector.observe({ ...OTHER, version: '101', record: { ...OTHER.record, holder: 'a' } });
    await clock.advance(2_009);
    expect([news(log), clock.pending]).toEqual([[], 1]);
    await clock.advance(1);
    expect(news(log)[0]).toBe('3110 reads');
  });

  it('waits for a longer record as long as that lasts', async () => {
    const { clock, store, log, elector } = setUp();
    await store.write({ ...OTHER.record, leaseDurationMs: 9_000 }, undefined);
    elector.start();
    await clock.advance(8_999);
    expect(log.filter((line) => !line.endsWith('reads'))).toEqual([]);
    await clock.advance(1);
    expect(log.slice(-2)).toEqual(['9000 writes', '9000 leads']);
    expect([store.stored?.record, elector.term]).toEqual([{ holder: 'a', leaseDurationMs: 3_000, transitions: 5 }, 5]);
  });

  it('waits for a shorter record as long as for its own', async () => {
    const { clock, store, log, elector } = setUp();
    await store.write({ ...OTHER.record, leaseDurationMs: 1_000 }, undefined);
    elector.start();
    await clock.advance(2_999);
    expect(log.filter((line) => !line.endsWith('reads'))).toEqual([]);
    await clock.advance(1);
    expect(log.at(-1)).toBe('3000 leads');
  });
});

describe('the end of a leadership', () => {
  it('an elector that does not lead has nothing to resign, nor has one that stopped', async () => {
    const { store, log, elector } = setUp();
    const finish = async () => expect.fail('finished');
    await store.write(OTHER.record, undefined);
    await elector.resign(finish);
    elector.start();
    await settle();
    await elector.resign(finish);
    expect(news(log)).toEqual(['0 reads']);
    expect(elector.term).toBeUndefined();

    const stopped = setUp();
    stopped.elector.start();
    await settle();
    void stopped.elector.stop(() => new Promise(() => undefined));
    await settle();
    await stopped.elector.resign(finish);
    expect([stopped.elector.isLeading(), stopped.clock.pending]).toEqual([true, 1]);
  });

  it('that is resigned is followed by an attempt a period later', async () => {
    const { clock, store, log, elector } = setUp();
    elector.start();
    await clock.advance(600);
    news(log);
    await elector.resign(async () => true);
    expect([news(log), clock.pending, store.stored?.record.holder]).toEqual([['600 lost', '600 releases'], 1, '']);
    await clock.advance(500);
    expect(news(log)).toEqual(['1100 reads', '1100 writes', '1100 leads']);
  });

  it('is not released when it was over before what had to be finished', async () => {
    const { clock, log, elector } = setUp();
    elector.start();
    await settle();
    news(log);
    const finished = Promise.withResolvers<boolean>();
    const stopped = elector.stop(() => finished.promise);
    await clock.advance(2_000);
    finished.resolve(true);
    await stopped;
    expect(news(log)).toEqual(['2000 lost']);
  });

  it('that cannot be released is reported, and ends', async () => {
    const { log, elector } = setUp({
      store: {
        read: async () => undefined,
        write: async (record) => {
          if (record.holder === '') throw new Error('no way');
          return { record, version: '1' };
        },
      },
    });
    elector.start();
    await settle();
    await elector.stop();
    expect(log).toEqual(['0 leads', '0 lost', '0 error no way']);
    expect([elector.isLeading(), elector.term]).toEqual([false, undefined]);
  });

  it('that is written after the stop does not begin, and is released', async () => {
    const { clock, store, log, elector } = setUp({ delayMs: 100 });
    elector.start();
    await clock.advance(150);
    const stopped = elector.stop();
    await clock.advance(100);
    expect(elector.isLeading()).toBe(false);
    await clock.advance(100);
    await stopped;
    expect(log).toEqual(['0 reads', '100 writes', '200 releases']);
    expect([store.stored?.record.holder, clock.pending]).toEqual(['', 0]);
  });

  it('that is renewed after the stop is not reported as renewed, and lasts until what has to be finished is', async () => {
    const renewed: number[] = [];
    const { clock, store, elector } = setUp({ delayMs: 100, onRenewed: (untilMs) => renewed.push(untilMs) });
    elector.start();
    await clock.advance(550);
    const finished = Promise.withResolvers<boolean>();
    const stopped = elector.stop(() => finished.promise);
    await clock.advance(1_900);
    expect([elector.isLeading(), renewed, store.stored?.version]).toEqual([true, [2_100], '2']);
    finished.resolve(true);
    await clock.advance(100);
    await stopped;
    expect([elector.isLeading(), store.stored?.record.holder]).toEqual([false, '']);
  });
});

it.each([
  { retryPeriodMs: 0 },
  { retryPeriodMs: -1 },
  { retryPeriodMs: 500, renewDeadlineMs: 600 },
  { retryPeriodMs: 500, renewDeadlineMs: 3_000 },
  { retryPeriodMs: Number.NaN },
])('times that leave no room are refused: %j', (times) => {
  expect(() => setUp(times)).toThrow(RangeError);
});
