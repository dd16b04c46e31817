import type { ApiObject, JsonObject } from '../api-object.js';

export interface PolicyRule extends JsonObject {
  readonly verbs: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
}

/** A Role or a ClusterRole. */
export interface Role extends ApiObject {
  readonly rules?: readonly PolicyRule[] | null;
}

export interface Subject extends JsonObject {
  readonly kind: 'User' | 'Group' | 'ServiceAccount';
  readonly name: string;
  readonly namespace?: string;
}

/** A RoleBinding or a ClusterRoleBinding. */
export interface RoleBinding extends ApiObject {
  readonly roleRef: { readonly apiGroup: string; readonly kind: 'Role' | 'ClusterRole'; readonly name: string };
  readonly subjects?: readonly Subject[];
}

/** The RBAC objects of a cluster that one decision needs. */
export interface Policy {
  clusterRoleBindings(): Iterable<RoleBinding>;
  roleBindings(namespace: string): Iterable<RoleBinding>;
  clusterRole(name: string): Role | undefined;
  role(namespace: string, name: string): Role | undefined;
}
