import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FakeClock } from '../testing/fake-clock.js';
import { settle } from '../testing/settle.js';
import { KeyedQueue, type KeyedQueueSettings, type ReconcileResult } from './keyed-queue.js';

const BACK_OFF = { firstMs: 100, mostMs: 1_000, random: () => 1 };
const SETTLED: ReconcileResult = { kind: 'settled' };
const RETRY: ReconcileResult = { kind: 'retry', reason: 'conflict' };

/** A queue whose reconciles end when the test lets them. */
function queueOf(concurrency = 1, more: Pick<KeyedQueueSettings, 'restMs'> = {}) {
  const clock = new FakeClock();
  const log: string[] = [];
  const open = new Map<string, (result: ReconcileResult) => void>();
  const queue = new KeyedQueue({
    clock,
    ...more,
    concurrency,
    backOff: BACK_OFF,
    reconcile: (key) => {
      log.push(`${clock.nowMs()} ${key}`);
      return new Promise((resolve) => open.set(key, resolve));
    },
    onTerminal: (key, reason) => log.push(`terminal ${key} ${reason}`),
    onRetry: (key, { reason, afterMs }) => log.push(`retry ${key} ${reason} after ${afterMs}`),
  });
  const end = async (key: string, result: ReconcileResult = SETTLED) => {
    const resolve = open.get(key);
    if (resolve === undefined) throw new Error(`${key} is not worked on`);
    open.delete(key);
    resolve(result);
    await settle();
  };
  return { queue, clock, log, end, open };
}

