import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { oneOfEachNamespaceFirst } from './one-of-each-namespace-first.js';

describe('oneOfEachNamespaceFirst', () => {
  it('many machines of one namespace do not displace those of another one from the first places', () => {
    const copies = ['aaa/copy-1', 'aaa/copy-2', 'aaa/copy-3', 'aaa/copy-4'];
    expect(oneOfEachNamespaceFirst([...copies, 'lab/vm-a', 'lab/vm-b'])).toEqual([
      ...['aaa/copy-1', 'lab/vm-a', 'aaa/copy-2', 'lab/vm-b', 'aaa/copy-3', 'aaa/copy-4'],
    ]);
  });

  it('law: the result has the same machines, whatever their order, and as many of the first ones as there are namespaces are of different namespaces', () => {
    const anyKey = fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.nat(9)).map(([namespace, number]) => `${namespace}/vm-${number}`);
    fc.assert(
      fc.property(fc.uniqueArray(anyKey), (keys) => {
        const ordered = oneOfEachNamespaceFirst(keys);
        expect(ordered.toSorted()).toEqual(keys.toSorted());
        expect(oneOfEachNamespaceFirst(keys.toReversed())).toEqual(ordered);
        const namespaces = new Set(keys.map((key) => key.split('/')[0]));
        expect(new Set(ordered.slice(0, namespaces.size).map((key) => key.split('/')[0]))).toEqual(namespaces);
      }),
    );
  });
});
