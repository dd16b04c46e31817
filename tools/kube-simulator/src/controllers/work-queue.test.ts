import { afterEach, expect, it, vi } from 'vitest';
import { WorkQueue } from './work-queue.js';

afterEach(() => {
  vi.useRealTimers();
});

const soon = () => new Promise<void>((resolve) => setTimeout(resolve, 20));

it('handles a key once, however often it was added meanwhile', async () => {
  const handled: string[] = [];
  const queue = new WorkQueue({ handle: async (key) => handled.push(key), onError: () => undefined });
  for (const key of ['a', 'b', 'a', 'a']) queue.add(key);
  await soon();
  expect(handled).toEqual(['a', 'b']);
});

it('handles a key again that is added while it is handled', async () => {
  const handled: string[] = [];
  const queue: WorkQueue = new WorkQueue({
    handle: async (key) => {
      handled.push(key);
      if (handled.length < 3) queue.add(key);
    },
    onError: () => undefined,
  });
  queue.add('a');
  await soon();
  expect(handled).toEqual(['a', 'a', 'a']);
});

it('tries again after a failure, and reports it', async () => {
  const handle = vi
    .fn()
    .mockRejectedValueOnce(new Error('no'))
    .mockRejectedValueOnce(new Error('no'))
    .mockResolvedValue(undefined);
  const onError = vi.fn();
  const queue = new WorkQueue({ handle, onError });
  queue.add('a');
  await vi.waitFor(() => expect(handle).toHaveBeenCalledTimes(3), 10_000);
  expect(onError).toHaveBeenCalledTimes(2);
});

it('stops after what it is doing', async () => {
  const handled: string[] = [];
  const queue = new WorkQueue({
    handle: async (key) => {
      await soon();
      handled.push(key);
    },
    onError: () => undefined,
  });
  queue.add('a');
  queue.add('b');
  await new Promise<void>((resolve) => setImmediate(resolve));
  await queue.stop();
  expect(handled).toEqual(['a']);
  queue.add('c');
  await soon();
  expect(handled).toEqual(['a']);
});
