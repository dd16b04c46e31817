import type { NetworkPlacement } from './network-placement.js';

/** The placement of a network with Harvester's label; undefined if the network says nothing about nodes. */
export function onClusterNetwork(clusterNetwork: string | undefined): NetworkPlacement {
  return { clusterNetwork, resource: undefined, nodeSelector: {}, link: undefined };
}
