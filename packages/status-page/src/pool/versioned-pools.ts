/** The newest versions of pools, read lazily, so that unused ones cost nothing. */
import { type KubernetesObject, keyOf } from '@vmdhcp/kube-runtime';
import type { VersionedPool } from './diff-pools.js';
import { type PoolSnapshot, toPoolSnapshot } from './pool-snapshot.js';
import { type ReadPool, readPoolFacts } from './read-pool-facts.js';

export interface PoolObjects {
  readonly get: (key: string) => KubernetesObject | undefined;
  readonly values: () => Iterable<KubernetesObject>;
}

interface Known extends VersionedPool {
  readonly object: KubernetesObject;
  readonly read: ReadPool;
}

export class VersionedPools {
  readonly #objects: PoolObjects;
  /** The name of the process, so that versions of another process are not confused with its own. */
  readonly #instance: string;
  readonly #known = new Map<string, Known>();
  #versions = 0;

  constructor(objects: PoolObjects, instance: string) {
    this.#objects = objects;
    this.#instance = instance;
  }

  /** Undefined if there is no such pool. */
  get(key: string): VersionedPool | undefined {
    const object = this.#objects.get(key);
    if (object !== undefined) return this.#of(key, object);
    this.#known.delete(key);
    return undefined;
  }

  /** Sorted by key. */
  all(): readonly PoolSnapshot[] {
    const seen = new Set<string>();
    const snapshots = [...this.#objects.values()].map((object) => {
      const key = keyOf(object);
      seen.add(key);
      return this.#of(key, object).snapshot;
    });
    for (const key of this.#known.keys()) if (!seen.has(key)) this.#known.delete(key);
    return snapshots.toSorted((one, other) => (one.key < other.key ? -1 : 1));
  }

  #of(key: string, object: KubernetesObject): VersionedPool {
    const known = this.#known.get(key);
    if (known?.object === object) return known;
    const read = readPoolFacts(object, known?.read);
    const version = `${this.#instance}-${++this.#versions}`;
    const next = { object, read, version, snapshot: toPoolSnapshot(read.facts) };
    this.#known.set(key, next);
    return next;
  }
}
