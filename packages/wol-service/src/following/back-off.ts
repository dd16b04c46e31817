/** Waiting times between tries: each twice the one before, and spread, so that all agents of a cluster do not come back at the same time. */

const FIRST_MS = 100;
const LONGEST_MS = 5_000;

/** Milliseconds to wait after `failures` in a row, 1 or more: half of it is sure, the other half random. @param random - 0 to 1. */
export function backOffMs(failures: number, random: number): number {
  const whole = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(16, Math.max(0, failures - 1)));
  return whole / 2 + (whole / 2) * random;
}
