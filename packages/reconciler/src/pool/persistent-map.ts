/**
 * A map in immutable versions that share unchanged parts: a new version copies only the buckets that change, and two versions are compared bucket by
 * bucket. So a change of one of 40,000 entries costs what it changes, and so does finding it.
 */

type Bucket<Key, Value> = ReadonlyMap<Key, Value>;

/** A change for the next version; undefined deletes the key. */
export type MapChange<Key, Value> = readonly [Key, Value | undefined];

const FEWEST_BUCKETS = 4;
/** With more entries for each bucket there will be four times as many buckets. */
const MOST_IN_BUCKET = 32;

/** It never changes: `with` creates a new one. The order of its entries means nothing. */
export class PersistentMap<Key extends string, Value> {
  readonly size: number;
  readonly #buckets: readonly (Bucket<Key, Value> | undefined)[];

  private constructor(buckets: readonly (Bucket<Key, Value> | undefined)[], size: number) {
    this.#buckets = buckets;
    this.size = size;
  }

  /** If entries have the same key, the last one counts. */
  static of<Key extends string, Value>(entries: Iterable<readonly [Key, Value]> = []): PersistentMap<Key, Value> {
    const distinct = new Map(entries);
    let count = FEWEST_BUCKETS;
    while (distinct.size > MOST_IN_BUCKET * count) count *= 4;
    const buckets: (Map<Key, Value> | undefined)[] = new Array(count).fill(undefined);
    for (const [key, value] of distinct) {
      const place = placeOf(key, count);
      const bucket = buckets[place];
      if (bucket === undefined) buckets[place] = new Map([[key, value]]);
      else bucket.set(key, value);
    }
    return new PersistentMap(buckets, distinct.size);
  }

  get(key: Key): Value | undefined {
    return this.#buckets[placeOf(key, this.#buckets.length)]?.get(key);
  }

  has(key: Key): boolean {
    return this.#buckets[placeOf(key, this.#buckets.length)]?.has(key) === true;
  }

  *[Symbol.iterator](): Generator<[Key, Value], undefined> {
    for (const bucket of this.#buckets) if (bucket !== undefined) yield* bucket;
  }

  *keys(): Generator<Key, undefined> {
    for (const bucket of this.#buckets) if (bucket !== undefined) yield* bucket.keys();
  }

  *values(): Generator<Value, undefined> {
    for (const bucket of this.#buckets) if (bucket !== undefined) yield* bucket.values();
  }

  /** The next version; the same one if nothing changes. */
  with(changes: Iterable<MapChange<Key, Value>>): PersistentMap<Key, Value> {
    const buckets = [...this.#buckets];
    const copies = new Map<number, Map<Key, Value>>();
    let { size } = this;
    for (const [key, value] of changes) {
      const place = placeOf(key, buckets.length);
      if (buckets[place]?.get(key) === value) continue;
      const bucket = copies.get(place) ?? new Map(buckets[place]);
      copies.set(place, bucket);
      buckets[place] = bucket;
      size -= bucket.size;
      if (value === undefined) bucket.delete(key);
      else bucket.set(key, value);
      size += bucket.size;
    }
    if (copies.size === 0) return this;
    const next = new PersistentMap(buckets, size);
    return size > MOST_IN_BUCKET * buckets.length ? PersistentMap.of(next) : next;
  }

  /** Keys whose value differs in another version, or that only one of them has. Shared buckets are not looked at. */
  *changedKeys(other: PersistentMap<Key, Value>): Generator<Key, undefined> {
    if (this.#buckets.length !== other.#buckets.length) {
      yield* differingKeys(new Map(this), new Map(other));
      return;
    }
    for (const [place, bucket] of this.#buckets.entries()) {
      const others = other.#buckets[place];
      if (bucket !== others) yield* differingKeys(bucket ?? new Map(), others ?? new Map());
    }
  }
}

function* differingKeys<Key, Value>(one: Bucket<Key, Value>, other: Bucket<Key, Value>): Generator<Key, undefined> {
  for (const [key, value] of one) if (other.get(key) !== value) yield key;
  for (const key of other.keys()) if (!one.has(key)) yield key;
}

/** FNV-1a, whose low bits are as good as its others. @param count - a power of two. */
function placeOf(key: string, count: number): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < key.length; at++) hash = Math.imul(hash ^ key.charCodeAt(at), 0x01000193);
  return hash & (count - 1);
}
