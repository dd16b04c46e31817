import { expect, it } from 'vitest';
import type { KubernetesObject, OwnerReference } from '../object/kubernetes-object.js';
import { planOwnedObject } from './plan-owned-object.js';

const owner: OwnerReference = { apiVersion: 'v1', kind: 'Pod', name: 'o', uid: 'o', controller: true, blockOwnerDeletion: true };
const other: OwnerReference = { apiVersion: 'v1', kind: 'Node', name: 'n', uid: 'n' };
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

it('another owner after ours does not cause a write', () => {
  expect(planOwnedObject(object({}), observed({}, [owner, other]), { owner })).toEqual({ kind: 'nothing' });
});
