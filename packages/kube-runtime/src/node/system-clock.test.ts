import { afterEach, describe, expect, it, vi } from 'vitest';
import { systemClock } from './system-clock.js';

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

it('ignores the time of day: setting the clock affects neither leadership nor addresses', () => {
  const beforeMs = systemClock.nowMs();
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - 86_400_000 });
  expect(Math.abs(systemClock.nowMs() - beforeMs)).toBeLessThan(60_000);
  vi.setSystemTime(Date.now() + 10 * 86_400_000);
  expect(Math.abs(systemClock.nowMs() - beforeMs)).toBeLessThan(60_000);
});

describe('a timer', () => {
  it('runs once, when its time has passed by the clock, though the timer of the system fires early', () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    let nowMs = 5_000;
    vi.spyOn(performance, 'now').mockImplementation(() => nowMs);
    let runs = 0;
    systemClock.after(100, () => runs++);
    nowMs = 5_099.5;
    vi.advanceTimersByTime(100);
    expect([runs, vi.getTimerCount()]).toEqual([0, 1]);
    nowMs = 5_100;
    vi.advanceTimersByTime(1);
    expect([runs, vi.getTimerCount()]).toEqual([1, 0]);
  });

  it('that was cancelled does not run, before or after the timer of the system has fired early', () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    vi.spyOn(performance, 'now').mockReturnValue(5_000);
    const run = () => expect.fail('it runs');
    systemClock.after(100, run)();
    expect(vi.getTimerCount()).toBe(0);
    const callOff = systemClock.after(100, run);
    vi.advanceTimersByTime(100);
    expect(vi.getTimerCount()).toBe(1);
    callOff();
    expect(vi.getTimerCount()).toBe(0);
  });
});
