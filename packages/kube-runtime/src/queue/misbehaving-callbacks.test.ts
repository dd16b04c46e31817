import { afterEach, beforeEach, expect, it } from 'vitest';
import { FakeClock } from '../testing/fake-clock.js';
import { KeyedQueue, type KeyedQueueSettings } from './keyed-queue.js';

const unhandled: unknown[] = [];
const note = (error: unknown) => unhandled.push(error);
beforeEach(() => {
  unhandled.length = 0;
  process.on('unhandledRejection', note);
});
afterEach(() => {
  process.off('unhandledRejection', note);
});

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
const backOff = { firstMs: 100, mostMs: 1_000, random: () => 0.5 };

async function run(settings: Partial<KeyedQueueSettings>) {
  const clock = new FakeClock();
  const runs: string[] = [];
  const queue = new KeyedQueue({
    clock,
    backOff,
    reconcile: async (key) => {
      runs.push(key);
      return key === 'bad' ? { kind: 'retry', reason: 'not yet' } : { kind: 'settled' };
    },
    ...settings,
  });
  queue.add('bad');
  queue.add('good');
  await clock.advance(150);
  await turn();
  return { runs, unhandled: unhandled.map(String) };
}

const boom = () => {
  throw new Error('boom');
};

it('a reconciler without a result fails with that reason, and other keys are not affected', async () => {
  const reasons: unknown[] = [];
  const seen: string[] = [];
  const { unhandled } = await run({
    // Possible in JavaScript.
    reconcile: (async (key: string) => void seen.push(key)) as never,
    onRetry: (_, { error }) => reasons.push(String(error)),
  });
  expect(unhandled).toEqual([]);
  expect(seen).toEqual(['bad', 'good', 'bad', 'good']);
  expect(reasons[0]).toMatch(/settled/);
});

it.each(['onReconciled', 'onRetry', 'restMs'] as const)('a throwing %s ends neither the queue nor the process', async (name) => {
  const { runs, unhandled } = await run({ [name]: boom });
  expect(unhandled).toEqual([]);
  expect(runs).toContain('good');
  expect(runs.filter((key) => key === 'bad')).toHaveLength(2);
});
