/**
 * Which Leases name leaders in whose pods commands may run. A label and an annotation are no proof: each user who may write a Lease could give a pool a leader,
 * and the answer of a pod of that user would count. The status of an IPPool has the namespace of its agents, and the controller alone writes it.
 */
import { type KubernetesObject, keyOf, readText } from '@vmdhcp/kube-runtime';
import type { Leader } from './leader.js';

/** Leaders in the namespaces that their IPPools name, each with the pools that name it, in the same order; none of other namespaces. */
export function trustedLeaders(leaders: readonly Leader[], ipPools: readonly KubernetesObject[]): readonly Leader[] {
  const namespaces = new Map(ipPools.map((pool) => [keyOf(pool), agentsNamespaceOf(pool)]));
  return leaders.flatMap((leader) => {
    const pools = leader.pools.filter((pool) => namespaces.get(pool) === leader.namespace);
    return pools.length === 0 ? [] : [{ ...leader, pools }];
  });
}

/** The namespace of the agents that serve a pool, by its status; undefined: none do. */
export function agentsNamespaceOf({ status }: KubernetesObject): string | undefined {
  return readText(status, 'agentDeploymentRef', 'namespace');
}
