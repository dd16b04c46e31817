import { describe, expect, it } from 'vitest';
import { FakeClock } from '../testing/fake-clock.js';
import { settle } from '../testing/settle.js';
import { KeyedQueue, type KeyedQueueSettings, type ReconcileResult } from './keyed-queue.js';

const SETTLED: ReconcileResult = { kind: 'settled' };

/** A queue whose reconciles take this long and return these results; the last result repeats. */
function queueOf(
  results: readonly (ReconcileResult | Error)[],
  { takesMs = 0, ...more }: { takesMs?: number } & Partial<KeyedQueueSettings> = {},
) {
  const clock = new FakeClock();
  const log: string[] = [];
  const causes: unknown[] = [];
  const waits: number[] = [];
  let turn = 0;
  const queue = new KeyedQueue({
    clock,
    backOff: { firstMs: 100, mostMs: 10_000, random: () => 1 },
    reconcile: async (key) => {
      log.push(`${clock.nowMs()} ${key}`);
      if (takesMs > 0) await new Promise<void>((resolve) => clock.after(takesMs, resolve));
      const result = results[Math.min(turn++, results.length - 1)] ?? SETTLED;
      if (result instanceof Error) throw result;
      return result;
    },
    onTerminal: (key, reason) => log.push(`terminal ${key} ${reason}`),
    onRetry: (_, cause) => causes.push(cause),
    onReconciled: (_, { waitedMs }) => waits.push(waitedMs),
    ...more,
  });
  return { queue, clock, log, causes, waits };
}

describe('a key that is forgotten', () => {
  it('has no failures any more: its next try is an early one', async () => {
    const { queue, clock, causes } = queueOf([{ kind: 'retry', reason: 'conflict' }]);
    queue.add('a');
    await clock.advance(500);
    queue.forget('a');
    queue.add('a');
    await settle();
    const afterMs = (causes as { readonly afterMs: number }[]).map((cause) => cause.afterMs);
    expect(afterMs).toEqual([100, 200, 400, 100]);
  });

  it('is reported again when it cannot be settled', async () => {
    const { queue, log } = queueOf([{ kind: 'terminal', reason: 'bad' }]);
    queue.add('a');
    await settle();
    queue.add('a');
    await settle();
    queue.forget('a');
    queue.add('a');
    await settle();
    expect(log).toEqual(['0 a', 'terminal a bad', '0 a', '0 a', 'terminal a bad']);
  });

  it('rests no more', async () => {
    const { queue, clock, log } = queueOf([SETTLED], { restMs: () => 1_000 });
    queue.add('a');
    await settle();
    queue.forget('a');
    expect(clock.pending).toBe(0);
    queue.add('a');
    await settle();
    expect(log).toEqual(['0 a', '0 a']);
  });
});

describe('the order of keys', () => {
  it('a key of a resync that is added by another resync keeps its place', async () => {
    const { queue, clock, log } = queueOf([SETTLED], { takesMs: 10 });
    queue.add('first');
    for (const key of ['a', 'b', 'a']) queue.add(key, 'background');
    await clock.advance(100);
    expect(log).toEqual(['0 first', '10 a', '20 b']);
  });

  it('how long a key waited is from when it was added to when its turn came', async () => {
    const { queue, clock, waits } = queueOf([SETTLED], { takesMs: 70 });
    await clock.advance(1_000);
    queue.add('a');
    await clock.advance(20);
    queue.add('b');
    await clock.advance(200);
    expect(waits).toEqual([0, 50]);
  });

  it('a rested key is reconciled only if it was added meanwhile', async () => {
    const { queue, clock, log } = queueOf([SETTLED], { restMs: () => 100 });
    queue.add('a');
    queue.add('b');
    await clock.advance(50);
    queue.add('b');
    await clock.advance(1_000);
    expect([log, queue.depth, clock.pending]).toEqual([['0 a', '0 b', '100 b'], 0, 0]);
  });
});

describe('the end of the work', () => {
  it('idle waits for all keys, and resolves at once if there are none', async () => {
    const { queue, clock } = queueOf([SETTLED], { takesMs: 10 });
    await queue.idle();
    queue.add('a');
    queue.add('b');
    let isIdle = false;
    void queue.idle().then(() => {
      isIdle = true;
    });
    await clock.advance(10);
    expect([isIdle, queue.busy]).toEqual([false, true]);
    await clock.advance(10);
    expect([isIdle, queue.busy]).toEqual([true, false]);
  });

  it('after the stop no key is reconciled, whatever was waiting', async () => {
    const { queue, clock, log } = queueOf([SETTLED], { takesMs: 10 });
    for (const key of ['a', 'b']) queue.add(key);
    queue.add('c', 'background');
    const stopped = queue.stop();
    queue.add('d');
    queue.addAfter('e', 100);
    expect(queue.depth).toBe(0);
    await clock.advance(10);
    await stopped;
    await clock.advance(1_000);
    expect([log, clock.pending]).toEqual([['0 a'], 0]);
  });
});

it('a retry has the error that was thrown, and none if the reconciler asked for it', async () => {
  const error = new Error('no way');
  const { queue, clock, causes } = queueOf([error, { kind: 'retry', reason: 'conflict' }, SETTLED]);
  queue.add('a');
  await clock.advance(1_000);
  expect(causes).toStrictEqual([
    { reason: 'unexpected-error', afterMs: 100, error },
    { reason: 'conflict', afterMs: 200 },
  ]);
});
