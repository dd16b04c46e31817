import { FakeClock } from '@vmdhcp/kube-runtime/testing';
import { expect, it } from 'vitest';
import { LagWatch } from './lag-watch.js';

const at = (version: number) => ({ key: 'a/p', object: { metadata: { name: 'p', resourceVersion: String(version) } } });

it('a leader lags if it has used an older version of the pool for ten seconds, however often the pool changes meanwhile', async () => {
  const clock = new FakeClock();
  const watch = new LagWatch(clock);
  const isLagging = (version: number, reported: string) => {
    watch.note(at(version), reported);
    return watch.isLagging('a/p', reported);
  };
  expect(isLagging(100, '99')).toBe(false);
  for (let second = 1; second < 10; second++) {
    await clock.advance(1_000);
    expect(isLagging(100 + second, '99')).toBe(false);
  }
  await clock.advance(1_000);
  expect(isLagging(110, '99')).toBe(true);
  expect(isLagging(110, '100'), 'it has heard, and has ten seconds for what is new').toBe(false);
  await clock.advance(9_000);
  expect(isLagging(120, '105')).toBe(false);
  await clock.advance(9_000);
  expect(isLagging(130, '110'), 'it follows, always a little behind').toBe(false);
});

it('a leader does not lag that reports no version, nor for a pool that is forgotten', async () => {
  const clock = new FakeClock();
  const watch = new LagWatch(clock);
  watch.note(at(100), '99');
  await clock.advance(10_000);
  expect([watch.isLagging('a/p', '99'), watch.isLagging('a/p', undefined)]).toEqual([true, false]);
  watch.forget('a/p');
  expect(watch.isLagging('a/p', '99')).toBe(false);
  watch.note(at(101), '99');
  expect(watch.isLagging('a/p', '99'), 'a pool that is created again is another one').toBe(false);
});
