/** The leaders of groups of agents as they are now, by their Leases. */
import { AGENT_LABEL, AGENT_LABEL_VALUE, AGENT_REPORT_ANNOTATION, parseAgentReport } from '@vmdhcp/ippool-api/agent';
import { type KubernetesObject, keyOf, readText } from '@vmdhcp/kube-runtime';
import { describeMissingRight, isStaleLease, type MissingRight, Resource } from '@vmdhcp/reconciler/chain';
import { CommandError, ExitCode } from '@vmdhcp/service-process';
import type { ClusterReader } from './cluster-reader.js';
import type { Leader } from './leader.js';
import { trustedLeaders } from './trusted-leaders.js';

/**
 * In the order of their Leases: those whose namespace the status of their IPPools names. Where IPPools may not be listed, the namespace must be given, and the
 * word of the person who gives it counts.
 * @param namespace - asked for by name; undefined: all. @throws CommandError where Leases, or all IPPools without a namespace, may not be listed.
 */
export async function findLeaders(reader: ClusterReader, namespace: string | undefined): Promise<readonly Leader[]> {
  const labelSelector = `${AGENT_LABEL}=${AGENT_LABEL_VALUE}`;
  const listed = await reader.list({ ...Resource.leases, labelSelector, ...(namespace !== undefined && { namespace }) });
  if (listed.kind === 'refused') throw refusedError(listed.right);
  const ordered = listed.objects.toSorted((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1));
  const leaders = ordered.map((lease) => toLeader(lease, reader.nowMs));
  const ipPools = await reader.list(Resource.ipPools);
  if (ipPools.kind === 'found') return trustedLeaders(leaders, ipPools.objects);
  if (namespace === undefined) throw refusedError(ipPools.right);
  return leaders;
}

function refusedError(right: MissingRight): CommandError {
  return new CommandError(`${describeMissingRight(right)}: ask for the verb list on it`, ExitCode.noPermission);
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
