import { describe, expect, it } from 'vitest';
import { readConditions, toReason, withConditions } from './conditions.js';

describe('withConditions', () => {
  const before = withConditions([], [{ type: 'Allocated', status: 'False', reason: 'PoolExhausted', message: 'full' }], 't1');

  it('what says the same stays as it is, times included', () => {
    expect(
      withConditions(before, [{ type: 'Allocated', status: 'False', reason: 'PoolExhausted', message: 'full' }], 't2'),
    ).toEqual(before);
  });

  it('another message is an update, another status a transition', () => {
    const updated = withConditions(before, [{ type: 'Allocated', status: 'False', reason: 'PoolPaused' }], 't2');
    expect(updated).toEqual([
      { type: 'Allocated', status: 'False', reason: 'PoolPaused', lastUpdateTime: 't2', lastTransitionTime: 't1' },
    ]);
    expect(withConditions(updated, [{ type: 'Allocated', status: 'True' }], 't3')).toEqual([
      { type: 'Allocated', status: 'True', lastUpdateTime: 't3', lastTransitionTime: 't3' },
    ]);
  });

  it('a message and a reason of any length are cut, and then say the same', () => {
    const state = { type: 'AgentReady', status: 'False' as const, reason: 'R'.repeat(1_000), message: 'é'.repeat(100_000) };
    const after = withConditions([], [state], 't1');
    expect(after.map(({ reason = '', message = '' }) => [reason, message].map((text) => Buffer.byteLength(text)))).toEqual([
      [128, 1_023],
    ]);
    expect(withConditions(after, [state], 't2')).toEqual(after);
  });

  it('conditions of others stay where they are', () => {
    const others = [{ type: 'Theirs', status: 'True' as const }];
    expect(withConditions(others, [{ type: 'Ours', status: 'True' }], 't1')).toEqual([
      ...others,
      { type: 'Ours', status: 'True', lastUpdateTime: 't1', lastTransitionTime: 't1' },
    ]);
  });
});

it.each<[unknown, number]>([
  [undefined, 0],
  [{ conditions: 'x' }, 0],
  [{ conditions: [null, { type: 'A' }, { type: 'A', status: 'Maybe' }, { type: 'A', status: 'True' }] }, 1],
])('readConditions of %j', (status, count) => {
  expect(readConditions(status)).toHaveLength(count);
});

it.each([
  ['pool-exhausted', 'PoolExhausted'],
  ['mac-address-claimed-twice', 'MacAddressClaimedTwice'],
])('toReason of %s', (word, reason) => {
  expect(toReason(word)).toBe(reason);
});
