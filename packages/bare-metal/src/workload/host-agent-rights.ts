/**
 * The rights of the agents of one ClusterAgent: a ServiceAccount, its own Lease, and the Secrets of its hosts, each by its name.
 * The rights to the kinds of bare-metal hosts, which have no namespaces, are in a ClusterRole of the chart; this file says who
 * has them. Agents follow objects and never read single ones, so they need `get` only for their Lease.
 */
import { BARE_METAL_GROUP } from '@vmdhcp/ippool-api/bare-metal/keys';
import { compareText, type KubernetesObject, toOwnerReference } from '@vmdhcp/kube-runtime';
import { hostAgentLabels } from './host-agent-deployment.js';
import { hostAgentName } from './host-agent-settings.js';
import type { HostWorkload } from './read-host-workload.js';

const RBAC_GROUP = 'rbac.authorization.k8s.io';
const FOLLOW = ['list', 'watch'];
/** No `create`: that right cannot be limited to names. The controller creates the Lease. */
const LEAD = ['get', ...FOLLOW, 'update'];

/** Leases of unknown clients. */
const RECORD = ['get', 'list', 'create', 'patch', 'delete'];

interface PolicyRule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

export interface HostAgentRightsHolder {
  readonly workload: Pick<HostWorkload, 'name' | 'object'>;
  /** Where the agents run. */
  readonly namespace: string;
  /** Names of Secrets by namespace. */
  readonly secrets: ReadonlyMap<string, readonly string[]>;
  /** True if leases are in objects of the namespace. */
  readonly hasLeaseSlices: boolean;
}

/** The ServiceAccount, the Lease, and each role with its binding. */
export function toHostAgentRights(holder: HostAgentRightsHolder): readonly KubernetesObject[] {
  const { namespace, secrets } = holder;
  const namespaces = new Set([namespace, ...[...secrets.keys()].toSorted()]);
  return [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: toMetadata(holder, namespace) },
    // Its spec belongs to the agents.
    { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: toMetadata(holder, namespace) },
    ...[...namespaces].flatMap((one) => [toRole(holder, one, namespacedRules(holder, one)), toBinding(holder, one)]),
  ];
}

/** The subjects of the ClusterRoleBinding of the chart: the ServiceAccounts of these ClusterAgents. */
export function toSubjects(clusterAgents: readonly string[], namespace: string): readonly object[] {
  return clusterAgents.toSorted(compareText).map((one) => subjectOf(one, namespace));
}

function subjectOf(clusterAgent: string, namespace: string): object {
  return { kind: 'ServiceAccount', namespace, name: hostAgentName(clusterAgent) };
}

function namespacedRules(
  { workload, namespace, secrets, hasLeaseSlices }: HostAgentRightsHolder,
  of: string,
): readonly PolicyRule[] {
  const name = hostAgentName(workload.name);
  const names = secrets.get(of) ?? [];
  return [
    ...(of === namespace
      ? [{ apiGroups: ['coordination.k8s.io'], resources: ['leases'], resourceNames: [name], verbs: LEAD }]
      : []),
    // The agent names its slices, so no names can be listed here. In other namespaces the controller does not have this right,
    // and cannot grant it.
    ...(of === namespace && hasLeaseSlices ? [{ apiGroups: [BARE_METAL_GROUP], resources: ['leaseslices'], verbs: RECORD }] : []),
    ...(names.length === 0 ? [] : [{ apiGroups: [''], resources: ['secrets'], resourceNames: names.toSorted(), verbs: FOLLOW }]),
  ];
}

function toRole(holder: HostAgentRightsHolder, of: string, rules: readonly PolicyRule[]): KubernetesObject {
  return { apiVersion: `${RBAC_GROUP}/v1`, kind: 'Role', metadata: toMetadata(holder, of), ...{ rules: rules.map(writtenOut) } };
}

/** A rule without names must not keep earlier names. */
function writtenOut({ resourceNames, ...rule }: PolicyRule): object {
  return { ...rule, resourceNames };
}

function toBinding(holder: HostAgentRightsHolder, of: string): KubernetesObject {
  const { workload, namespace } = holder;
  return {
    apiVersion: `${RBAC_GROUP}/v1`,
    kind: 'RoleBinding',
    metadata: toMetadata(holder, of),
    ...{
      roleRef: { apiGroup: RBAC_GROUP, kind: 'Role', name: hostAgentName(workload.name) },
      subjects: [subjectOf(workload.name, namespace)],
    },
  };
}

function toMetadata({ workload }: HostAgentRightsHolder, namespace: string): KubernetesObject['metadata'] {
  return {
    namespace,
    name: hostAgentName(workload.name),
    labels: { ...hostAgentLabels(workload.name) },
    ownerReferences: [toOwnerReference(workload.object)],
  };
}
