import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RateLimit } from './rate-limit.js';

describe('RateLimit', () => {
  it('allows a burst, then a number per second; each source has its own limit', () => {
    const limit = new RateLimit({ burst: 2, perSecond: 1, capacity: 10 });
    expect(limit.take('a', 0)).toEqual({ kind: 'allowed' });
    expect(limit.take('a', 0)).toEqual({ kind: 'allowed' });
    expect(limit.take('a', 250)).toEqual({ kind: 'limited', retryAfterMs: 750 });
    expect(limit.take('b', 250)).toEqual({ kind: 'allowed' });
    expect(limit.take('a', 1_000)).toEqual({ kind: 'allowed' });
  });

  it('a clock that jumps back adds nothing, and takes nothing away', () => {
    const limit = new RateLimit({ burst: 1, perSecond: 1, capacity: 10 });
    limit.take('a', 10_000);
    expect(limit.take('a', 0)).toEqual({ kind: 'limited', retryAfterMs: 1_000 });
    expect(limit.take('a', 1_000)).toEqual({ kind: 'allowed' });
  });

  it('forgets the source with the oldest request', () => {
    const limit = new RateLimit({ burst: 1, perSecond: 0.001, capacity: 2 });
    for (const source of ['a', 'b', 'a', 'c']) limit.take(source, 0);
    expect(limit.size).toBe(2);
    expect(limit.take('a', 0).kind).toBe('limited');
    expect(limit.take('b', 0).kind).toBe('allowed');
  });

  it('law: in any time, no more than the burst and what that time adds; after retryAfterMs one more', () => {
    const gaps = fc.array(fc.nat(500), { maxLength: 100 });
    fc.assert(
      fc.property(gaps, fc.integer({ min: 1, max: 5 }), fc.integer({ min: 1, max: 20 }), (waits, burst, perSecond) => {
        const limit = new RateLimit({ burst, perSecond, capacity: 1 });
        let [nowMs, allowed] = [0, 0];
        for (const wait of waits) {
          nowMs += wait;
          const decision = limit.take('a', nowMs);
          if (decision.kind === 'allowed') allowed++;
          else {
            nowMs += decision.retryAfterMs;
            expect(limit.take('a', nowMs + 1).kind).toBe('allowed');
            allowed++;
            nowMs++;
          }
          expect(allowed).toBeLessThanOrEqual(burst + (nowMs * perSecond) / 1000 + 1e-6);
        }
      }),
    );
  });
});
