import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ObjectIndex } from './object-index.js';

const byTag = () => new ObjectIndex<readonly string[]>((tags) => tags);

describe('an index', () => {
  it('finds objects by what they contain, and returns the values that a change concerns', () => {
    const index = byTag();
    expect([...index.update('a', ['x', 'y'])]).toEqual(['x', 'y']);
    expect([...index.update('b', ['y'])]).toEqual(['y']);
    expect([...index.keysOf('y')]).toEqual(['a', 'b']);
    expect([...index.update('a', ['z', 'y'])]).toEqual(['x', 'y', 'z']);
    expect([[...index.keysOf('x')], [...index.keysOf('y')], [...index.keysOf('z')]]).toEqual([[], ['a', 'b'], ['a']]);
    expect([...index.valuesOf('a')]).toEqual(['z', 'y']);
  });

  it('a removed object is not found, and removing it again changes nothing', () => {
    const index = byTag();
    index.update('a', ['x']);
    expect([...index.update('a', undefined)]).toEqual(['x']);
    expect([...index.keysOf('x')]).toEqual([]);
    expect([...index.values()]).toEqual([]);
    expect([...index.update('a', undefined)]).toEqual([]);
    expect([...index.valuesOf('a')]).toEqual([]);
  });

  it('law: after any changes it equals a new index', () => {
    const change = fc.tuple(
      fc.constantFrom('a', 'b', 'c'),
      fc.option(fc.array(fc.constantFrom('x', 'y', 'z'), { maxLength: 3 }), { nil: undefined }),
    );
    fc.assert(
      fc.property(fc.array(change, { maxLength: 30, size: 'max' }), (changes) => {
        const index = byTag();
        const objects = new Map<string, readonly string[]>();
        for (const [key, tags] of changes) {
          index.update(key, tags);
          if (tags === undefined) objects.delete(key);
          else objects.set(key, tags);
        }
        for (const value of ['x', 'y', 'z']) {
          const expected = [...objects].filter(([, tags]) => tags.includes(value)).map(([key]) => key);
          expect([...index.keysOf(value)].toSorted()).toEqual(expected.toSorted());
        }
        expect([...index.values()].toSorted()).toEqual([...new Set([...objects.values()].flat())].toSorted());
      }),
    );
  });
});
