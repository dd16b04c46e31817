import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mostRenewPeriodMs, neededRenewPeriodMs, renewPeriodMs } from './lease-pace.js';

const OWN_PERIOD_MS = 500;
const pace = (groups: number, currentMs?: number) => renewPeriodMs(neededRenewPeriodMs(groups, 25), currentMs);

describe('how often a Lease is renewed', () => {
  it.each([
    [0, undefined],
    [1, undefined],
    [12, undefined],
    [13, 750],
    [18, 750],
    [19, 1_000],
    [25, 1_000],
    [26, 1_500],
    [50, 2_000],
    [200, 8_000],
    [1_000, 48_000],
  ])('with %i groups: every %j ms', (groups, periodMs) => {
    expect(pace(groups)).toBe(periodMs);
  });

  it('does not change while groups come and go', () => {
    const periods: (number | undefined)[] = [];
    let current: number | undefined;
    for (const groups of [49, 50, 51, 50, 49, 50, 51, 40, 38, 39, 37, 36, 10]) {
      current = pace(groups, current);
      periods.push(current);
    }
    expect(periods).toEqual([2_000, 2_000, 3_000, 3_000, 3_000, 3_000, 3_000, 3_000, 3_000, 3_000, 1_500, 1_500, undefined]);
  });

  it('law: a kept period is never longer than the assumed maximum of a deleted Lease', () => {
    fc.assert(
      fc.property(fc.nat(5_000), fc.nat(5_000), fc.integer({ min: 1, max: 1_000 }), (before, groups, rate) => {
        const neededMs = neededRenewPeriodMs(groups, rate);
        const writtenMs = renewPeriodMs(neededRenewPeriodMs(before, rate), undefined);
        expect(renewPeriodMs(neededMs, writtenMs) ?? 0).toBeLessThanOrEqual(mostRenewPeriodMs(neededMs));
      }),
      { examples: [[13, 10, 25]] },
    );
    expect(mostRenewPeriodMs(neededRenewPeriodMs(6, 25)), 'few groups: none').toBe(0);
  });

  it('law: all groups together never exceed the rate, and a period is less than twice as long as needed', () => {
    const any = fc.record({
      groups: fc.nat(5_000),
      rate: fc.integer({ min: 1, max: 1_000 }),
      currentMs: fc.option(fc.nat(200_000)),
    });
    fc.assert(
      fc.property(any, ({ groups, rate, currentMs }) => {
        const neededMs = neededRenewPeriodMs(groups, rate);
        const periodMs = renewPeriodMs(neededMs, currentMs ?? undefined);
        expect((groups * 1_000) / (periodMs ?? OWN_PERIOD_MS)).toBeLessThanOrEqual(rate * (1 + 1e-9));
        if (periodMs !== undefined) expect(periodMs).toBeLessThan(2 * neededMs);
        expect(renewPeriodMs(neededMs, periodMs), 'a written period stays').toBe(periodMs);
        expect(Number.isInteger(periodMs ?? 0)).toBe(true);
      }),
    );
  });
});
