/**
 * The rights of one group's agents: a separate ServiceAccount, and access to the Lease of their group and the IPPools that they serve. Roles use
 * `resourceNames`, so that an agent can neither read nor write objects of another group.
 */
import { AGENT_GROUP_LABEL, AGENT_LABEL, AGENT_LABEL_VALUE, GROUP } from '@vmdhcp/ippool-api';
import { CONTROLLER, MANAGED_BY_LABEL } from '@vmdhcp/ippool-api/resources';
import type { KubernetesObject } from '@vmdhcp/kube-runtime';

const RBAC_GROUP = 'rbac.authorization.k8s.io';
/** Agents list and watch their pools; they never get a single one. */
const FOLLOW = ['list', 'watch'];
/** Without `create`, which cannot be restricted by name. The controller creates the Lease before the agents start. */
const LEAD = ['get', ...FOLLOW, 'update'];

export interface RightsHolder {
  /** Also the name of the Lease, of the ServiceAccount, and of every Role and RoleBinding. */
  readonly group: string;
  /** Where the agents run. */
  readonly namespace: string;
  /** Previous namespaces where agents of the group still run: they keep their rights. */
  readonly previousNamespace?: string | undefined;
}

interface PolicyRule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames: readonly string[];
  readonly verbs: readonly string[];
}

/**
 * @param poolNames - names of IPPools by their namespace.
 * @returns the ServiceAccount, and a Role and a RoleBinding in the agents' namespace and in each namespace that has pools.
 */
export function toGroupRights(holder: RightsHolder, poolNames: ReadonlyMap<string, readonly string[]>): KubernetesObject[] {
  const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: toMetadata(holder, holder.namespace) };
  const namespaces = new Set([holder.namespace, ...poolNames.keys()]);
  const roles = [...namespaces].flatMap((namespace) => [
    toRole(holder, namespace, poolNames.get(namespace) ?? []),
    toRoleBinding(holder, namespace),
  ]);
  return [account, ...roles];
}

/** The Role of the group in one namespace. */
function toRole(holder: RightsHolder, namespace: string, names: readonly string[]): KubernetesObject {
  const rules: PolicyRule[] = [];
  if (namespace === holder.namespace || namespace === holder.previousNamespace) {
    rules.push({ apiGroups: ['coordination.k8s.io'], resources: ['leases'], resourceNames: [holder.group], verbs: LEAD });
  }
  if (names.length > 0) {
    rules.push({ apiGroups: [GROUP], resources: ['ippools'], resourceNames: names.toSorted(), verbs: FOLLOW });
  }
  return { apiVersion: `${RBAC_GROUP}/v1`, kind: 'Role', metadata: toMetadata(holder, namespace), ...{ rules } };
}

/** Binds the Role of the group in one namespace to the group's ServiceAccount, and to that of its agents in previous namespaces. */
export function toRoleBinding(holder: RightsHolder, namespace: string): KubernetesObject {
  const { group, namespace: own, previousNamespace: previous } = holder;
  const accounts = previous === undefined ? [own] : [own, previous];
  return {
    apiVersion: `${RBAC_GROUP}/v1`,
    kind: 'RoleBinding',
    metadata: toMetadata(holder, namespace),
    ...{
      roleRef: { apiGroup: RBAC_GROUP, kind: 'Role', name: group },
      subjects: accounts.map((one) => ({ kind: 'ServiceAccount', namespace: one, name: group })),
    },
  };
}

/** Namespaces of the agents that have the rights of a RoleBinding. */
export function accountNamespacesOf(binding: KubernetesObject): readonly string[] {
  const { subjects } = binding as { readonly subjects?: readonly { readonly namespace?: string }[] | null };
  return (subjects ?? []).flatMap(({ namespace }) => namespace ?? []);
}

/** Names of the IPPools that a Role lets agents follow. */
export function poolNamesOf(role: KubernetesObject): readonly string[] {
  return rulesOf(role).flatMap(({ resources = [], resourceNames = [], verbs = [] }) =>
    resources.includes('ippools') && FOLLOW.every((verb) => verbs.includes(verb)) ? resourceNames : [],
  );
}

/** True if a Role lets agents use the Lease of this name. */
export function hasLeaseRule(leaseName: string, role: KubernetesObject): boolean {
  return rulesOf(role).some(
    ({ resources = [], resourceNames = [], verbs = [] }) =>
      resources.includes('leases') && resourceNames.includes(leaseName) && LEAD.every((verb) => verbs.includes(verb)),
  );
}

function rulesOf(role: KubernetesObject): readonly Partial<PolicyRule>[] {
  return (role as { readonly rules?: readonly Partial<PolicyRule>[] | null }).rules ?? [];
}

function toMetadata({ group }: RightsHolder, namespace: string): KubernetesObject['metadata'] {
  const labels = {
    [AGENT_LABEL]: AGENT_LABEL_VALUE,
    [AGENT_GROUP_LABEL]: group,
    [MANAGED_BY_LABEL]: CONTROLLER,
  };
  return { namespace, name: group, labels };
}
