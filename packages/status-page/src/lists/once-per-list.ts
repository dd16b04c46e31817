/** What is computed of a list that was read once, for as long as the list is kept: many requests share it. A list is known by its identity, and never changes. */
export class OncePerList<Value> {
  readonly #known = new WeakMap<object, Map<string, Value>>();

  /** @param name - of what is computed: a list may be the source of several. */
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
