import { FakeClock } from '@vmdhcp/kube-runtime/testing';
import { describe, expect, it } from 'vitest';
import { every } from './every.js';

describe('every', () => {
  it('calls at each interval, not at once', async () => {
    const clock = new FakeClock();
    const times: number[] = [];
    every(clock, 250, () => times.push(clock.nowMs()));
    await clock.advance(1_000);
    expect(times).toEqual([250, 500, 750, 1_000]);
  });

  it('stops when it is cancelled, from outside or from the call itself', async () => {
    const clock = new FakeClock();
    let calls = 0;
    const callOff = every(clock, 250, () => {
      if (++calls === 3) callOff();
    });
    await clock.advance(10_000);
    expect([calls, clock.pending]).toEqual([3, 0]);
  });

  it('goes on after a call that throws', () => {
    const timers: (() => void)[] = [];
    const after = (_: number, run: () => void) => {
      timers.push(run);
      return () => undefined;
    };
    every({ nowMs: () => 0, after }, 250, () => {
      throw new Error('a bug');
    });
    expect(() => timers.shift()?.()).toThrow('a bug');
    expect(timers).toHaveLength(1);
  });
});
