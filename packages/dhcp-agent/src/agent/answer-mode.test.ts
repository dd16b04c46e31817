import { describe, expect, it } from 'vitest';
import type { FollowedPool } from '../pool/followed-pools.js';
import { type AnswerFacts, type AnswerMode, answerMode } from './answer-mode.js';

const ACTIVE = { kind: 'active', stopsForRogueServer: false } as FollowedPool;
const STOPS = { kind: 'active', stopsForRogueServer: true } as FollowedPool;
const ROGUE = [{ address: '10.0.0.9', macAddress: '02:00:00:00:00:09' }];

const LEADER: AnswerFacts = {
  isStopping: false,
  isSuspended: false,
  followed: ACTIVE,
  rogueServers: [],
  isLeader: true,
  hasAddress: true,
};

describe('how an agent answers the clients of a pool', () => {
  it.each<[string, AnswerMode, Partial<AnswerFacts>]>([
    ['the leader with the address', 'leader', {}],
    ['the leader without the address', 'standby', { hasAddress: false }],
    ['a standby', 'standby', { isLeader: false, hasAddress: false }],
    ['a leader that was frozen until its time was over, with the address', 'standby', { isLeader: false }],
    ['a leader that stops', 'silent', { isStopping: true }],
    ['a standby that stops', 'silent', { isStopping: true, isLeader: false }],
    ['a suspended pool, leader', 'silent', { isSuspended: true }],
    ['a suspended pool, standby', 'silent', { isSuspended: true, isLeader: false }],
    ['a paused pool', 'silent', { followed: { kind: 'paused' } }],
    ['a pool that is gone', 'silent', { followed: { kind: 'unserved', reason: 'PoolMissing', message: '' } }],
    ['a rogue server that does not matter', 'leader', { rogueServers: ROGUE }],
    ['a rogue server that stops the leader', 'silent', { rogueServers: ROGUE, followed: STOPS }],
    ['a rogue server that stops the standby', 'silent', { rogueServers: ROGUE, followed: STOPS, isLeader: false }],
    ['onRogueServer: Stop, and there is none', 'leader', { followed: STOPS }],
    ['onRogueServer: Stop, and the network was not probed yet', 'leader', { followed: STOPS, rogueServers: undefined }],
    ['onRogueServer: Stop, standby, none', 'standby', { followed: STOPS, isLeader: false }],
  ])('%s: %s', (_, expected, facts) => {
    expect(answerMode({ ...LEADER, ...facts })).toBe(expected);
  });
});

describe('in all combinations', () => {
  const bits = [false, true];
  const followed: FollowedPool[] = [ACTIVE, STOPS, { kind: 'paused' }, { kind: 'unserved', reason: 'PoolMissing', message: '' }];
  const all: AnswerFacts[] = bits.flatMap((isStopping) =>
    bits.flatMap((isSuspended) =>
      bits.flatMap((isLeader) =>
        bits.flatMap((hasAddress) =>
          followed.flatMap((pool) =>
            [undefined, [], ROGUE].map((rogueServers) => ({
              ...{ isStopping, isSuspended, isLeader, hasAddress, rogueServers },
              followed: pool,
            })),
          ),
        ),
      ),
    ),
  );
  const of = (mode: AnswerMode) => all.filter((facts) => answerMode(facts) === mode);

  it('only a leader with the address answers as leader', () => {
    expect(of('leader').every(({ isLeader, hasAddress }) => isLeader && hasAddress)).toBe(true);
    // An active pool with three states of the network, and one that stops with two.
    expect(of('leader')).toHaveLength(5);
  });

  it('the same reasons keep the leader and a standby silent', () => {
    const answers = (facts: AnswerFacts) => answerMode(facts) !== 'silent';
    for (const facts of all) {
      expect(answers({ ...facts, isLeader: true, hasAddress: true })).toBe(
        answers({ ...facts, isLeader: false, hasAddress: false }),
      );
    }
    expect(of('silent')).toHaveLength(all.length - 4 * 5);
  });
});
