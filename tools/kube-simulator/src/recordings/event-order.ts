import type { Json } from '../api-object.js';

type IsSame = (expected: Json, got: Json) => boolean;

/** The events in the order of the expected events that they match; events without a match come last. */
export function inOrderOf(expected: readonly Json[], got: readonly Json[], isSame: IsSame): readonly Json[] {
  const left = [...got];
  const matching = expected.flatMap((wanted) => {
    const index = left.findIndex((event) => isSame(wanted, event));
    return index === -1 ? [] : left.splice(index, 1);
  });
  return [...matching, ...left];
}

/**
 * The expected events without those that a later one replaced: each received event is matched with the next expected event that fits. The last
 * expected event must arrive.
 */
export function withoutOvertaken(expected: readonly Json[], got: readonly Json[], isSame: IsSame): readonly Json[] {
  const kept: Json[] = [];
  let next = 0;
  for (const event of got) {
    const match = expected.findIndex((wanted, index) => index >= next && isSame(wanted, event));
    const index = match === -1 ? next : match;
    const wanted = expected[index];
    if (wanted !== undefined) kept.push(wanted);
    next = index + 1;
  }
  return next >= expected.length ? kept : [...kept, ...expected.slice(-1)];
}
