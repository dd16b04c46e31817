import { expect, it } from 'vitest';
import type { KubernetesObject, OwnerReference } from '../object/kubernetes-object.js';
import { planOwnedObject } from './plan-owned-object.js';

const owner: OwnerReference = { apiVersion: 'v1', kind: 'Pod', name: 'o', uid: 'o', controller: true, blockOwnerDeletion: true };
type Fields = Readonly<Record<string, unknown>>;
const object = (fields: Fields, metadata: object = {}): KubernetesObject =>
  ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { namespace: 'default', name: 'a', ...metadata },
    ...fields,
  }) as KubernetesObject;
const observed = (fields: Fields, ownerReferences = [owner]) =>
  object(fields, { uid: 'a', resourceVersion: '5', ownerReferences });

it('immutable fields are looked up by group and kind: a Job of another group is not a batch Job', () => {
  const job = { apiVersion: 'batch.volcano.sh/v1alpha1', kind: 'Job' };
  const plan = planOwnedObject(
    { ...object({ spec: { template: { a: 1 } } }), ...job },
    { ...observed({ spec: { template: { a: 2 } } }), ...job },
    { owner },
  );
  expect(plan.kind).toBe('patch');
});
