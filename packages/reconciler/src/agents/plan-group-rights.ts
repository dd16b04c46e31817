/**
 * Plans the rights of a group's agents. Rights are granted before the agents are configured with a pool, and revoked when no pod of the group needs
 * them any more.
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
  /** `namespace/name` of the pools that the group serves, or must still release. */
  readonly poolKeys: readonly string[];
  /** True for a former pool that pods of the group may still follow: an existing right to it stays. */
  readonly isKept: (poolKey: string) => boolean;
  /** Namespaces whose agents the controller knows. Agents of other namespaces keep their rights. */
  readonly knownNamespaces: readonly string[];
}

export interface GroupRightsPlan {
  readonly actions: readonly RightsAction[];
  /** Pools that the group's agents may follow now. */
  readonly granted: ReadonlySet<string>;
  /** True if the ServiceAccount exists, and may use the Lease of the group. */
  readonly isReady: boolean;
}

/** Objects of other clients were filtered out by labels and names, because Roles in other namespaces cannot have owner references. */
const OWNERSHIP: Ownership = { isOwn: () => true };

/** @param observed - objects with the label of the group, of all namespaces. */
export function planGroupRights(wanted: GroupRightsWanted, observed: readonly KubernetesObject[]): GroupRightsPlan {
  const there = new Map(ofGroup(wanted.group, observed).map((object) => [identityOf(object), object]));
  const granted = findGranted(wanted, there);
  // Former agents may read pools that the group's new ones may not read yet.
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

/** Revokes all rights of a group without pods. @param knownNamespaces - as in `GroupRightsWanted`. */
export function planRightsRemoval(
  group: string,
  observed: readonly KubernetesObject[],
  knownNamespaces: readonly string[],
): RightsAction[] {
  return withoutOthers(ofGroup(group, observed), knownNamespaces).flatMap((object) => deletion(group, object));
}

/** Without the Roles and RoleBindings of agents that the controller does not know, because they may serve. */
function withoutOthers(objects: readonly KubernetesObject[], knownNamespaces: readonly string[]): KubernetesObject[] {
  // Only RoleBindings have subjects.
  const ofOthers = objects.filter((object) => {
    const namespaces = accountNamespacesOf(object);
    return namespaces.length > 0 && !namespaces.some((one) => knownNamespaces.includes(one));
  });
  const others = new Set(ofOthers.map(({ metadata }) => metadata.namespace));
  return objects.filter(({ kind, metadata }) => kind === 'ServiceAccount' || !others.has(metadata.namespace));
}

/** An object with the label of the group but another name belongs to others, and is left alone. */
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

/** `namespace/name` of the IPPools in Roles; other objects have none. */
function namedIn(objects: readonly KubernetesObject[]): Set<string> {
  return new Set(objects.flatMap((object) => poolNamesOf(object).map((name) => `${object.metadata.namespace}/${name}`)));
}

function isBound(holder: RightsHolder, role: KubernetesObject, there: ReadonlyMap<string, KubernetesObject>): boolean {
  const binding = toRoleBinding(holder, role.metadata.namespace ?? '');
  return !isBeingDeleted(role) && isAsWanted(binding, there);
}

/** The Role may name more or fewer pools than wanted. */
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
