import type { ByKind } from './controller-context.js';

/** A kind with its own cache and reconciler. */
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
