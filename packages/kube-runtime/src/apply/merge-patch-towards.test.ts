import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { applyMergePatch } from '../testing/merge-patch.js';
import { mergePatchTowards } from './merge-patch-towards.js';

type Fields = Record<string, unknown>;

describe('mergePatchTowards', () => {
  it.each<[string, Fields, Fields, Fields | undefined]>([
    ['what is there stays', { a: 1 }, { a: 1, b: 2 }, undefined],
    ['what differs is set', { a: { b: 1, c: 2 } }, { a: { b: 1, c: 3, d: 4 } }, { a: { c: 2 } }],
    ['what is to be absent goes', { a: undefined }, { a: 1 }, { a: null }],
    ['what is absent may be null', { a: undefined }, { a: null }, undefined],
    ['a list with more in its items than is wanted', { a: [{ b: 1 }] }, { a: [{ b: 1, c: 2 }] }, undefined],
    ['a longer list is another one', { a: [{ b: 1 }] }, { a: [{ b: 1 }, { b: 2 }] }, { a: [{ b: 1 }] }],
    ['an empty object where there was none', { a: {} }, {}, { a: {} }],
    ['an object where there was a text', { a: { b: 1 } }, { a: 'x' }, { a: { b: 1 } }],
  ])('%s', (_, wanted, observed, patch) => {
    expect(mergePatchTowards(wanted, observed)).toEqual(patch);
  });

  it('leaves nothing to do once it is applied, whatever the object was', () => {
    const leaf = fc.oneof(fc.integer(), fc.string(), fc.boolean(), fc.array(fc.integer(), { maxLength: 3 }));
    const fields = fc.letrec<{ object: Fields }>((tie) => ({
      object: fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.oneof({ maxDepth: 3 }, leaf, tie('object'))),
    })).object;
    fc.assert(
      fc.property(fields, fields, (wanted, observed) => {
        const patch = mergePatchTowards(wanted, observed);
        const after = patch === undefined ? observed : (applyMergePatch(observed, patch) as Fields);
        expect(mergePatchTowards(wanted, after)).toBeUndefined();
      }),
    );
  });
});
