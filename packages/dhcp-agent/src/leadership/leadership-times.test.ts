import { describe, expect, it } from 'vitest';
import { addressEndMs, DEFAULT_LEASE_SECONDS, electionTimes, LEAST_LEASE_SECONDS, MOST_CALL_MS } from './leadership-times.js';

/** How late the kernel may be. Source: net/ipv4/devinet.c, check_lifetime. */
const KERNEL_LATE_MS = 250;

describe('an address for the time of a leadership', () => {
  it.each([LEAST_LEASE_SECONDS, DEFAULT_LEASE_SECONDS, 4, 15, 45])(
    '%d s: it is gone before another replica can be leader',
    (seconds) => {
      const times = electionTimes(seconds);
      // A renewal begins at 0, is answered then, and the kernel is called a moment later.
      for (let answeredAtMs = 0; answeredAtMs < times.renewDeadlineMs; answeredAtMs += 10) {
        const endsAtMs = addressEndMs(times, times.renewDeadlineMs);
        for (const calledAtMs of [answeredAtMs, answeredAtMs + MOST_CALL_MS]) {
          const kernelSeconds = Math.floor((endsAtMs - calledAtMs) / 1000);
          expect(calledAtMs + kernelSeconds * 1000 + KERNEL_LATE_MS).toBeLessThan(times.leaseDurationMs);
        }
      }
    },
  );

  it.each([LEAST_LEASE_SECONDS, DEFAULT_LEASE_SECONDS])(
    '%d s: it outlives the next renewal, if the API server is quick',
    (seconds) => {
      const times = electionTimes(seconds);
      const kernelSeconds = Math.floor((addressEndMs(times, times.renewDeadlineMs) - 50) / 1000);
      expect(kernelSeconds * 1000).toBeGreaterThan(times.retryPeriodMs * 1.2 + 50);
    },
  );
});
