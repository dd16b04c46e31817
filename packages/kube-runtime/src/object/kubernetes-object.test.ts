import { describe, expect, it } from 'vitest';
import { compareByAge, isBeingDeleted, type KubernetesObject } from './kubernetes-object.js';

const created = (creationTimestamp: string | undefined, namespace: string | undefined, name: string): KubernetesObject => ({
  metadata: {
    name,
    ...(namespace !== undefined && { namespace }),
    ...(creationTimestamp !== undefined && { creationTimestamp }),
  },
});

describe('compareByAge', () => {
  it('orders by age, then by namespace, then by name', () => {
    const inOrder = [
      created(undefined, undefined, 'z'),
      created('2026-01-01T00:00:00Z', undefined, 'y'),
      created('2026-01-01T00:00:00Z', 'a', 'x'),
      created('2026-01-01T00:00:00Z', 'b', 'v'),
      created('2026-01-01T00:00:00Z', 'b', 'w'),
      created('2026-01-02T00:00:00Z', 'a', 'a'),
    ];
    for (const [index, one] of inOrder.entries()) {
      expect(inOrder.map((other) => compareByAge(one, other))).toEqual(inOrder.map((_, at) => Math.sign(index - at)));
    }
  });
});

it.each<[string | null | undefined, boolean]>([
  [undefined, false],
  [null, false],
  ['2026-01-01T00:00:00Z', true],
])('an object with the deletionTimestamp %j is being deleted: %j', (deletionTimestamp, expected) => {
  const metadata = { name: 'a', deletionTimestamp } as KubernetesObject['metadata'];
  expect(isBeingDeleted({ metadata })).toBe(expected);
});
