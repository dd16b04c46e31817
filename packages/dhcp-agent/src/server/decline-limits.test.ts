import { describe, expect, it } from 'vitest';
import { DeclineLimits } from './decline-limits.js';

const HOUR_MS = 3_600_000;

describe('how many declined addresses are believed', () => {
  it('three of one client in an hour', () => {
    const limits = new DeclineLimits();
    expect([1, 2, 3, 4].map((second) => limits.take('net', 'a', second * 1000))).toEqual([true, true, true, false]);
    expect(limits.take('net', 'a', HOUR_MS + 2_000)).toBe(true);
  });

  it('ten of a pool at once, however many clients there are, and then ten a minute', () => {
    const limits = new DeclineLimits();
    const believed = Array.from({ length: 100 }, (_, client) => limits.take('net', String(client), 0));
    expect(believed.filter(Boolean)).toHaveLength(10);
    expect(limits.take('other', '1', 0)).toBe(true);
    expect([6_010, 6_020, 12_030].map((ms) => limits.take('net', `later ${ms}`, ms))).toEqual([true, false, true]);
  });

  it('one client that declines forever does not affect the other clients of its pool', () => {
    const limits = new DeclineLimits();
    const believed = Array.from({ length: 100 }, () => limits.take('net', 'hostile', 0));
    expect(believed.filter(Boolean)).toHaveLength(3);
    const others = Array.from({ length: 10 }, (_, client) => limits.take('net', String(client), 0));
    expect(others.filter(Boolean)).toHaveLength(7);
  });
});
