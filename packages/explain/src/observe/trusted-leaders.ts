import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { AgentsTrust } from './agents-trust.js';
import type { Leader } from './leader.js';

/**
 * Returns leaders in the namespaces that their IPPools name, each with the pools that name it, in the same order; leaders in
 * other namespaces are ignored.
 */
export function trustedLeaders(leaders: readonly Leader[], ipPools: readonly KubernetesObject[]): readonly Leader[] {
  const trust = new AgentsTrust(ipPools);
  return leaders.flatMap((leader) => {
    const pools = leader.pools.filter((pool) => trust.hasAgents(leader.namespace, pool));
    return pools.length === 0 ? [] : [{ ...leader, pools }];
  });
}
