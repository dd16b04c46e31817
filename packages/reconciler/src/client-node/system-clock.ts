import type { Clock } from '../machinery/clock.js';

/** The machine's own clock, which only goes forward. Timers do not keep the process alive for themselves alone. */
export const systemClock: Clock = {
  nowMs: () => performance.now(),
  after: (delayMs, run) => {
    const timer = setTimeout(run, delayMs);
    return () => clearTimeout(timer);
  },
};
