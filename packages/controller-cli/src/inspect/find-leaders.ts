/** The leaders of groups of agents as they are now, by their Leases. */
import { AGENT_LABEL, AGENT_LABEL_VALUE, AGENT_REPORT_ANNOTATION, parseAgentReport } from '@vmdhcp/ippool-api/agent';
import { type KubernetesObject, keyOf, readText } from '@vmdhcp/kube-runtime';
import { describeMissingRight, isStaleLease, Resource } from '@vmdhcp/reconciler/chain';
import { CommandError, ExitCode } from '@vmdhcp/service-process';
import type { ClusterReader } from './cluster-reader.js';

export interface Leader {
  readonly namespace: string;
  /** The name of the Lease. */
  readonly group: string;
  /** Undefined: no pod renews the Lease. */
  readonly pod: string | undefined;
  /** `namespace/name` of the pools that it reports. */
  readonly pools: readonly string[];
}

/**
 * In the order of their Leases. Where Leases of several namespaces have the label of agents, those of namespaces that no IPPool names are left out: each user who
 * may write a Lease could give a pool a leader, and commands would run in a pod of that user.
 * @param namespace - asked for by name; undefined: all. @throws CommandError where Leases may not be listed.
 */
export async function findLeaders(reader: ClusterReader, namespace: string | undefined): Promise<readonly Leader[]> {
  const labelSelector = `${AGENT_LABEL}=${AGENT_LABEL_VALUE}`;
  const listed = await reader.list({ ...Resource.leases, labelSelector, ...(namespace !== undefined && { namespace }) });
  if (listed.kind === 'refused')
    throw new CommandError(`${describeMissingRight(listed.right)}: ask for the verb list on it`, ExitCode.noPermission);
  const ordered = listed.objects.toSorted((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1));
  const leaders = ordered.map((lease) => toLeader(lease, reader.nowMs));
  if (namespace !== undefined || leaders.every((one) => one.namespace === leaders[0]?.namespace)) return leaders;
  const named = await namespacesOfAgents(reader);
  return named.size === 0 ? leaders : leaders.filter((one) => named.has(one.namespace));
}

/** As the controller has recorded them in IPPools; none where these may not be listed. */
async function namespacesOfAgents(reader: ClusterReader): Promise<ReadonlySet<string>> {
  const listed = await reader.list(Resource.ipPools);
  const pools = listed.kind === 'found' ? listed.objects : [];
  return new Set(pools.flatMap(({ status }) => readText(status, 'agentDeploymentRef', 'namespace') ?? []));
}

export function toLeader(lease: KubernetesObject, nowMs: number): Leader {
  const { namespace = '', name, annotations = {} } = lease.metadata;
  return {
    namespace,
    group: name,
    pod: isStaleLease(lease, nowMs) ? undefined : podIn(lease),
    pools: [...parseAgentReport(annotations[AGENT_REPORT_ANNOTATION]).keys()],
  };
}

/** The holder has the name of its pod, and what tells one process of it from the next. */
export function podIn({ spec }: KubernetesObject): string | undefined {
  return (readText(spec, 'holderIdentity') ?? '').split('_', 1)[0] || undefined;
}
