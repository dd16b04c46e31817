import { fnv1a64 } from '@vmdhcp/kube-runtime';

/**
 * The name of a pool's interface in the agents' pods: of the pool's own name and nothing else, so that no pool that comes
 * or goes ever renames another's. 15 characters, as many as Linux allows.
 */
export function agentInterfaceName(poolKey: string): string {
  return `net${fnv1a64(poolKey).toString(16).padStart(16, '0').slice(0, 12)}`;
}
