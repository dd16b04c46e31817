import type { ByKind } from './controller-context.js';

/** A kind that has a cache and a reconciler of its own. */
export type CachedKind = keyof ByKind<unknown>;

/** All of them. */
export const CACHED_KINDS: readonly CachedKind[] = ['networks', 'ipPools', 'networkConfigs', 'virtualMachines'];

/** One value for each kind. */
export function byKind<Value>(create: (kind: CachedKind) => Value): ByKind<Value> {
  return {
    virtualMachines: create('virtualMachines'),
    networkConfigs: create('networkConfigs'),
    ipPools: create('ipPools'),
    networks: create('networks'),
  };
}
