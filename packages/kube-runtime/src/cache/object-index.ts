/**
 * Finds objects by something that they contain: the pods on a node, the configs that name a network. It is updated one object at a time; an object
 * that disappears unnoticed leaves it at the next `update` of its key.
 */
export class ObjectIndex<Kind> {
  readonly #valuesOf: (object: Kind) => Iterable<string>;
  /** By value, keys of objects. */
  readonly #keys = new Map<string, Set<string>>();
  /** By key, the values it is filed under. */
  readonly #filed = new Map<string, ReadonlySet<string>>();

  /** @param valuesOf - the values by which an object is found; if there are none, it is not in the index. */
  constructor(valuesOf: (object: Kind) => Iterable<string>) {
    this.#valuesOf = valuesOf;
  }

  /**
   * Updates the object with this key; undefined if it does not exist.
   *
   * @returns every value that it was or is found by: what depends on one of them may have changed.
   */
  update(key: string, object: Kind | undefined): ReadonlySet<string> {
    const before = this.#filed.get(key) ?? new Set<string>();
    const after = new Set(object === undefined ? [] : this.#valuesOf(object));
    for (const value of before) if (!after.has(value)) this.#remove(value, key);
    for (const value of after) this.#add(value, key);
    if (after.size === 0) this.#filed.delete(key);
    else this.#filed.set(key, after);
    return new Set([...before, ...after]);
  }

  /** Keys of the objects with this value, in the order in which they were added. */
  keysOf(value: string): ReadonlySet<string> {
    return this.#keys.get(value) ?? new Set();
  }

  /** Values under which the object with this key is found. */
  valuesOf(key: string): ReadonlySet<string> {
    return this.#filed.get(key) ?? new Set();
  }

  /** All values in use. */
  values(): IterableIterator<string> {
    return this.#keys.keys();
  }

  #add(value: string, key: string): void {
    const keys = this.#keys.get(value);
    if (keys === undefined) this.#keys.set(value, new Set([key]));
    else keys.add(key);
  }

  #remove(value: string, key: string): void {
    const keys = this.#keys.get(value);
    keys?.delete(key);
    if (keys?.size === 0) this.#keys.delete(value);
  }
}
