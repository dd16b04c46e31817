import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { applyMapChanges, diffRuns, RunBuilder } from './address-map.js';

const SIZE = 64;
const states = fc.array(fc.nat(6), { minLength: SIZE, maxLength: SIZE });

function toRuns(of: readonly number[]): readonly number[] {
  const built = new RunBuilder();
  for (const state of of) built.add(state, 1);
  return built.runs;
}

describe('runs of states', () => {
  it('neighbours with the same state become one run, and empty pieces are dropped', () => {
    const built = new RunBuilder();
    for (const [state, count] of [
      [6, 1],
      [0, 0],
      [6, 4],
      [1, -1],
      [1, 2],
    ] as const)
      built.add(state, count);
    expect(built.runs).toEqual([6, 5, 1, 2]);
  });

  it.each([
    ['one address in the middle', [0, 9], [4, 1, 1], [0, 4, 1, 1, 0, 4]],
    ['the first and the last', [0, 9], [0, 5, 1, 8, 6, 1], [5, 1, 0, 7, 6, 1]],
    ['a run that gets the state of its neighbours', [0, 4, 1, 1, 0, 4], [4, 0, 1], [0, 9]],
    ['more than the length', [0, 9], [8, 1, 5], [0, 8, 1, 1]],
    ['beyond the end', [0, 9], [12, 1, 5], [0, 9]],
    ['nothing', [0, 9], [], [0, 9]],
  ])('changes of %s', (_, runs, changes, after) => {
    expect(applyMapChanges(runs, changes)).toEqual(after);
  });

  it('one address of 65,536 is one change', () => {
    expect(diffRuns([6, 1, 1, 40_000, 0, 25_535], [6, 1, 1, 40_001, 0, 25_534])).toEqual([40_001, 1, 1]);
  });

  it('law: the difference applied to the old runs gives the new ones', () => {
    fc.assert(
      fc.property(states, states, (before, after) => {
        const [one, other] = [toRuns(before), toRuns(after)];
        expect(applyMapChanges(one, diffRuns(one, other))).toEqual(other);
        expect(diffRuns(other, other)).toEqual([]);
      }),
    );
  });

  it('law: runs stay alternating and cover as many addresses after any changes', () => {
    const change = fc.tuple(fc.nat(SIZE), fc.nat(6), fc.nat(9));
    fc.assert(
      fc.property(states, fc.array(change, { maxLength: 8 }), (before, changes) => {
        const after = applyMapChanges(toRuns(before), changes.toSorted(([one], [other]) => one - other).flat());
        expect(after.filter((_, index) => index % 2 === 1).reduce((sum, count) => sum + count, 0)).toBe(SIZE);
        const own = after.filter((_, index) => index % 2 === 0);
        expect(own.some((state, index) => index > 0 && state === own[index - 1])).toBe(false);
      }),
    );
  });
});
