import { afterEach, expect, it, vi } from 'vitest';
import { systemClock } from './system-clock.js';

afterEach(() => {
  vi.useRealTimers();
});

it('does not follow the time of day: who sets the clock moves no lead and no address', () => {
  const beforeMs = systemClock.nowMs();
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - 86_400_000 });
  expect(Math.abs(systemClock.nowMs() - beforeMs)).toBeLessThan(60_000);
  vi.setSystemTime(Date.now() + 10 * 86_400_000);
  expect(Math.abs(systemClock.nowMs() - beforeMs)).toBeLessThan(60_000);
});
