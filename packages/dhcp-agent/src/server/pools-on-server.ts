/** The pools of a server, and the templates of each, from which nearly every packet is answered. */
import { type LeaseTable, type Pool, PreparedAnswers, type PreparedPool, ServedPool } from '@vmdhcp/dhcp-allocator';

/** A pool and its prepared answers. */
interface PoolOnServer {
  readonly served: ServedPool;
  readonly prepared: PreparedAnswers;
  /** The pool as the only one of an interface. */
  readonly alone: readonly [ServedPool];
}

/** The prepared answers for the last packet of an entry, which are valid until pools or leases change. */
export class ReadyPools {
  of: readonly ServedPool[] = NO_POOLS;
  /** The generation of the lease table; -1 if nothing was prepared yet. */
  generation = -1;
  /** Empty if no answer is prepared. */
  pools: readonly PreparedPool[] = [];
}

const NO_POOLS: readonly ServedPool[] = [];

export class PoolsOnServer {
  readonly #table: LeaseTable;
  readonly #pools = new Map<string, PoolOnServer>();

  constructor(table: LeaseTable) {
    this.#table = table;
  }

  /** Serves this version of the pool. @returns true if the pool was served before. */
  set(pool: Pool): boolean {
    const before = this.#pools.get(pool.name);
    if (before?.served.pool !== pool) {
      const served = new ServedPool(pool);
      this.#pools.set(pool.name, { served, prepared: new PreparedAnswers(served), alone: [served] });
    }
    return before !== undefined;
  }

  remove(name: string): void {
    this.#pools.delete(name);
  }

  get(name: string): ServedPool | undefined {
    return this.#pools.get(name)?.served;
  }

  /** The pools of that name, in that order. */
  named(names: readonly string[]): readonly ServedPool[] {
    return names.flatMap((name) => this.#pools.get(name)?.served ?? []);
  }

  /** The pool of that name, if it is served, as the only one of an interface. */
  alone(name: string): readonly ServedPool[] {
    return this.#pools.get(name)?.alone ?? NO_POOLS;
  }

  *all(): Generator<ServedPool> {
    for (const { served } of this.#pools.values()) yield served;
  }

  /** Updates the prepared answers of these pools. On the path of nearly every packet. @param ready - is updated. */
  readyFor(ready: ReadyPools, pools: readonly ServedPool[]): readonly PreparedPool[] {
    const { generation } = this.#table;
    if (ready.of !== pools || ready.generation !== generation) {
      ready.of = pools;
      ready.generation = generation;
      ready.pools = this.#makeReady(pools);
    }
    return ready.pools;
  }

  /** All pools of an interface, or none, because all of them decide to which one a packet belongs. */
  #makeReady(pools: readonly ServedPool[]): readonly PreparedPool[] {
    const ready = pools.flatMap((served) => {
      const known = this.#pools.get(served.pool.name);
      const leases = this.#table.indexOf(served.pool.name);
      return known?.served !== served || leases === undefined ? [] : { prepared: known.prepared, leases };
    });
    return ready.length === pools.length ? ready : [];
  }
}
