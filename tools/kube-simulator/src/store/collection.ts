import type { ApiObject } from '../api-object.js';

export interface StoredObject {
  readonly object: ApiObject;
  readonly resourceVersion: number;
  /** The JSON for answers and watchers: made once, sent many times. */
  readonly json: Buffer;
}

/** How much history is kept for watches and lists of older versions. */
const maxChanges = 10_000;
const maxChangeBytes = 64 * 1024 * 1024;

/** The effect of a write. */
export interface Change {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly resourceVersion: number;
  readonly key: string;
  /** On DELETED: the last state, with the resourceVersion of the deletion. */
  readonly stored: StoredObject;
  readonly previous: StoredObject | undefined;
}

/** The objects of one kind, sorted by key (`namespace/name`, or `name` for cluster-scoped kinds). */
export class Collection {
  readonly name: string;
  readonly #objects = new Map<string, StoredObject>();
  /** Sorted. Insertion moves pointers only. */
  readonly #keys: string[] = [];
  readonly #changes: Change[] = [];
  #firstChange = 0;
  #changeBytes = 0;
  #forgotten = 0;
  #lastChanged = 0;
  readonly #listeners = new Set<(change: Change) => void>();

  constructor(name: string) {
    this.name = name;
  }

  get size(): number {
    return this.#objects.size;
  }

  /** Changes up to and including this resourceVersion are forgotten. */
  get forgottenResourceVersion(): number {
    return this.#forgotten;
  }

  /** The resourceVersion of the last change of any object in here. */
  get lastChangedResourceVersion(): number {
    return this.#lastChanged;
  }

  get(key: string): StoredObject | undefined {
    return this.#objects.get(key);
  }

  /** The entries whose key begins with `prefix` and is greater than `after`, in order. */
  *entries(prefix = '', after = ''): Generator<readonly [string, StoredObject]> {
    const from = after >= prefix && after !== '' ? this.#indexAfter(after) : this.#indexOf(prefix);
    for (let index = from; index < this.#keys.length; index += 1) {
      const key = this.#keys[index] as string;
      if (!key.startsWith(prefix)) return;
      yield [key, this.#objects.get(key) as StoredObject];
    }
  }

  /** The entries as they were at a resourceVersion; undefined when that is forgotten. */
  entriesAt(resourceVersion: number, prefix = ''): readonly (readonly [string, StoredObject])[] | undefined {
    if (resourceVersion >= this.#lastChanged) return [...this.entries(prefix)];
    if (resourceVersion < this.#forgotten) return undefined;
    const state = new Map<string, StoredObject>(this.entries(prefix));
    for (let index = this.#changes.length - 1; index >= this.#firstChange; index -= 1) {
      const change = this.#changes[index] as Change;
      if (change.resourceVersion <= resourceVersion) break;
      if (!change.key.startsWith(prefix)) continue;
      if (change.previous === undefined) state.delete(change.key);
      else state.set(change.key, change.previous);
    }
    return [...state].sort(([left], [right]) => (left < right ? -1 : 1));
  }

  /** The changes after a resourceVersion, in order; undefined when some of them are forgotten. */
  changesAfter(resourceVersion: number): readonly Change[] | undefined {
    if (resourceVersion < this.#forgotten) return undefined;
    let low = this.#firstChange;
    let high = this.#changes.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#changes[middle] as Change).resourceVersion <= resourceVersion) low = middle + 1;
      else high = middle;
    }
    return this.#changes.slice(low);
  }

  /** Calls `listener` for every later change. Returns a function that stops this. */
  listen(listener: (change: Change) => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  put(key: string, stored: StoredObject): void {
    const previous = this.#objects.get(key);
    this.#objects.set(key, stored);
    if (previous === undefined) this.#keys.splice(this.#indexOf(key), 0, key);
    const type = previous === undefined ? 'ADDED' : 'MODIFIED';
    this.#record({ type, resourceVersion: stored.resourceVersion, key, stored, previous });
  }

  remove(key: string, last: StoredObject): void {
    const previous = this.#objects.get(key);
    if (previous === undefined) return;
    this.#objects.delete(key);
    this.#keys.splice(this.#indexOf(key), 1);
    this.#record({ type: 'DELETED', resourceVersion: last.resourceVersion, key, stored: last, previous });
  }

  restore(key: string, stored: StoredObject): void {
    if (!this.#objects.has(key)) this.#keys.splice(this.#indexOf(key), 0, key);
    this.#objects.set(key, stored);
    this.#lastChanged = Math.max(this.#lastChanged, stored.resourceVersion);
  }

  forgetChanges(upTo: number): void {
    this.#changes.length = 0;
    this.#firstChange = 0;
    this.#changeBytes = 0;
    this.#forgotten = upTo;
  }

  #record(change: Change): void {
    this.#changes.push(change);
    this.#lastChanged = change.resourceVersion;
    this.#changeBytes += change.stored.json.length;
    this.#forgetOldest();
    for (const listener of this.#listeners) listener(change);
  }

  #forgetOldest(): void {
    while (this.#changes.length - this.#firstChange > maxChanges || (this.#changeBytes > maxChangeBytes && this.#hasMany())) {
      const oldest = this.#changes[this.#firstChange] as Change;
      this.#changeBytes -= oldest.stored.json.length;
      this.#forgotten = oldest.resourceVersion;
      this.#firstChange += 1;
    }
    // Dropping from the front one by one would move the whole array each time.
    if (this.#firstChange > maxChanges) {
      this.#changes.splice(0, this.#firstChange);
      this.#firstChange = 0;
    }
  }

  #hasMany(): boolean {
    return this.#changes.length - this.#firstChange > 20;
  }

  /** Where `key` is, or would be. */
  #indexOf(key: string): number {
    let low = 0;
    let high = this.#keys.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#keys[middle] as string) < key) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #indexAfter(key: string): number {
    const index = this.#indexOf(key);
    return this.#keys[index] === key ? index + 1 : index;
  }
}
