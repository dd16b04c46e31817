import type { Clock } from '../clock/clock.js';

/** The machine's own clock, which only goes forward. Timers do not keep the process alive for themselves alone. */
export const systemClock: Clock = {
  nowMs: () => performance.now(),
  after: (delayMs, run) => {
    const atMs = performance.now() + delayMs;
    let timer = setTimeout(fire, delayMs);
    return () => clearTimeout(timer);

    // Node's timers fire up to a millisecond early by this clock; a caller would look at it and find it too soon.
    function fire(): void {
      const remainingMs = atMs - performance.now();
      if (remainingMs > 0) timer = setTimeout(fire, remainingMs);
      else run();
    }
  },
};
