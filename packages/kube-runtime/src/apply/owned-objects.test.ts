import { expect, it } from 'vitest';
import type { KubernetesObject } from '../object/kubernetes-object.js';
import { isOwnedByKind, orderedWrites, runningImageOf } from './owned-objects.js';
import type { OwnedObjectPlan } from './plan-owned-object.js';

const owned = (apiVersion: string): KubernetesObject => ({
  kind: 'DaemonSet',
  metadata: { name: 'one', ownerReferences: [{ apiVersion, kind: 'WolConfig', name: 'w', uid: 'u', controller: true }] },
});

it('deletes before it changes, and changes before it creates', () => {
  const object = owned('wol.pillon.org/v1beta1');
  const plans: OwnedObjectPlan[] = [
    { kind: 'create', object },
    { kind: 'nothing' },
    { kind: 'patch', object, patch: {} },
    { kind: 'refuse', object, message: 'not ours' },
    { kind: 'delete', object, isReplaced: false },
  ];
  expect(orderedWrites(plans).map(({ kind }) => kind)).toEqual(['delete', 'patch', 'create']);
});

it.each([
  ['wol.pillon.org/v1', true],
  ['wol.pillon.org.example/v1', false],
])('an owner of API version %s counts as a WolConfig: %s', (apiVersion, expected) => {
  expect(isOwnedByKind(owned(apiVersion), { group: 'wol.pillon.org', kind: 'WolConfig' })).toBe(expected);
});

it('an image is kept together with its user', () => {
  const containers = [{ image: 'agent:1', securityContext: { runAsUser: 5 } }, { image: 'other:1' }];
  const workload = { metadata: { name: 'one' }, spec: { template: { spec: { containers } } } };
  expect(runningImageOf(workload)).toEqual({ image: 'agent:1', securityContext: { runAsUser: 5 } });
  expect(runningImageOf(undefined)).toBeUndefined();
});
