import { afterEach, expect, it, vi } from 'vitest';
import { systemClock } from './system-clock.js';

afterEach(() => {
  vi.restoreAllMocks();
});

it('a timer that is due in a month does not spin', async () => {
  const timers = vi.spyOn(globalThis, 'setTimeout');
  const callOff = systemClock.after(30 * 86_400_000, () => undefined);
  await new Promise<void>((resolve) => setImmediate(resolve));
  const endMs = performance.now() + 100;
  while (performance.now() < endMs) await new Promise<void>((resolve) => setImmediate(resolve));
  callOff();
  expect(timers.mock.calls.length).toBe(1);
});
