import type { NetworkPlacement } from './network-placement.js';

/** Of a network with Harvester's label; undefined: of one that says nothing about nodes. */
export function onClusterNetwork(clusterNetwork: string | undefined): NetworkPlacement {
  return { clusterNetwork, resource: undefined, nodeSelector: {}, link: undefined };
}
