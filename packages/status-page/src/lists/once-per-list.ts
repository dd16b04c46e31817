/**
 * Caches values that are computed from a list as long as the list exists, so that many requests share them. A list is identified by its identity, and
 * never changes.
 */
export class OncePerList<Value> {
  readonly #known = new WeakMap<object, Map<string, Value>>();

  /** @param name - the name of the value, because a list may have several. */
  get(list: object, name: string, compute: () => Value): Value {
    const values = this.#known.get(list) ?? new Map<string, Value>();
    this.#known.set(list, values);
    const known = values.get(name);
    if (known !== undefined) return known;
    const value = compute();
    values.set(name, value);
    return value;
  }
}
