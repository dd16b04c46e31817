import { fnv1a64 } from '@vmdhcp/kube-runtime';

/**
 * The name of a pool's interface in the agents' pods: it depends only on the pool's own name, so that adding or removing a pool never renames another
 * interface. It has 15 characters, the maximum in Linux.
 */
export function agentInterfaceName(poolKey: string): string {
  return `net${fnv1a64(poolKey).toString(16).padStart(16, '0').slice(0, 12)}`;
}
