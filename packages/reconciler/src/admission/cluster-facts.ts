import { type Ipv4Address, type Ipv4Range, intersectRanges, type MacAddress, type Pool } from '@vmdhcp/dhcp-allocator';
import { type KubernetesObject, ObjectIndex } from '@vmdhcp/kube-runtime';
import type { NetworkConfigClaims } from '../network-config/interface-claims.js';
import { type ClusterSources, ClusterView } from '../view/cluster-view.js';
import type { PoolView } from '../view/pool-views.js';
import { SharedSegments } from '../view/shared-segments.js';
import type { MachineKnowledge } from '../virtual-machine/wanted-interfaces.js';
import { type AdmissionFacts, type ClusterNetworks, NO_CLUSTER_NETWORKS } from './admission-facts.js';

/** A source kind of the facts. */
export type FactKind = 'networks' | 'ipPools' | 'networkConfigs' | 'virtualMachines';

/** Computes facts from caches, or from any other maps of objects. The owner of the maps calls `note` for each changed object. */
export class ClusterFacts implements AdmissionFacts {
  readonly clusterNetworks: ClusterNetworks;
  readonly #sources: ClusterSources;
  readonly #view: ClusterView;
  readonly #segments: SharedSegments;
  /** By namespace and the blocks that the range of a pool touches. */
  readonly #poolsByBlock = new ObjectIndex<PoolView>(({ object, reading }) =>
    reading.ok ? blocksOf(object.metadata.namespace ?? '', reading.pool.range) : [],
  );

  constructor(sources: ClusterSources, clusterNetworks: ClusterNetworks = NO_CLUSTER_NETWORKS) {
    this.#sources = sources;
    this.clusterNetworks = clusterNetworks;
    this.#view = new ClusterView(sources);
    this.#segments = new SharedSegments(this.#view, sources.networks);
  }

  /** Updates the object with this key from its source: added, changed or deleted. */
  note(kind: FactKind, key: string): void {
    if (kind === 'ipPools') this.#poolsByBlock.update(key, this.#view.pool(key));
    if (kind === 'virtualMachines') this.#view.noteVirtualMachine(key);
    else if (kind === 'networkConfigs') this.#view.noteNetworkConfig(key);
    else for (const network of kind === 'networks' ? [key] : this.#view.notePool(key)) this.#segments.noteNetwork(network);
  }

  network(key: string): KubernetesObject | undefined {
    return this.#sources.networks.get(key);
  }

  pool(key: string): PoolView | undefined {
    return this.#view.pool(key);
  }

  servingPool(network: string): PoolView | undefined {
    return this.#view.servingPool(network);
  }

  *overlappingPools(network: string, pool: Pool): Generator<PoolView> {
    for (const { poolKey } of this.#segments.overlapping(network, pool)) {
      const other = this.#view.pool(poolKey);
      if (other !== undefined) yield other;
    }
  }

  *poolsInRange(namespace: string, range: Ipv4Range): Generator<PoolView> {
    const keys = new Set(blocksOf(namespace, range).flatMap((block) => [...this.#poolsByBlock.keysOf(block)]));
    for (const key of keys) {
      const pool = this.#view.pool(key);
      if (pool === undefined || !pool.reading.ok || pool.paused || this.#view.servingPool(pool.network)?.key !== key) continue;
      if (intersectRanges(pool.reading.pool.range, range) !== undefined) yield pool;
    }
  }

  claimsOn(network: string): Iterable<NetworkConfigClaims> {
    return this.#view.claimsOn(network).values();
  }

  claimants(network: string, macAddress: MacAddress): ReadonlySet<string> {
    return this.#view.claimants(network, macAddress);
  }

  *wanting(network: string, address: Ipv4Address): Generator<readonly [key: string, macAddress: MacAddress]> {
    yield* this.#view.configsWanting(network, address);
    yield* this.#view.machinesWanting(network, address);
  }

  machinesHaving(network: string, macAddress: MacAddress): ReadonlySet<string> {
    return this.#view.machinesHaving(network, macAddress);
  }

  virtualMachine(key: string): KubernetesObject | undefined {
    return this.#sources.virtualMachines.get(key);
  }

  knowledgeOf(virtualMachine: KubernetesObject): MachineKnowledge {
    return this.#view.knowledgeOf(virtualMachine);
  }
}

/** The blocks of 65,536 addresses that a range touches: at most 257, because no range has more than 16,777,216 addresses. */
function blocksOf(namespace: string, { first, last }: Ipv4Range): string[] {
  const firstBlock = first >>> 16;
  return Array.from({ length: (last >>> 16) - firstBlock + 1 }, (_, index) => `${namespace} ${firstBlock + index}`);
}
