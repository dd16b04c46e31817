/**
 * What has to be written so that the agents of a group have the rights they need. Rights are granted before the agents are configured with a pool, and
 * taken when no pod of the group needs them any more.
 */
import { isBeingDeleted, type KubernetesObject, type MergePatch, type Ownership, planOwnedObject } from '@vmdhcp/kube-runtime';

import {
  accountNamespacesOf,
  hasLeaseRule,
  poolNamesOf,
  type RightsHolder,
  toGroupRights,
  toRoleBinding,
} from './group-rights.js';

export type RightsAction =
  | { readonly kind: 'create-right'; readonly group: string; readonly object: KubernetesObject }
  | { readonly kind: 'patch-right'; readonly group: string; readonly object: KubernetesObject; readonly patch: MergePatch }
  | { readonly kind: 'delete-right'; readonly group: string; readonly object: KubernetesObject };

interface GroupRightsWanted extends RightsHolder {
  /** `namespace/name` of the pools that the group serves, or still has to release. */
  readonly poolKeys: readonly string[];
  /** True for a pool of another time that pods of the group may still follow: a right to it that is there stays. */
  readonly isKept: (poolKey: string) => boolean;
  /** Namespaces whose agents the controller knows. What agents of other namespaces have is not taken from them. */
  readonly knownNamespaces: readonly string[];
}

export interface GroupRightsPlan {
  readonly actions: readonly RightsAction[];
  /** Pools that the group's agents may follow now. */
  readonly granted: ReadonlySet<string>;
  /** True if the ServiceAccount is there, and may use the Lease of the group. */
  readonly isReady: boolean;
}

/** Objects of other clients were left out by their labels and names: Roles of other namespaces can have no owner references. */
const OWNERSHIP: Ownership = { isOwn: () => true };

/** @param observed - objects with the label of the group, of all namespaces. */
export function planGroupRights(wanted: GroupRightsWanted, observed: readonly KubernetesObject[]): GroupRightsPlan {
  const there = new Map(ofGroup(wanted.group, observed).map((object) => [identityOf(object), object]));
  const granted = findGranted(wanted, there);
  // Agents that were there before may read pools that the group's own ones may not read yet.
  const given = wanted.previousNamespace === undefined ? granted : namedIn([...there.values()]);
  const poolKeys = new Set([...wanted.poolKeys, ...[...given].filter(wanted.isKept)]);
  const objects = toGroupRights(wanted, namesByNamespace(poolKeys));
  const names = new Set(objects.map(identityOf));
  const writes = objects.flatMap((object) => planObject(wanted.group, object, there.get(identityOf(object))));
  const unused = withoutOthers([...there.values()], wanted.knownNamespaces).filter(
    (object) => !names.has(identityOf(object)) && object.metadata.namespace !== wanted.previousNamespace,
  );
  const surplus = unused.flatMap((object) => deletion(wanted.group, object));
  return { actions: [...writes, ...surplus], granted, isReady: hasLeaseRights(wanted, there) };
}

/** What takes all rights away from a group that has no pods any more. @param knownNamespaces - as of `GroupRightsWanted`. */
export function planRightsRemoval(
  group: string,
  observed: readonly KubernetesObject[],
  knownNamespaces: readonly string[],
): RightsAction[] {
  return withoutOthers(ofGroup(group, observed), knownNamespaces).flatMap((object) => deletion(group, object));
}

/** Without the Roles and RoleBindings of agents that the controller does not know: they may serve. */
function withoutOthers(objects: readonly KubernetesObject[], knownNamespaces: readonly string[]): KubernetesObject[] {
  // RoleBindings alone have subjects.
  const ofOthers = objects.filter((object) => {
    const namespaces = accountNamespacesOf(object);
    return namespaces.length > 0 && !namespaces.some((one) => knownNamespaces.includes(one));
  });
  const others = new Set(ofOthers.map(({ metadata }) => metadata.namespace));
  return objects.filter(({ kind, metadata }) => kind === 'ServiceAccount' || !others.has(metadata.namespace));
}

/** What has the label of the group and another name was made by others: it is left alone. */
function ofGroup(group: string, observed: readonly KubernetesObject[]): KubernetesObject[] {
  return observed.filter(({ metadata }) => metadata.name === group);
}

function deletion(group: string, object: KubernetesObject): RightsAction[] {
  return isBeingDeleted(object) ? [] : [{ kind: 'delete-right', group, object }];
}

function planObject(group: string, wanted: KubernetesObject, observed: KubernetesObject | undefined): RightsAction[] {
  const plan = planOwnedObject(wanted, observed, OWNERSHIP);
  switch (plan.kind) {
    case 'create':
      return [{ kind: 'create-right', group, object: plan.object }];
    case 'patch':
      return [{ kind: 'patch-right', group, object: plan.object, patch: plan.patch }];
    // The roleRef of a binding cannot be changed: the binding is deleted, and created again once it is gone.
    case 'delete':
      return [{ kind: 'delete-right', group, object: plan.object }];
    case 'refuse':
    case 'nothing':
      return [];
  }
}

function findGranted(holder: RightsHolder, there: ReadonlyMap<string, KubernetesObject>): Set<string> {
  return namedIn([...there.values()].filter((object) => isBound(holder, object, there)));
}

/** `namespace/name` of the IPPools that Roles name; other objects name none. */
function namedIn(objects: readonly KubernetesObject[]): Set<string> {
  return new Set(objects.flatMap((object) => poolNamesOf(object).map((name) => `${object.metadata.namespace}/${name}`)));
}

function isBound(holder: RightsHolder, role: KubernetesObject, there: ReadonlyMap<string, KubernetesObject>): boolean {
  const binding = toRoleBinding(holder, role.metadata.namespace ?? '');
  return !isBeingDeleted(role) && isAsWanted(binding, there);
}

/** The Role may name more pools than are wanted now, or fewer. */
function hasLeaseRights(holder: RightsHolder, there: ReadonlyMap<string, KubernetesObject>): boolean {
  return toGroupRights(holder, new Map()).every((object) =>
    object.kind === 'Role' ? hasLeaseRole(holder, there.get(identityOf(object))) : isAsWanted(object, there),
  );
}

function hasLeaseRole({ group }: RightsHolder, role: KubernetesObject | undefined): boolean {
  return role !== undefined && !isBeingDeleted(role) && hasLeaseRule(group, role);
}

function isAsWanted(wanted: KubernetesObject, there: ReadonlyMap<string, KubernetesObject>): boolean {
  const observed = there.get(identityOf(wanted));
  return observed !== undefined && !isBeingDeleted(observed) && planOwnedObject(wanted, observed, OWNERSHIP).kind === 'nothing';
}

function identityOf({ kind, metadata }: KubernetesObject): string {
  return `${kind} ${metadata.namespace}`;
}

function namesByNamespace(poolKeys: Iterable<string>): Map<string, string[]> {
  const names = new Map<string, string[]>();
  for (const key of poolKeys) {
    const [namespace = '', name = ''] = key.split('/', 2);
    names.set(namespace, [...(names.get(namespace) ?? []), name]);
  }
  return names;
}
