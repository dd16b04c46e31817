import { describe, expect, it } from 'vitest';
import { DEFAULT_LEASE_SECONDS, electionTimes, LEAST_LEASE_SECONDS, MOST_TELLING_MS, safeAddressMs } from './leadership-times.js';

/** How late the kernel may be. Source: net/ipv4/devinet.c, check_lifetime. */
const KERNEL_LATE_MS = 250;

describe('an address for the time of a lead', () => {
  it.each([LEAST_LEASE_SECONDS, DEFAULT_LEASE_SECONDS, 4, 15, 45])('%d s: it is gone before anybody else may lead', (seconds) => {
    const times = electionTimes(seconds);
    // A renewal begins at 0, is answered then, and the kernel is told a moment later.
    for (let answeredAtMs = 0; answeredAtMs < times.renewDeadlineMs; answeredAtMs += 10) {
      const endsAtMs = answeredAtMs + safeAddressMs(times, times.renewDeadlineMs - answeredAtMs);
      for (const toldAtMs of [answeredAtMs, answeredAtMs + MOST_TELLING_MS]) {
        const kernelSeconds = Math.floor((endsAtMs - toldAtMs) / 1000);
        expect(toldAtMs + kernelSeconds * 1000 + KERNEL_LATE_MS).toBeLessThan(times.leaseDurationMs);
      }
    }
  });

  it.each([LEAST_LEASE_SECONDS, DEFAULT_LEASE_SECONDS])(
    '%d s: it outlives the next renewal, where the API server is quick',
    (seconds) => {
      const times = electionTimes(seconds);
      const kernelSeconds = Math.floor(safeAddressMs(times, times.renewDeadlineMs - 50) / 1000);
      expect(kernelSeconds * 1000).toBeGreaterThan(times.retryPeriodMs * 1.2 + 50);
    },
  );
});
