/** The current leaders of groups of agents, from their Leases. */

import { AGENT_LABEL, AGENT_LABEL_VALUE, AGENT_REPORT_ANNOTATION, parseAgentReport } from '@vmdhcp/ippool-api/agent';
import { Resource } from '@vmdhcp/ippool-api/resources';
import { type KubernetesObject, keyOf, readText } from '@vmdhcp/kube-runtime';
import { CommandError, ExitCode } from '@vmdhcp/service-process';
import { isStaleLease } from '../chain/agent-links.js';
import { describeMissingRight, type MissingRight, objectOf } from '../chain/chain-observation.js';
import { agentsNamespaceOf } from './agents-trust.js';
import type { ClusterReader } from './cluster-reader.js';
import type { Leader } from './leader.js';
import { trustedLeaders } from './trusted-leaders.js';

type LeaderReads = Pick<ClusterReader, 'get' | 'list' | 'nowMs'>;

/**
 * Returns leaders in the order of their Leases, if the status of their IPPools names their namespace. If IPPools may not be
 * listed, the user must give the namespace, and it is trusted.
 * @param namespace - the namespace that the user gave; undefined: all. @throws CommandError if Leases may not be listed, or,
 * without a namespace, IPPools may not be listed.
 */
export async function findLeaders(reader: LeaderReads, namespace: string | undefined): Promise<readonly Leader[]> {
  const leaders = await leadersIn(reader, namespace);
  const ipPools = await reader.list(Resource.ipPools);
  if (ipPools.kind === 'found') return trustedLeaders(leaders, ipPools.objects);
  if (namespace === undefined) throw refusedError(ipPools.right, ', or give --namespace with the namespace of the agents');
  return leaders;
}

/**
 * Returns the leaders that serve one pool, in the namespace that its status names: none, one, or two while the pool moves from
 * one group to another.
 * @param pool - `namespace/name`. @throws CommandError if the IPPool may not be read, or the Leases of that namespace may not be
 * listed.
 */
export async function findLeadersOf(reader: LeaderReads, pool: string): Promise<readonly Leader[]> {
  const ipPool = await reader.get(Resource.ipPools, pool);
  if (ipPool.kind === 'refused') throw refusedError(ipPool.right);
  const object = objectOf(ipPool);
  if (object === undefined) throw new CommandError(`there is no IPPool ${pool}: kubectl vmdhcp pools -A`, ExitCode.failed);
  const namespace = agentsNamespaceOf(object);
  if (namespace === undefined) return [];
  const leaders = await leadersIn(reader, namespace);
  return leaders.filter(({ pools }) => pools.includes(pool));
}

async function leadersIn(reader: LeaderReads, namespace: string | undefined): Promise<readonly Leader[]> {
  const labelSelector = `${AGENT_LABEL}=${AGENT_LABEL_VALUE}`;
  const listed = await reader.list({ ...Resource.leases, labelSelector, ...(namespace !== undefined && { namespace }) });
  if (listed.kind === 'refused') throw refusedError(listed.right);
  const ordered = listed.objects.toSorted((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1));
  return ordered.map((lease) => toLeader(lease, reader.nowMs));
}

/** @param otherWay - what else the user can do. */
function refusedError(right: MissingRight, otherWay = ''): CommandError {
  return new CommandError(
    `${describeMissingRight(right)}: ask for the verb ${right.verb} on it${otherWay}`,
    ExitCode.noPermission,
  );
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

/** The holder consists of the name of its pod and a suffix that distinguishes its processes. */
export function podIn({ spec }: KubernetesObject): string | undefined {
  return (readText(spec, 'holderIdentity') ?? '').split('_', 1)[0] || undefined;
}
