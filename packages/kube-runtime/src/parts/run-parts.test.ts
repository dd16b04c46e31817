import { describe, expect, it } from 'vitest';
import { FakeClock } from '../testing/fake-clock.js';
import { MemoryLeaseStore } from '../testing/memory-lease-store.js';
import { settle } from '../testing/settle.js';
import type { ControllerPart } from './controller-part.js';
import { type PartsRun, type RunEnd, type RunPartsSettings, runParts } from './run-parts.js';

const TIMES = { leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 2_000 };

/** Parts that log their calls, and stop when the test lets them. */
function setUp() {
  const clock = new FakeClock();
  const log: string[] = [];
  const stops = new Map<string, () => void>();
  const store = new MemoryLeaseStore();
  const part = (name: string, difference: Partial<ControllerPart> = {}): ControllerPart => ({
    name,
    synced: true,
    start: () => log.push(`${name} starts`),
    lead: () => log.push(`${name} leads`),
    stop: async () => {
      log.push(`${name} stops`);
    },
    ...difference,
  });
  const slow = (name: string) =>
    part(name, {
      stop: () => {
        log.push(`${name} stops`);
        return new Promise((resolve) => stops.set(name, resolve));
      },
    });
  const run = (parts: readonly ControllerPart[], difference: Partial<RunPartsSettings> = {}) => {
    const started = runParts({
      parts,
      clock,
      onStopProblem: (name, error) => log.push(`${name} ${error === undefined ? 'hangs' : (error as Error).message}`),
      ...difference,
    });
    void started.ended.then((end) => log.push(`ended: ${end.kind}`));
    return started;
  };
  const election = (identity: string) => ({ ...TIMES, identity, store, random: () => 0 });
  return { clock, log, part, slow, run, stops, store, election };
}

