import type { Clock } from '../clock/clock.js';

/** Node fires a timer that is set for longer at once. */
const MOST_TIMER_MS = 2 ** 31 - 1;

/** The machine's monotonic clock. A timer that was not cancelled keeps the process alive. */
export const systemClock: Clock = {
  nowMs: () => performance.now(),
  after: (delayMs, run) => {
    const atMs = performance.now() + delayMs;
    let timer = setTimeout(fire, Math.min(delayMs, MOST_TIMER_MS));
    return () => clearTimeout(timer);

    // Node's timers fire up to a millisecond early by this clock, so a caller that reads the clock would find it too soon.
    function fire(): void {
      const remainingMs = atMs - performance.now();
      if (remainingMs > 0) timer = setTimeout(fire, Math.min(remainingMs, MOST_TIMER_MS));
      else run();
    }
  },
};
