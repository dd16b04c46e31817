/**
 * All objects of one kind as they were last seen: in a list, in a watch, or in the answer to an own write. Without the latter, a reconciler that
 * writes and looks again would see the old object, and write in vain.
 */

import { type ApiObjectLike, keyOf } from '../object/api-object.js';
import { isOlderVersion } from '../object/resource-version.js';
import { isSameVersion, Reflector, type ReflectorSettings } from './reflector.js';

/** What a cache lists and watches, and who is told of changes. */
export interface ObjectCacheSettings<Kind extends ApiObjectLike> extends Omit<ReflectorSettings<Kind>, 'onChange' | 'known'> {
  /** The object has changed. `isOwn`: by an own write that was passed to `wrote`; it is not reported again when the watch brings it. */
  readonly onChange: (key: string, isOwn: boolean) => void;
}

export class ObjectCache<Kind extends ApiObjectLike> {
  readonly #settings: ObjectCacheSettings<Kind>;
  readonly #reflector: Reflector<Kind>;
  readonly #written = new Map<string, Kind>();
  /** The list that was the newest one when an object was written. */
  readonly #roundOf = new WeakMap<Kind, number>();

  constructor(settings: ObjectCacheSettings<Kind>) {
    this.#settings = settings;
    this.#reflector = new Reflector({
      ...settings,
      onChange: (key) => this.#onSeen(key),
      onListed: () => this.#onListed(),
      known: (object) => this.#knownVersion(object),
    });
  }

  /** True once a list was complete. */
  get synced(): boolean {
    return this.#reflector.synced;
  }

  /** How long ago the server was last heard from; undefined if never. For metrics: a working watch is heard every minute or so. */
  get silentMs(): number | undefined {
    return this.#reflector.silentMs;
  }

  get size(): number {
    return this.#reflector.size;
  }

  get(key: string): Kind | undefined {
    return this.#newer(key) ?? this.#reflector.get(key);
  }

  /** All objects that `get` returns at the time when the first one is read, each once, including own writes that no list or watch has shown yet. */
  *values(): Generator<Kind> {
    const unseen = [...this.#written.keys()].filter((key) => this.#reflector.get(key) === undefined);
    // Copied, because a Map would return an object twice if it is deleted and created again while a slow reader iterates.
    for (const object of [...this.#reflector.values()]) yield this.#newer(keyOf(object)) ?? object;
    for (const key of unseen) {
      const written = this.#newer(key);
      if (written !== undefined) yield written;
    }
  }

  /** Keys of all objects that `get` returns, including own writes that no list or watch has shown yet. */
  keys(): ReadonlySet<string> {
    return new Set([...this.#reflector.keys(), ...[...this.#written.keys()].filter((key) => this.#newer(key) !== undefined)]);
  }

  /** Stores the answer to a write, unless the watch has already passed that version: then the watch knows better, and the object may even be gone. */
  wrote(object: Kind): void {
    const key = keyOf(object);
    const known = this.#written.get(key);
    const version = versionOf(object);
    if (isAtLeast(this.#reflector.resourceVersion, version) || (known !== undefined && isAtLeast(versionOf(known), version)))
      return;
    this.#written.set(key, object);
    this.#roundOf.set(object, this.#reflector.round);
    this.#settings.onChange(key, true);
  }

  start(): void {
    this.#reflector.start();
  }

  /** Resolves when the copy is at least as new as this call, or the cache was stopped. */
  async refresh(): Promise<void> {
    await new Promise<void>((resolve) => this.#reflector.relist(resolve));
  }

  stop(): void {
    this.#reflector.stop();
  }

  /** Own writes by key, until the watch brings the same version. */
  #knownVersion(object: Kind): Kind | undefined {
    const written = this.#written.get(keyOf(object));
    return written !== undefined && isSameVersion(written, object) ? written : undefined;
  }

  /** Own writes that no watch has shown yet. If the watch has passed their version without showing them, they are gone or outside the selection. */
  #newer(key: string): Kind | undefined {
    const written = this.#written.get(key);
    return written === undefined || isAtLeast(this.#reflector.resourceVersion, versionOf(written)) ? undefined : written;
  }

  /** A list that began after a write knows better, even if its version is older: the store was restored from a snapshot, and versions go back. */
  #onListed(): void {
    for (const [key, written] of this.#written) {
      const isRestored = (this.#roundOf.get(written) ?? 0) < this.#reflector.round;
      if (!isRestored && !isAtLeast(this.#reflector.resourceVersion, versionOf(written))) continue;
      this.#written.delete(key);
      const seen = this.#reflector.get(key);
      if (seen === undefined || isOlderVersion(versionOf(seen), versionOf(written))) this.#settings.onChange(key, false);
    }
    this.#settings.onListed?.();
  }

  #onSeen(key: string): void {
    const written = this.#written.get(key);
    const seen = this.#reflector.get(key);
    if (written === undefined) {
      this.#settings.onChange(key, false);
      return;
    }
    // Keep a newer own write: an object of the same name may have been created since the deletion.
    if (!isAtLeast(seen === undefined ? this.#reflector.resourceVersion : versionOf(seen), versionOf(written))) return;
    this.#written.delete(key);
    const isEcho = seen?.metadata.resourceVersion === written.metadata.resourceVersion;
    if (!isEcho) this.#settings.onChange(key, false);
  }
}

function versionOf({ metadata }: ApiObjectLike): string {
  return metadata.resourceVersion ?? '';
}

/** An object that was never seen has no version to compare. */
function isAtLeast(seen: string, written: string): boolean {
  return seen !== '' && !isOlderVersion(seen, written);
}
