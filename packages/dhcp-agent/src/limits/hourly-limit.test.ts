import { describe, expect, it } from 'vitest';
import { HourlyLimit } from './hourly-limit.js';

const HOUR_MS = 3_600_000;

describe('an hourly limit', () => {
  it('counts each key for itself', () => {
    const limit = new HourlyLimit(2);
    expect(['a', 'a', 'a', 'b', 'b', 'b'].map((key) => limit.take(key, 0))).toEqual([true, true, false, true, true, false]);
  });

  it('begins anew an hour after the first time', () => {
    const limit = new HourlyLimit(1);
    expect([0, HOUR_MS - 1, HOUR_MS, HOUR_MS + 1].map((ms) => limit.take('a', ms))).toEqual([true, false, true, false]);
  });

  it('returns what it would allow without counting it', () => {
    const limit = new HourlyLimit(1);
    expect([limit.has('a', 0), limit.has('a', 0), limit.take('a', 0), limit.has('a', 0), limit.has('a', HOUR_MS)]).toEqual([
      true,
      true,
      true,
      false,
      true,
    ]);
  });

  it('remembers ten thousand keys, and forgets the oldest beyond that', () => {
    const limit = new HourlyLimit(1);
    for (let key = 0; key < 10_000; key++) limit.take(String(key), 0);
    expect(limit.has('0', 1)).toBe(false);
    limit.take('one more', 1);
    expect([limit.has('0', 1), limit.has('1', 1), limit.has('one more', 1)]).toEqual([true, false, false]);
  });

  it('a key that begins anew is the newest', () => {
    const limit = new HourlyLimit(1);
    for (let key = 0; key < 10_000; key++) limit.take(String(key), 0);
    limit.take('0', HOUR_MS);
    limit.take('one more', HOUR_MS);
    expect(limit.has('0', HOUR_MS + 1)).toBe(false);
  });

  it('counts to its limit even long after the clock began', () => {
    const limit = new HourlyLimit(2);
    const sinceMs = 10 * HOUR_MS;
    expect([0, 1, 2, HOUR_MS].map((ms) => limit.take('a', sinceMs + ms))).toEqual([true, true, false, true]);
  });
});
