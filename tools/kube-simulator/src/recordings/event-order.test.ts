import { describe, expect, it } from 'vitest';
import { inOrderOf, withoutOvertaken } from './event-order.js';

const isSame = (one: unknown, other: unknown): boolean => one === other;

describe('events that controllers cause at their own pace', () => {
  it.each([
    ['in the same order', ['a', 'b'], ['a', 'b'], ['a', 'b']],
    ['in another order', ['a', 'b'], ['b', 'a'], ['a', 'b']],
    ['with one that was not expected', ['a', 'b'], ['c', 'b', 'a'], ['a', 'b', 'c']],
    ['with one missing', ['a', 'b'], ['b'], ['b']],
  ])('%s', (_name, expected, got, ordered) => {
    expect(inOrderOf(expected, got, isSame)).toEqual(ordered);
  });

  it.each([
    ['all of them', ['a', 'b', 'c'], ['a', 'b', 'c'], ['a', 'b', 'c']],
    ['one overtaken', ['a', 'b', 'c'], ['a', 'c'], ['a', 'c']],
    ['the last one missing', ['a', 'b', 'c'], ['a', 'b'], ['a', 'b', 'c']],
    ['another one instead', ['a', 'b', 'c'], ['a', 'x', 'c'], ['a', 'b', 'c']],
    ['one too many', ['a', 'b'], ['a', 'b', 'b'], ['a', 'b']],
  ])('%s', (_name, expected, got, wanted) => {
    expect(withoutOvertaken(expected, got, isSame)).toEqual(wanted);
  });
});
