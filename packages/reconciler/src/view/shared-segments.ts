/** Finds pools whose networks are one Ethernet segment. */
import type { Pool } from '@vmdhcp/dhcp-allocator';
import { compareByAge, type KubernetesObject, keyOf } from '@vmdhcp/kube-runtime';
import type { SharedSegment } from '../network/explain-shared-segment.js';
import { describeSegment, isSameSegment, type NetworkSegment, readNetworkSegment } from '../network/network-segment.js';

import { poolsOverlap } from '../pool/contested-addresses.js';
import type { ClusterView, ObjectSource } from './cluster-view.js';
import type { PoolView } from './pool-views.js';

/** A network with a segment, and its served pool. */
interface ServedNetwork {
  readonly network: string;
  readonly segment: NetworkSegment;
  readonly poolKey: string;
  readonly object: KubernetesObject;
  readonly pool: Pool;
}

/**
 * Networks by segment. A changed network is compared with the others of its segment, and only pools that begin to share it, or stop sharing it with a
 * pool of their own namespace, are reconciled: a user with many pools, or one who pauses a pool again and again, does not cause writes of others each
 * time. The end of a pool in another namespace is noticed at the next regular check.
 */
export class SharedSegments {
  readonly #view: ClusterView;
  readonly #networks: ObjectSource;
  readonly #served = new Map<string, ServedNetwork>();
  /** By the parts that two networks of one segment always share. */
  readonly #byPlace = new Map<string, Map<string, ServedNetwork>>();
  /** Networks whose pool shares its segment, with the warning. */
  readonly #found = new Map<string, SharedSegment>();

  constructor(view: ClusterView, networks: ObjectSource) {
    this.#view = view;
    this.#networks = networks;
  }

  /**
   * Pools of other networks on the same segment that overlap: two virtual machines could get the same address, one from each. Undefined if
   * there are none. A pool that is not served (paused, invalid, not allowed) shares nothing.
   */
  sharedBy({ key, network }: PoolView): SharedSegment | undefined {
    const own = this.#served.get(network);
    if (own === undefined || own.poolKey !== key) return undefined;
    const others = [...this.#sharing(own)].map(({ object }) => object);
    if (others.length === 0) {
      this.#found.delete(network);
      return undefined;
    }
    const { namespace } = own.object.metadata;
    const shared = { segment: describeSegment(own.segment), sibling: oldestSibling(others, namespace) };
    this.#found.set(network, shared);
    return shared;
  }

  /** Notes a change of a network or its pools. Returns the keys of the pools on other networks to check. */
  noteNetwork(network: string): string[] {
    const before = this.#served.get(network);
    const after = this.#read(network);
    if (before?.poolKey !== after?.poolKey) this.#found.delete(network);
    if (before !== undefined) this.#remove(before);
    if (after !== undefined) this.#add(after);
    const begins = after === undefined ? [] : [...this.#sharing(after)].filter((other) => !this.#found.has(other.network));
    const ends = before === undefined ? [] : [...this.#sharing(before)].filter((other) => this.#wasOnlyWith(before, other));
    return [...begins, ...ends].map(({ poolKey }) => poolKey);
  }

  #wasOnlyWith({ poolKey }: ServedNetwork, other: ServedNetwork): boolean {
    return this.#found.get(other.network)?.sibling === poolKey && this.#sharing(other).next().done === true;
  }

  /** The served pools that overlap with this one, on other networks of the same segment. */
  *overlapping(network: string, pool: Pool): Generator<{ readonly poolKey: string; readonly object: KubernetesObject }> {
    const object = this.#networks.get(network);
    const segment = object && readNetworkSegment(object);
    if (segment !== undefined) yield* this.#sharing({ network, segment, pool });
  }

  *#sharing(own: Pick<ServedNetwork, 'network' | 'segment' | 'pool'>): Generator<ServedNetwork> {
    for (const other of this.#byPlace.get(placeOf(own.segment))?.values() ?? []) {
      if (other.network !== own.network && isSameSegment(own.segment, other.segment) && poolsOverlap(own.pool, other.pool))
        yield other;
    }
  }

  #read(network: string): ServedNetwork | undefined {
    const object = this.#networks.get(network);
    const segment = object && readNetworkSegment(object);
    const pool = segment && this.#view.servingPool(network);
    if (pool === undefined || segment === undefined || pool.paused || !pool.reading.ok) return undefined;
    return { network, segment, poolKey: pool.key, object: pool.object, pool: pool.reading.pool };
  }

  #add(one: ServedNetwork): void {
    const place = placeOf(one.segment);
    const there = this.#byPlace.get(place) ?? new Map<string, ServedNetwork>();
    this.#byPlace.set(place, there.set(one.network, one));
    this.#served.set(one.network, one);
  }

  #remove({ network, segment }: ServedNetwork): void {
    const place = placeOf(segment);
    const there = this.#byPlace.get(place);
    there?.delete(network);
    if (there?.size === 0) this.#byPlace.delete(place);
    this.#served.delete(network);
  }
}

/** The key of the oldest pool of the namespace. */
export function oldestSibling(pools: readonly KubernetesObject[], namespace: string | undefined): string | undefined {
  const [oldest] = pools.filter(({ metadata }) => metadata.namespace === namespace).toSorted(compareByAge);
  return oldest && keyOf(oldest);
}

function placeOf({ kind, vlan, link }: NetworkSegment): string {
  return `${kind} ${vlan} ${link}`;
}