describe('parts of a process', () => {
  it('without an election all start and lead at once, in order, and stop in reverse order', async () => {
    const { log, part, run } = setUp();
    const running = run([part('one'), part('other')], { onLeading: () => log.push('leading') });
    expect([running.isLeading(), running.unready()]).toEqual([false, ['not started']]);
    running.start();
    running.start();
    expect([running.isLeading(), running.unready()]).toEqual([true, []]);
    await running.stop();
    await settle();
    expect(log).toEqual([
      'one starts',
      'other starts',
      'leading',
      'one leads',
      'other leads',
      'other stops',
      'one stops',
      'ended: stopped',
    ]);
    expect(running.isLeading()).toBe(false);
    await running.stop();
    running.start();
    expect(log).toHaveLength(8);
  });

  it('with an election all follow at once and lead when leadership is gained; of two processes one leads', async () => {
    const { clock, log, part, run, election } = setUp();
    const one = run([part('one')], { election: election('one') });
    const other = run([part('other')], { election: election('other') });
    one.start();
    await clock.advance(10);
    other.start();
    await clock.advance(60_000);
    expect(log).toEqual(['one starts', 'one leads', 'other starts']);
    expect([one.isLeading(), other.isLeading()]).toEqual([true, false]);
  });

  it('fact 18: the Lease is released after the parts have stopped, and the next process leads without waiting for it to expire', async () => {
    const { clock, log, part, slow, run, stops, store, election } = setUp();
    const one = run([slow('slow'), part('fast')], { election: election('one') });
    const other = run([part('other')], { election: election('other') });
    one.start();
    other.start();
    await clock.advance(10);
    void one.stop();
    await clock.advance(5_000);
    expect(log.slice(-2)).toEqual(['fast stops', 'slow stops']);
    expect([store.stored?.record.holder, one.isLeading(), other.isLeading()]).toEqual(['one', true, false]);
    stops.get('slow')?.();
    await settle();
    expect([store.stored?.record.holder, one.isLeading()]).toEqual(['', false]);
    await clock.advance(2_500);
    expect(other.isLeading()).toBe(true);
  });

  it('fact 19: a part that does not stop within the limit is named, and the Lease is left to expire', async () => {
    const { clock, log, part, slow, run, store, election } = setUp();
    const one = run([slow('hung'), part('fast')], { election: election('one'), drainMs: 3_000 });
    one.start();
    await clock.advance(10);
    void one.stop();
    await clock.advance(2_999);
    expect(log.at(-1)).toBe('hung stops');
    await clock.advance(1);
    expect(log.slice(-2)).toEqual(['hung hangs', 'ended: stopped']);
    expect(store.stored?.record.holder).toBe('one');
    expect(clock.pending).toBe(0);
  });

  it('a part that throws while it stops is named, the others still stop, and the Lease is left to expire', async () => {
    const { clock, log, part, run, store, election } = setUp();
    const fails = (name: string, stop: () => Promise<void>) => part(name, { stop });
    const one = run(
      [
        part('good'),
        fails('rejects', async () => {
          throw new Error('no');
        }),
        fails('throws', () => {
          throw new Error('bug');
        }),
      ],
      { election: election('one') },
    );
    one.start();
    await clock.advance(10);
    await one.stop();
    await settle();
    expect(log.slice(-4).toSorted()).toEqual(['ended: stopped', 'good stops', 'rejects no', 'throws bug']);
    expect(store.stored?.record.holder).toBe('one');
  });

  it('fact 18: lost leadership stops all parts at once and ends the run; a new run with new parts may lead again', async () => {
    const { clock, log, part, run, store, election } = setUp();
    const first = run([part('first')], { election: election('one') });
    first.start();
    await clock.advance(10);
    const write = store.write;
    Object.assign(store, {
      write: async () => {
        throw new Error('connection reset');
      },
    });
    await clock.advance(10_000);
    expect(log).toEqual(['first starts', 'first leads', 'first stops', 'ended: leadership-lost']);
    expect(first.isLeading()).toBe(false);
    Object.assign(store, { write });
    const again = run([part('again')], { election: election('two') });
    again.start();
    await clock.advance(30_000);
    expect(log.slice(4)).toEqual(['again starts', 'again leads']);
    expect(again.isLeading()).toBe(true);
  });

  it('without an election current work may write until the parts have stopped', async () => {
    const { slow, run, stops, part } = setUp();
    const running = run([slow('slow')]);
    running.start();
    void running.stop();
    expect(running.isLeading()).toBe(true);
    stops.get('slow')?.();
    await settle();
    expect(running.isLeading()).toBe(false);
    const unstarted = run([part('one')]);
    const stopped = unstarted.stop();
    expect(unstarted.isLeading()).toBe(false);
    await stopped;
  });

  it.each(['start', 'lead'] as const)('a part that throws when asked to %s ends the run: the others stop', async (call) => {
    const { clock, log, part, run } = setUp();
    const bug = new Error('bug');
    const running = run([
      part('good'),
      part('bad', {
        [call]: () => {
          throw bug;
        },
      }),
      part('never'),
    ]);
    running.start();
    await clock.advance(0);
    const end: RunEnd = await running.ended;
    expect(end).toEqual({ kind: 'failed', part: 'bad', error: bug });
    expect(log).not.toContain(`never ${call}s`);
    expect(log.filter((line) => line.endsWith('stops'))).toEqual(['never stops', 'bad stops', 'good stops']);
  });

  it('fact 7: is ready when every part is, and names what is missing', () => {
    const { part, run } = setUp();
    let synced = false;
    const lazy: ControllerPart = {
      ...part('lazy'),
      get synced() {
        return synced;
      },
    };
    const running: PartsRun = run([part('one'), lazy, part('precise', { unready: () => ['pods: 403'], synced: false })]);
    running.start();
    expect(running.unready()).toEqual(['lazy: caches are not complete', 'precise: pods: 403']);
    synced = true;
    expect(running.unready()).toEqual(['precise: pods: 403']);
  });

  it('an incomplete part may report what it lacks without blocking readiness', () => {
    const { part, run } = setUp();
    const lacking = part('lacking', { unready: () => [], lacks: () => ['the kind Pod'], synced: false });
    const running: PartsRun = run([part('one'), lacking]);
    running.start();
    expect([running.unready(), running.lacks()]).toEqual([[], ['lacking: the kind Pod']]);
  });
});
