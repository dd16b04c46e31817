import { expect, it } from 'vitest';
import { toOwnerReference } from './plan-owned-object.js';

it('an object of which only the metadata is cached does not name its kind', () => {
  const partial = { apiVersion: 'meta.k8s.io/v1', kind: 'PartialObjectMetadata', metadata: { name: 'o', uid: 'o' } };
  expect(() => toOwnerReference(partial)).toThrow(/metadata/);
});