describe('a keyed queue', () => {
  it('works on keys in order, once each, however often they are added', async () => {
    const { queue, log, end } = queueOf();
    for (const key of ['first', 'a', 'b', 'a', 'b', 'c']) queue.add(key);
    expect(queue.depth).toBe(3);
    await end('first');
    await end('a');
    await end('b');
    await end('c');
    expect(log).toEqual(['0 first', '0 a', '0 b', '0 c']);
  });

  it('never works on a key twice at once: added meanwhile, once more afterwards', async () => {
    const { queue, log, end } = queueOf(4);
    queue.add('a');
    queue.add('a');
    queue.add('a');
    expect(log).toEqual(['0 a']);
    await end('a');
    expect(log).toEqual(['0 a', '0 a']);
    await end('a');
    expect(log).toHaveLength(2);
  });

  it('a key rests after it was reconciled: everything added meanwhile becomes one reconcile, and other keys do not wait', async () => {
    const { queue, clock, log, end } = queueOf(1, { restMs: (tookMs) => 2 * tookMs });
    queue.add('a');
    await clock.advance(10);
    queue.add('a');
    await end('a');
    queue.add('a');
    queue.add('b');
    expect(log).toEqual(['0 a', '10 b']);
    await end('b');
    await clock.advance(19);
    expect(log).toHaveLength(2);
    await clock.advance(1);
    expect(log.slice(2)).toEqual(['30 a']);
    await end('a');
    queue.add('b');
    expect(log.slice(3)).toEqual(['30 b']);
    await clock.advance(1_000);
    expect(log).toHaveLength(4);
  });

  it.each<[string, ReconcileResult]>([
    ['a recheck', { kind: 'recheck', afterMs: 1 }],
    ['a retry', RETRY],
  ])('%s waits for the end of the rest, and is not lost in it', async (_, result) => {
    const { queue, clock, log, end } = queueOf(1, { restMs: () => 500 });
    queue.add('a');
    await end('a', result);
    await clock.advance(499);
    expect(log.filter((line) => line.endsWith(' a'))).toEqual(['0 a']);
    await clock.advance(1);
    expect(log.at(-1)).toBe('500 a');
  });

  it('a key that rests is not reconciled after the stop', async () => {
    const { queue, clock, log, end } = queueOf(1, { restMs: () => 500 });
    queue.add('a');
    await end('a');
    queue.add('a');
    await queue.stop();
    await clock.advance(1_000);
    expect(log).toEqual(['0 a']);
  });

  it('tries again later each time, from the beginning after a success, and at once if the key is added', async () => {
    const { queue, clock, log, end } = queueOf();
    queue.add('a');
    await end('a', RETRY);
    await clock.advance(100);
    await end('a', RETRY);
    await clock.advance(199);
    expect(log).toEqual(['0 a', 'retry a conflict after 100', '100 a', 'retry a conflict after 200']);
    queue.add('a');
    await end('a');
    queue.add('a');
    await end('a', RETRY);
    expect(log.slice(4)).toEqual(['299 a', '299 a', 'retry a conflict after 100']);
    expect(clock.pending).toBe(1);
  });

  it('is never later than the most', async () => {
    const { queue, clock, log, end } = queueOf();
    queue.add('a');
    for (let failure = 0; failure < 8; failure++) {
      await end('a', RETRY);
      await clock.advance(1_000);
    }
    expect(log.filter((line) => line.startsWith('retry')).at(-1)).toBe('retry a conflict after 1000');
  });

  it('looks again after a time, but not if the key is added before', async () => {
    const { queue, clock, log, end } = queueOf();
    queue.add('a');
    await end('a', { kind: 'recheck', afterMs: 500 });
    await clock.advance(400);
    queue.add('a');
    await end('a');
    await clock.advance(1_000);
    expect(log).toEqual(['0 a', '400 a']);
  });

  it('reports a terminal result once, again if the reason changes, and again after a success', async () => {
    const { queue, log, end } = queueOf();
    for (const reason of ['no-label', 'no-label', 'bad-cidr', undefined, 'bad-cidr']) {
      queue.add('a');
      await end('a', reason === undefined ? SETTLED : { kind: 'terminal', reason });
    }
    expect(log.filter((line) => line.startsWith('terminal'))).toEqual([
      'terminal a no-label',
      'terminal a bad-cidr',
      'terminal a bad-cidr',
    ]);
  });

  it('fact 9: a reconciler that throws is tried again, and stops nothing else', async () => {
    const clock = new FakeClock();
    const done: string[] = [];
    const queue = new KeyedQueue({
      clock,
      backOff: BACK_OFF,
      reconcile: async (key) => {
        if (key === 'bad' && clock.nowMs() === 0) throw new Error('bug');
        done.push(key);
        return SETTLED;
      },
    });
    queue.add('bad');
    queue.add('good');
    await clock.advance(100);
    expect(done).toEqual(['good', 'bad']);
  });

  it('fact 19: stops after the current reconciles have ended, and starts no more', async () => {
    const { queue, clock, log, end } = queueOf();
    queue.add('a');
    queue.add('b');
    queue.addAfter('c', 10);
    const stopped = queue.stop();
    await end('a', RETRY);
    await stopped;
    queue.add('d');
    await clock.advance(10_000);
    expect(log).toEqual(['0 a']);
  });

  it('fact 8: a thousand changes of a key that is being reconciled are one more run', async () => {
    const { queue, log, end } = queueOf();
    queue.add('a');
    for (let change = 0; change < 1_000; change++) queue.add('a');
    await end('a');
    await end('a');
    expect(log).toEqual(['0 a', '0 a']);
    expect(queue.busy).toBe(false);
  });

  it('fact 9: a reconciler that hangs loses its slot at the deadline; its key waits for it, and other keys do not', async () => {
    const clock = new FakeClock();
    const log: string[] = [];
    const hung = Promise.withResolvers<ReconcileResult>();
    let signalled: AbortSignal | undefined;
    const queue = new KeyedQueue({
      clock,
      backOff: BACK_OFF,
      deadlineMs: 5_000,
      reconcile: async (key, signal) => {
        log.push(`${clock.nowMs()} ${key}`);
        if (key !== 'hung') return SETTLED;
        signalled = signal;
        return hung.promise;
      },
      onDeadline: (key) => log.push(`${clock.nowMs()} deadline of ${key}`),
    });
    queue.add('hung');
    queue.add('good');
    await clock.advance(4_999);
    expect([log, signalled?.aborted]).toEqual([['0 hung'], false]);
    await clock.advance(1);
    expect([log.slice(1), signalled?.aborted]).toEqual([['5000 deadline of hung', '5000 good'], true]);
    queue.add('hung');
    await clock.advance(10_000);
    expect([log.length, queue.busy]).toEqual([3, true]);
    hung.resolve(SETTLED);
    await settle();
    expect(log.slice(3)).toEqual(['15000 hung']);
    expect(clock.pending).toBe(0);
  });

  it('fact 9: by default the deadline is ten minutes, and no timer is left by a run that ends', async () => {
    const { queue, clock, log, end } = queueOf();
    queue.add('a');
    queue.add('b');
    await clock.advance(599_999);
    expect(log).toEqual(['0 a']);
    await clock.advance(1);
    expect(log).toEqual(['0 a', '600000 b']);
    await end('b');
    await end('a');
    expect(clock.pending).toBe(0);
  });

  it('fact 10: changes while a key waits for its next try do not delay the tries', async () => {
    const { queue, clock, log, end } = queueOf();
    queue.add('a');
    await end('a', RETRY);
    for (let change = 0; change < 5; change++) {
      await clock.advance(10);
      queue.add('a');
      await end('a', RETRY);
    }
    expect(log.filter((line) => line.startsWith('retry'))).toEqual(Array.from({ length: 6 }, () => 'retry a conflict after 100'));
    await clock.advance(100);
    await end('a', RETRY);
    expect(log.at(-1)).toBe('retry a conflict after 200');
    queue.add('a');
    queue.add('a');
    await end('a', RETRY);
    await end('a', RETRY);
    expect(log.at(-1)).toBe('retry a conflict after 200');
  });

  it('fact 11: of several times the earliest counts; a change comes before it; none survives deletion', async () => {
    const { queue, clock, log, end } = queueOf();
    queue.addAfter('a', 500);
    queue.addAfter('a', 900);
    queue.addAfter('a', 300);
    await clock.advance(299);
    expect(log).toEqual([]);
    await clock.advance(1);
    queue.addAfter('a', 100);
    await end('a', { kind: 'recheck', afterMs: 5_000 });
    await clock.advance(100);
    expect(log).toEqual(['300 a', '400 a']);
    queue.addAfter('a', 50);
    queue.forget('a');
    await end('a', { kind: 'recheck', afterMs: 10 });
    await clock.advance(60_000);
    expect([log.length, clock.pending]).toEqual([2, 0]);
  });

  it('fact 11: a key that is forgotten while it is reconciled has no history afterwards; added after that, it is reconciled once more', async () => {
    const { queue, clock, log, end } = queueOf();
    queue.add('a');
    await end('a', RETRY);
    await clock.advance(100);
    queue.add('a');
    queue.forget('a');
    queue.add('a');
    await end('a', RETRY);
    await end('a', RETRY);
    expect(log).toEqual(['0 a', 'retry a conflict after 100', '100 a', '100 a', 'retry a conflict after 100']);
    queue.add('b');
    queue.add('c');
    queue.add('d', 'background');
    queue.forget('c');
    queue.forget('d');
    expect(queue.depth).toBe(0);
    const idle = queue.idle();
    await end('b');
    await idle;
    queue.add('e');
    queue.add('f');
    const gone = queue.idle();
    queue.forget('f');
    await end('e');
    await gone;
  });

  it('fact 12: one key at a time is reconciled by default, and changes go before the keys of a first list', async () => {
    const { queue, log, end } = queueOf();
    for (const key of ['a', 'b', 'c', 'd']) queue.add(key, 'background');
    queue.add('changed');
    queue.add('c');
    queue.add('c', 'background');
    expect(queue.depth).toBe(4);
    for (const key of ['a', 'changed', 'c', 'b', 'd']) await end(key);
    expect(log).toEqual(['0 a', '0 changed', '0 c', '0 b', '0 d']);
  });

  it('fact 12: a running key that is in a resync and has changed is reconciled with the changes', async () => {
    const { queue, log, end } = queueOf();
    queue.add('a');
    queue.add('b', 'background');
    queue.add('a');
    queue.add('a', 'background');
    await end('a');
    await end('a');
    await end('b');
    queue.add('a');
    queue.add('b', 'background');
    queue.add('a', 'background');
    await end('a');
    await end('b');
    expect(log.map((line) => line.slice(2))).toEqual(['a', 'a', 'b', 'a', 'b', 'a']);
  });

  it('fact 25: reports how long a key waited and was reconciled, even if it was moved before others', async () => {
    const clock = new FakeClock();
    const done: unknown[] = [];
    const queue = new KeyedQueue({
      clock,
      backOff: BACK_OFF,
      reconcile: async () => {
        await new Promise<void>((resolve) => clock.after(30, resolve));
        return SETTLED;
      },
      onReconciled: (key, reconciled) => done.push([key, reconciled]),
    });
    queue.add('a');
    queue.add('b', 'background');
    await clock.advance(10);
    queue.add('b');
    await clock.advance(100);
    expect(done).toEqual([
      ['a', { result: SETTLED, waitedMs: 0, durationMs: 30 }],
      ['b', { result: SETTLED, waitedMs: 30, durationMs: 30 }],
    ]);
  });

  it('reports how long the oldest key has waited, even if it was moved before others; keys in progress do not wait', async () => {
    const { queue, clock, end } = queueOf();
    queue.add('under way');
    expect(queue.oldestWaitMs()).toBe(0);
    queue.add('a', 'background');
    await clock.advance(10);
    queue.add('b');
    await clock.advance(5);
    expect(queue.oldestWaitMs()).toBe(15);
    queue.add('a');
    expect(queue.oldestWaitMs()).toBe(15);
    await end('under way');
    await end('b');
    expect([queue.depth, queue.oldestWaitMs()]).toEqual([0, 0]);
    await end('a');
  });

  it('law: whatever happens in whatever order, no key is worked on twice at once, and after the last add every key is worked on', async () => {
    const action = fc.oneof(
      fc.record({ kind: fc.constant('add' as const), key: fc.constantFrom('a', 'b', 'c') }),
      fc.record({
        kind: fc.constant('end' as const),
        at: fc.nat(3),
        result: fc.constantFrom<ReconcileResult>(
          SETTLED,
          RETRY,
          { kind: 'recheck', afterMs: 50 },
          { kind: 'terminal', reason: 'x' },
        ),
      }),
      fc.record({ kind: fc.constant('wait' as const), ms: fc.nat(300) }),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(action, { maxLength: 40, size: 'max' }),
        fc.integer({ min: 1, max: 3 }),
        async (actions, concurrency) => {
          const clock = new FakeClock();
          const running = new Map<string, (result: ReconcileResult) => void>();
          /** Keys that were added and not reconciled since. */
          const unseen = new Set<string>();
          const queue = new KeyedQueue({
            clock,
            concurrency,
            backOff: BACK_OFF,
            reconcile: (key) => {
              expect(running.has(key)).toBe(false);
              expect(running.size).toBeLessThan(concurrency);
              unseen.delete(key);
              return new Promise((resolve) => running.set(key, resolve));
            },
          });
          const endOne = async (at: number, result: ReconcileResult) => {
            const [key, resolve] = [...running][at % Math.max(running.size, 1)] ?? [];
            if (key === undefined || resolve === undefined) return;
            running.delete(key);
            resolve(result);
            await settle();
          };
          for (const step of actions) {
            if (step.kind === 'add') {
              unseen.add(step.key);
              queue.add(step.key);
            } else if (step.kind === 'end') await endOne(step.at, step.result);
            else await clock.advance(step.ms);
          }
          for (let left = 0; left < 20; left++) await endOne(0, SETTLED);
          expect([...unseen]).toEqual([]);
          await queue.idle();
        },
      ),
      { numRuns: 300 },
    );
  });
});
