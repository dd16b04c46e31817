import { describe, expect, it } from 'vitest';
import { hasResigned, isLeader, type Leadership, type LeadershipChange, nextLeadership, STANDBY } from './leadership.js';

const LEADING: Leadership = { kind: 'leading', untilMs: 2_000 };
const RESIGNED: Leadership = { kind: 'resigned', untilMs: 9_000 };
const STOPPING: Leadership = { kind: 'stopping' };
const RENEWED: LeadershipChange = { kind: 'renewed', untilMs: 3_000 };
const RESIGNS: LeadershipChange = { kind: 'resigned', untilMs: 11_000 };

describe('nextLeadership', () => {
  it.each<[Leadership, LeadershipChange, Leadership]>([
    [STANDBY, RENEWED, { kind: 'leading', untilMs: 3_000 }],
    [STANDBY, { kind: 'lost' }, STANDBY],
    [STANDBY, RESIGNS, { kind: 'resigned', untilMs: 11_000 }],
    [STANDBY, { kind: 'stopped' }, STOPPING],
    [LEADING, RENEWED, { kind: 'leading', untilMs: 3_000 }],
    [LEADING, { kind: 'lost' }, STANDBY],
    [LEADING, RESIGNS, { kind: 'resigned', untilMs: 11_000 }],
    [LEADING, { kind: 'stopped' }, STOPPING],
    [RESIGNED, RENEWED, { kind: 'leading', untilMs: 3_000 }],
    [RESIGNED, { kind: 'lost' }, RESIGNED],
    [RESIGNED, RESIGNS, { kind: 'resigned', untilMs: 11_000 }],
    [RESIGNED, { kind: 'stopped' }, STOPPING],
    [STOPPING, RENEWED, STOPPING],
    [STOPPING, { kind: 'lost' }, STOPPING],
    [STOPPING, RESIGNS, STOPPING],
    [STOPPING, { kind: 'stopped' }, STOPPING],
  ])('%o, %o -> %o', (before, change, after) => {
    expect(nextLeadership(before, change)).toEqual(after);
  });
});

describe('isLeader', () => {
  it.each<[string, Leadership, number, boolean]>([
    ['leading, long before its end', LEADING, 0, true],
    ['leading, a millisecond before its end', LEADING, 1_999, true],
    ['leading, at its end', LEADING, 2_000, false],
    ['leading, long after its end, as after a freeze', LEADING, 60_000, false],
    ['standby', STANDBY, 0, false],
    ['resigned', RESIGNED, 0, false],
    ['stopping', STOPPING, 0, false],
  ])('%s', (_, leadership, nowMs, expected) => {
    expect(isLeader(leadership, nowMs)).toBe(expected);
  });
});

describe('hasResigned', () => {
  it.each<[string, Leadership, number, boolean]>([
    ['resigned, before its end', RESIGNED, 8_999, true],
    ['resigned, at its end', RESIGNED, 9_000, false],
    ['leading', LEADING, 0, false],
    ['standby', STANDBY, 0, false],
    ['stopping', STOPPING, 0, false],
  ])('%s', (_, leadership, nowMs, expected) => {
    expect(hasResigned(leadership, nowMs)).toBe(expected);
  });
});
