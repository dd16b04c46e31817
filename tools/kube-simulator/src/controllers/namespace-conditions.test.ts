import { expect, it } from 'vitest';
import { namespaceConditions } from './namespace-conditions.js';

it('reports what is left, and the finalizers that keep it', () => {
  const remains = [
    { group: 'network.example.com', resource: 'ippools', finalizers: [['example.com/hold'], ['example.com/hold', 'b']] },
    { group: '', resource: 'pods', finalizers: [[]] },
  ];
  const conditions = namespaceConditions([], { remains, failures: [], now: new Date(0) });
  expect(conditions.slice(3)).toEqual([
    {
      type: 'NamespaceContentRemaining',
      status: 'True',
      lastTransitionTime: '1970-01-01T00:00:00Z',
      reason: 'SomeResourcesRemain',
      message:
        'Some resources are remaining: ippools.network.example.com has 2 resource instances, pods. has 1 resource instances',
    },
    {
      type: 'NamespaceFinalizersRemaining',
      status: 'True',
      lastTransitionTime: '1970-01-01T00:00:00Z',
      reason: 'SomeFinalizersRemain',
      message:
        'Some content in the namespace has finalizers remaining: b in 1 resource instances, example.com/hold in 2 resource instances',
    },
  ]);
  const later = namespaceConditions(conditions, { remains, failures: [], now: new Date(60_000) });
  expect(later, 'times of transitions stay').toEqual(conditions);
});

it('reports what could not be deleted', () => {
  const content = { remains: [], failures: ['b is denied', 'a is denied'], now: new Date(0) };
  expect(namespaceConditions([], content).find(({ type }) => type === 'NamespaceDeletionContentFailure')).toMatchObject({
    status: 'True',
    reason: 'ContentDeletionFailed',
    message: 'Failed to delete all resource types, 2 remaining: a is denied, b is denied',
  });
});
