import { describe, expect, it } from 'vitest';
import type { Condition } from './condition.js';
import { readConditions, withConditions } from './conditions.js';

describe('withConditions', () => {
  const before = withConditions([], [{ type: 'Allocated', status: 'False', reason: 'PoolExhausted', message: 'full' }], {
    now: 't1',
  });

  it('a condition with the same content stays as it is, times included', () => {
    expect(
      withConditions(before, [{ type: 'Allocated', status: 'False', reason: 'PoolExhausted', message: 'full' }], { now: 't2' }),
    ).toEqual(before);
  });

  it('another message is an update, another status a transition', () => {
    const updated = withConditions(before, [{ type: 'Allocated', status: 'False', reason: 'PoolPaused' }], { now: 't2' });
    expect(updated).toEqual([
      { type: 'Allocated', status: 'False', reason: 'PoolPaused', lastUpdateTime: 't2', lastTransitionTime: 't1' },
    ]);
    expect(withConditions(updated, [{ type: 'Allocated', status: 'True' }], { now: 't3' })).toEqual([
      { type: 'Allocated', status: 'True', lastUpdateTime: 't3', lastTransitionTime: 't3' },
    ]);
  });

  it('a message and a reason of any length are cut, and then stay the same', () => {
    const state = { type: 'AgentReady', status: 'False' as const, reason: 'R'.repeat(1_000), message: 'é'.repeat(100_000) };
    const after = withConditions([], [state], { now: 't1' });
    expect(after.map(({ reason = '', message = '' }) => [reason, message].map((text) => Buffer.byteLength(text)))).toEqual([
      [128, 1_023],
    ]);
    expect(withConditions(after, [state], { now: 't2' })).toEqual(after);
  });

  it('conditions of others stay where they are', () => {
    const others = [{ type: 'Theirs', status: 'True' as const }];
    expect(withConditions(others, [{ type: 'Ours', status: 'True' }], { now: 't1' })).toEqual([
      ...others,
      { type: 'Ours', status: 'True', lastUpdateTime: 't1', lastTransitionTime: 't1' },
    ]);
  });
});

describe('the generation of withConditions', () => {
  const [ready, other] = [
    { type: 'Ready', status: 'True' as const },
    { type: 'Other', status: 'False' as const },
  ];
  const old = withConditions([], [ready, other], { now: 't1' });

  it('is in every condition that is written', () => {
    const written = withConditions([], [ready], { now: 't1', generation: 3 });
    expect(written).toEqual([{ ...ready, observedGeneration: 3, lastUpdateTime: 't1', lastTransitionTime: 't1' }]);
  });

  it('does not cause a write of an old condition without a generation', () => {
    expect(withConditions(old, [ready, other], { now: 't2', generation: 3 })).toEqual(old);
  });

  it('is added to all of them when one changes, or the status is written anyway; times stay', () => {
    const stamped = old.map((condition) => ({ ...condition, observedGeneration: 3 }));
    expect(withConditions(old, [ready, other], { now: 't2', generation: 3, isWritten: true })).toEqual(stamped);
    const changed = withConditions(old, [{ ...ready, status: 'False' }, other], { now: 't2', generation: 3 });
    expect(changed).toEqual([
      { type: 'Ready', status: 'False', observedGeneration: 3, lastUpdateTime: 't2', lastTransitionTime: 't2' },
      stamped[1],
    ]);
  });

  it('changes with the spec, even if nothing else changes', () => {
    const before = withConditions([], [ready], { now: 't1', generation: 3 });
    expect(withConditions(before, [ready], { now: 't2', generation: 4 })).toEqual([{ ...before[0], observedGeneration: 4 }]);
    expect(withConditions(before, [ready], { now: 't2' }), 'not known').toEqual(before);
  });
});

it('another reason with the same message is an update, and so is a message that is new or gone', () => {
  const state = { type: 'Ready', status: 'False' as const, reason: 'A', message: 'm' };
  const before = withConditions([], [state], { now: 't1' });
  const { message: _, ...silent } = state;
  const { reason: __, ...unexplained } = state;
  for (const after of [{ ...state, reason: 'B' }, { ...state, message: 'n' }, silent, unexplained]) {
    expect(withConditions(before, [after], { now: 't2' })).toStrictEqual([
      { ...after, lastUpdateTime: 't2', lastTransitionTime: 't1' },
    ]);
  }
  expect(withConditions([], [{ type: 'Ready', status: 'True' }], { now: 't1' })).toStrictEqual([
    { type: 'Ready', status: 'True', lastUpdateTime: 't1', lastTransitionTime: 't1' },
  ]);
});

it('only an older generation causes a write: neither the same, nor a newer, nor an unknown one', () => {
  const states = [
    { type: 'Ready', status: 'True' as const },
    { type: 'Other', status: 'True' as const },
  ];
  const at = (observedGeneration: number | undefined) => [
    { ...states[0], type: 'Ready', observedGeneration, lastUpdateTime: 't1', lastTransitionTime: 't1' },
    { ...states[1], type: 'Other', lastUpdateTime: 't1', lastTransitionTime: 't1' },
  ];
  const written = (observedGeneration: number | undefined, generation: number | undefined) =>
    withConditions(at(observedGeneration) as Condition[], states, { now: 't2', generation })[1]?.observedGeneration;
  expect(written(3, 4)).toBe(4);
  for (const [before, now] of [
    [4, 4],
    [5, 4],
    [undefined, 4],
    [4, undefined],
  ])
    expect(written(before, now)).toBeUndefined();
});

it.each<[unknown, number]>([
  [undefined, 0],
  [{ conditions: 'x' }, 0],
  [{ conditions: [null, { type: 'A' }, { type: 'A', status: 'Maybe' }, { type: 'A', status: 'True' }] }, 1],
  [{ conditions: [{ status: 'True' }, { type: 1, status: 'True' }, { type: 'A', status: true }] }, 0],
])('readConditions of %j', (status, count) => {
  expect(readConditions(status)).toHaveLength(count);
});

it.each(['True', 'False', 'Unknown'])('a condition that is %s is read completely', (status) => {
  const condition = { type: 'Ready', status, reason: 'R', message: 'm', lastTransitionTime: 't1', observedGeneration: 2 };
  expect(readConditions({ conditions: [condition] })).toEqual([condition]);
});
