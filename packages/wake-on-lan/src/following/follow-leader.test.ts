import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type FollowingEvent, type FollowingState, followLeader, isAddress, startFollowing } from './follow-leader.js';
import { reconnectPauseMs } from './reconnect-pause.js';

const SERVICE = 'managers:18443';
const LEADER = '10.0.0.1:18443';
const OTHER = '10.0.0.2:18443';
const after = (state: FollowingState, event: FollowingEvent) => followLeader({ state, service: SERVICE }, event, 0.5);
const named = (leader: string | undefined): FollowingEvent => ({ kind: 'not-leading', leader });
const UNREACHABLE: FollowingEvent = { kind: 'unreachable' };

describe('followLeader', () => {
  it('goes to the named leader, stays there, and returns to the Service when it is gone', () => {
    let step = after(startFollowing(SERVICE), named(LEADER));
    expect(step).toMatchObject({ state: { target: LEADER }, retryAfterMs: 0 });
    step = after(step.state, { kind: 'leads' });
    expect(step.state.target).toBe(LEADER);
    step = after(step.state, UNREACHABLE);
    expect(step).toMatchObject({ state: { target: SERVICE }, retryAfterMs: 0 });
    // The Service still names the former leader, until its lease ends.
    step = after(step.state, named(LEADER));
    expect(step).toMatchObject({ state: { target: LEADER }, retryAfterMs: 0 });
    step = after(step.state, UNREACHABLE);
    expect(step.state.target).toBe(SERVICE);
    expect(step.retryAfterMs).toBeGreaterThan(0);
    step = after(step.state, named(OTHER));
    expect(step).toMatchObject({ state: { target: OTHER }, retryAfterMs: 0 });
  });

  it('a good connection that ends is made again at once, and then after a pause', () => {
    const first = after(after(startFollowing(SERVICE), { kind: 'leads' }).state, UNREACHABLE);
    expect(first).toMatchObject({ state: { target: SERVICE }, retryAfterMs: 0 });
    expect(after(first.state, UNREACHABLE).retryAfterMs).toBeGreaterThan(0);
  });

  it.each([
    ['no leader is known', undefined],
    ['the target names itself', SERVICE],
    ['an invalid address', 'somewhere'],
    ['what is named has no port that exists', '10.0.0.1:70000'],
  ])('%s: the Service is tried again after a pause', (_, leader) => {
    const { state, retryAfterMs } = after(startFollowing(SERVICE), named(leader));
    expect(state.target).toBe(SERVICE);
    expect(retryAfterMs).toBeGreaterThan(0);
  });

  it('two managers that name each other are left after three redirects', () => {
    let state = startFollowing(SERVICE);
    const waits: number[] = [];
    for (const leader of [LEADER, OTHER, LEADER, OTHER]) {
      const step = after(state, named(leader));
      state = step.state;
      waits.push(step.retryAfterMs);
    }
    expect(waits.slice(0, 3)).toEqual([0, 0, 0]);
    expect(waits[3]).toBeGreaterThan(0);
    expect(state).toMatchObject({ target: SERVICE, redirects: 0 });
  });

  it('law: five steps in a row without a leader include a pause, and no pause is longer than five seconds', () => {
    const event = fc.oneof(fc.constant(UNREACHABLE), fc.constantFrom(LEADER, OTHER, SERVICE, undefined, 'x').map(named));
    fc.assert(
      fc.property(
        fc.array(event, { minLength: 5, maxLength: 40, size: 'max' }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (events, random) => {
          let state = startFollowing(SERVICE);
          let atOnce = 0;
          for (const one of events) {
            const step = followLeader({ state, service: SERVICE }, one, random);
            state = step.state;
            atOnce = step.retryAfterMs === 0 ? atOnce + 1 : 0;
            expect(atOnce).toBeLessThan(9);
            expect(step.retryAfterMs).toBeLessThanOrEqual(5_000);
          }
        },
      ),
    );
  });
});

describe('reconnectPauseMs', () => {
  it.each([
    [1, 0, 50],
    [1, 1, 100],
    [2, 1, 200],
    [6, 1, 3_200],
    [7, 1, 5_000],
    [1_000, 1, 5_000],
    [1_000, 0, 2_500],
  ])('%i failures, random %d: %d ms', (failures, random, waitMs) => expect(reconnectPauseMs(failures, random)).toBe(waitMs));
});

describe('isAddress', () => {
  it.each(['10.0.0.1:1', 'managers.lab.svc:18443', '[fd00::1]:9'])('%s is an address', (text) =>
    expect(isAddress(text)).toBe(true),
  );
  it.each(['10.0.0.1', ':9', 'a:0', 'a:65536', 'a b:9', 'fd00::1:9', 'http://a:9', ''])('"%s" is not an address', (text) =>
    expect(isAddress(text)).toBe(false),
  );
});
