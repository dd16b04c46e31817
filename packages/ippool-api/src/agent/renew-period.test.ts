import { expect, it } from 'vitest';
import { formatRenewPeriodMs, MOST_RENEW_PERIOD_MS, parseRenewPeriodMs } from './renew-period.js';

it.each([1, 500, 8_000, MOST_RENEW_PERIOD_MS])('%i ms is read back', (periodMs) => {
  expect(parseRenewPeriodMs(formatRenewPeriodMs(periodMs))).toBe(periodMs);
});

it.each([undefined, '', '0', '-1', '1.5', '1e3', ' 5', '500ms', '1'.repeat(10)])('%j is not a period', (text) => {
  expect(parseRenewPeriodMs(text)).toBeUndefined();
});

it('a period of more than an hour becomes an hour', () => {
  expect(parseRenewPeriodMs('999999999')).toBe(MOST_RENEW_PERIOD_MS);
});
