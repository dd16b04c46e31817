import { describe, expect, it } from 'vitest';
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

describe('a value that a server leaves out is not written again and again', () => {
  it.each([
    ['null', { spec: { paused: null } }, { spec: {} }],
    ['null in a list', { spec: { list: [{ a: 1, creationTimestamp: null }] } }, { spec: { list: [{ a: 1 }] } }],
    ['an empty list', { spec: { tolerations: [] } }, { spec: {} }],
    ['an empty list in a list', { spec: { containers: [{ name: 'a', env: [] }] } }, { spec: { containers: [{ name: 'a' }] } }],
    ['an empty list that the server shows as null', { rules: [] }, { rules: null }],
  ])('%s', (_, desired: Fields, there: Fields) => {
    expect(planOwnedObject(object(desired), observed(there), { owner })).toEqual({ kind: 'nothing' });
  });
  it('no labels and no annotations', () => {
    expect(planOwnedObject(object({}, { labels: {}, annotations: {} }), observed({}), { owner })).toEqual({ kind: 'nothing' });
  });
});

it('an emptyDir is written', () => {
  const plan = planOwnedObject(object({ volume: { emptyDir: {} } }), observed({ volume: {} }), { owner });
  expect(plan).toMatchObject({ patch: { volume: { emptyDir: {} } } });
});
