import { getEventListeners } from 'node:events';
import { FakeClock } from '@vmdhcp/kube-runtime/testing';
import { expect, it } from 'vitest';
import { abortWithin } from './abort-within.js';

const setUp = () => ({ clock: new FakeClock(), other: new AbortController() });

it('is aborted after its time', async () => {
  const { clock, other } = setUp();
  const { signal } = abortWithin(clock, 1_000, other.signal);
  await clock.advance(999);
  expect(signal.aborted).toBe(false);
  await clock.advance(1);
  expect(signal.aborted).toBe(true);
});

it('is aborted with the other one, even if that was aborted before', () => {
  const { clock, other } = setUp();
  const before = abortWithin(clock, 1_000, other.signal);
  other.abort();
  const after = abortWithin(clock, 1_000, other.signal);
  expect([before.signal.aborted, after.signal.aborted]).toEqual([true, true]);
});

it('leaves nothing behind when it is released', () => {
  const { clock, other } = setUp();
  const many = Array.from({ length: 100 }, () => abortWithin(clock, 1_000, other.signal));
  expect(getEventListeners(other.signal, 'abort')).toHaveLength(100);
  for (const { release } of many) release();
  expect([getEventListeners(other.signal, 'abort').length, clock.pending]).toEqual([0, 0]);
  other.abort();
  expect(many.filter(({ signal }) => signal.aborted)).toEqual([]);
});
