import { type KubernetesObject, keyOf } from '@vmdhcp/kube-runtime';
import type { ClusterNetworks } from './admission-facts.js';
import { ClusterFacts, type FactKind } from './cluster-facts.js';

const KINDS: ReadonlyMap<string, FactKind> = new Map([
  ['NetworkAttachmentDefinition', 'networks'],
  ['IPPool', 'ipPools'],
  ['VirtualMachineNetworkConfig', 'networkConfigs'],
  ['VirtualMachine', 'virtualMachines'],
]);

/** Facts of a cluster in which these objects, and no others, exist. Objects of other kinds are ignored. */
export function factsOfObjects(objects: Iterable<KubernetesObject>, clusterNetworks?: ClusterNetworks): ClusterFacts {
  const sources = {
    networks: new Map<string, KubernetesObject>(),
    ipPools: new Map<string, KubernetesObject>(),
    networkConfigs: new Map<string, KubernetesObject>(),
    virtualMachines: new Map<string, KubernetesObject>(),
  };
  for (const object of objects) {
    const kind = KINDS.get(object.kind ?? '');
    if (kind !== undefined) sources[kind].set(keyOf(object), object);
  }
  const facts = new ClusterFacts(sources, clusterNetworks);
  // Pools before networks: which pool serves a network decides about its segment.
  for (const kind of ['ipPools', 'networks', 'networkConfigs', 'virtualMachines'] as const) {
    for (const key of sources[kind].keys()) facts.note(kind, key);
  }
  return facts;
}
