import { expect, it } from 'vitest';
import { toOwnerReference } from './plan-owned-object.js';

it('an object whose metadata alone is cached does not name its kind', () => {
  const partial = { apiVersion: 'meta.k8s.io/v1', kind: 'PartialObjectMetadata', metadata: { name: 'o', uid: 'o' } };
  expect(() => toOwnerReference(partial)).toThrow(/metadata/);
});
