import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RateBudget } from './rate-budget.js';

describe('a rate budget', () => {
  it('allows a burst at once, and no more', () => {
    const budget = new RateBudget({ perSecond: 1, burst: 3 });
    expect([1, 2, 3, 4].map(() => budget.take(1_000))).toEqual([true, true, true, false]);
  });

  it('fills with time', () => {
    const budget = new RateBudget({ perSecond: 2, burst: 1 });
    expect([0, 400, 500, 700, 1_000].map((ms) => budget.take(ms))).toEqual([true, false, true, false, true]);
  });

  it('never holds more than a burst', () => {
    const budget = new RateBudget({ perSecond: 1, burst: 2 });
    expect([3_600_000, 3_600_000, 3_600_000].map((ms) => budget.take(ms))).toEqual([true, true, false]);
  });

  it('counts what it suppressed, until it is asked', () => {
    const budget = new RateBudget({ perSecond: 1, burst: 1 });
    for (let count = 0; count < 5; count++) budget.take(0);
    expect([budget.takeSuppressed(), budget.takeSuppressed()]).toEqual([4, 0]);
  });

  it('a clock that goes back changes nothing', () => {
    const budget = new RateBudget({ perSecond: 1, burst: 1 });
    expect([budget.take(10_000), budget.take(0), budget.take(1_000)]).toEqual([true, false, true]);
  });

  it('law: any period allows at most a burst plus the rate times its length', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 500 })), (gaps) => {
        const budget = new RateBudget({ perSecond: 2, burst: 3 });
        let nowMs = 0;
        let taken = 0;
        for (const gap of gaps) {
          nowMs += gap;
          if (budget.take(nowMs)) taken++;
        }
        expect(taken).toBeLessThanOrEqual(3 + (nowMs / 1_000) * 2 + 1e-6);
      }),
    );
  });
});
