import { FakeClock } from '@vmdhcp/kube-runtime/testing';
import { expect, it } from 'vitest';
import { LagWatch } from './lag-watch.js';

it('a leader lags that has not seen a version of the pool for ten seconds, however often it changes', async () => {
  const clock = new FakeClock();
  const watch = new LagWatch(clock);
  const at = (version: number) => ({ key: 'a/p', object: { metadata: { name: 'p', resourceVersion: String(version) } } });
  expect(watch.isLagging(at(100), '99')).toBe(false);
  for (let second = 1; second < 10; second++) {
    await clock.advance(1_000);
    expect(watch.isLagging(at(100 + second), '99')).toBe(false);
  }
  await clock.advance(1_000);
  expect(watch.isLagging(at(110), '99')).toBe(true);
  expect(watch.isLagging(at(110), '100'), 'it has heard, and has ten seconds for what is new').toBe(false);
  await clock.advance(9_000);
  expect(watch.isLagging(at(120), '105')).toBe(false);
  await clock.advance(9_000);
  expect(watch.isLagging(at(130), '110'), 'it follows, always a little behind').toBe(false);
});
