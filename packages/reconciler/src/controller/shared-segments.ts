/** Pools whose networks turn out to be one Ethernet segment. */
import { cidrsOverlap } from '@vmdhcp/dhcp-allocator';
import { describeSegment, isSameSegment, type NetworkSegment, readNetworkSegment } from '../network/network-segment.js';
import type { KubernetesObject } from '../object/kubernetes-object.js';
import type { ClusterView, ObjectSource, PoolView } from './cluster-view.js';

export interface SharedSegment {
  /** As `describeSegment` says it. */
  readonly segment: string;
  /** Keys of the other pools, sorted. */
  readonly poolKeys: readonly string[];
}

export class SharedSegments {
  readonly #view: ClusterView;
  readonly #networks: ObjectSource;
  readonly #read = new WeakMap<KubernetesObject, { readonly segment: NetworkSegment | undefined }>();

  constructor(view: ClusterView, networks: ObjectSource) {
    this.#view = view;
    this.#networks = networks;
  }

  /**
   * Pools of other networks on the same segment whose CIDR overlaps: two guests could get one address, from one of them each. Undefined
   * where there are none. A pool that is not served (paused, invalid, not allowed) shares nothing.
   */
  sharedBy(pool: PoolView): SharedSegment | undefined {
    const segment = this.#segmentOf(pool.network);
    if (segment === undefined || !this.#isServed(pool)) return undefined;
    const others = this.#poolsOn(segment).filter((other) => other.network !== pool.network && overlap(pool, other));
    if (others.length === 0) return undefined;
    return { segment: describeSegment(segment), poolKeys: others.map(({ key }) => key).toSorted() };
  }

  /** Keys of the pools that are served on the segment of a network. */
  poolsOnSegmentOf(network: string): string[] {
    const segment = this.#segmentOf(network);
    return segment === undefined ? [] : this.#poolsOn(segment).map(({ key }) => key);
  }

  #poolsOn(segment: NetworkSegment): PoolView[] {
    return this.#view.pools().filter((pool) => {
      const other = this.#segmentOf(pool.network);
      return other !== undefined && isSameSegment(segment, other) && this.#isServed(pool);
    });
  }

  #isServed({ key, network, paused, reading }: PoolView): boolean {
    return !paused && reading.ok && this.#view.servingPool(network)?.key === key;
  }

  #segmentOf(network: string): NetworkSegment | undefined {
    const object = this.#networks.get(network);
    if (object === undefined) return undefined;
    const known = this.#read.get(object) ?? { segment: readNetworkSegment(object) };
    this.#read.set(object, known);
    return known.segment;
  }
}

function overlap({ reading: one }: PoolView, { reading: other }: PoolView): boolean {
  return one.ok && other.ok && cidrsOverlap(one.pool.cidr, other.pool.cidr);
}
