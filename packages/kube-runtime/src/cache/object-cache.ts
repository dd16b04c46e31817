/**
 * All objects of one kind as they were last seen, in a list or watch, or in the answer to an own write. Without the latter, a reconciler
 * that writes and looks again sees the object as it was before, and writes in vain.
 */

import { type ApiObjectLike, keyOf } from '../object/api-object.js';
import { isOlderVersion } from '../object/resource-version.js';
import { isSameVersion, Reflector, type ReflectorSettings } from './reflector.js';

export interface ObjectCacheSettings<Kind extends ApiObjectLike> extends Omit<ReflectorSettings<Kind>, 'onChange' | 'known'> {
  /**
   * This object is another than before. `isOwn`: by an answer to a write that was handed to `wrote`; it is not reported once
   * more when the watch brings it.
   */
  readonly onChange: (key: string, isOwn: boolean) => void;
}

export class ObjectCache<Kind extends ApiObjectLike> {
  readonly #settings: ObjectCacheSettings<Kind>;
  readonly #reflector: Reflector<Kind>;
  readonly #written = new Map<string, Kind>();

  constructor(settings: ObjectCacheSettings<Kind>) {
    this.#settings = settings;
    this.#reflector = new Reflector({
      ...settings,
      onChange: (key) => this.#onSeen(key),
      onListed: () => this.#onListed(),
      known: (object) => this.#knownVersion(object),
    });
  }

  /** True once there has been a whole list. */
  get synced(): boolean {
    return this.#reflector.synced;
  }

  /** How long ago the server was last heard of; undefined: never. For metrics: a watch that works is heard every minute or so. */
  get silentMs(): number | undefined {
    return this.#reflector.silentMs;
  }

  get size(): number {
    return this.#reflector.size;
  }

  get(key: string): Kind | undefined {
    return this.#newer(key) ?? this.#reflector.get(key);
  }

  /** All objects that `get` returns when the first one is read, each once: those included that were written and that no list or watch has brought yet. */
  *values(): Generator<Kind> {
    const unseen = [...this.#written.keys()].filter((key) => this.#reflector.get(key) === undefined);
    // A copy of the references: a Map would show an object again that is deleted and created while a slow reader has a part.
    for (const object of [...this.#reflector.values()]) yield this.#newer(keyOf(object)) ?? object;
    for (const key of unseen) {
      const written = this.#newer(key);
      if (written !== undefined) yield written;
    }
  }

  /** Keys of all objects that `get` returns, those included that were written and that no list or watch has brought yet. */
  keys(): ReadonlySet<string> {
    return new Set([...this.#reflector.keys(), ...[...this.#written.keys()].filter((key) => this.#newer(key) !== undefined)]);
  }

  /** Takes the answer to a write. Of what the watch has passed by already, it knows better: the object may even be gone. */
  wrote(object: Kind): void {
    const key = keyOf(object);
    const known = this.#written.get(key);
    const version = versionOf(object);
    if (isAtLeast(this.#reflector.resourceVersion, version) || (known !== undefined && isAtLeast(versionOf(known), version)))
      return;
    this.#written.set(key, object);
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

  /** The answer to an own write, when the watch brings the same once more. */
  #knownVersion(object: Kind): Kind | undefined {
    const written = this.#written.get(keyOf(object));
    return written !== undefined && isSameVersion(written, object) ? written : undefined;
  }

  /** What was written and not seen yet. What the watch has passed by without a word is not of this selection, or gone. */
  #newer(key: string): Kind | undefined {
    const written = this.#written.get(key);
    return written === undefined || isAtLeast(this.#reflector.resourceVersion, versionOf(written)) ? undefined : written;
  }

  /** What was written before the list was made, and is not in it, is gone. */
  #onListed(): void {
    for (const [key, written] of this.#written) {
      if (!isAtLeast(this.#reflector.resourceVersion, versionOf(written))) continue;
      this.#written.delete(key);
      if (this.#reflector.get(key) === undefined) this.#settings.onChange(key, false);
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
    // A deletion counts from when it was seen: an object of the same name may have been created, and written here, since.
    if (!isAtLeast(seen === undefined ? this.#reflector.resourceVersion : versionOf(seen), versionOf(written))) return;
    this.#written.delete(key);
    const isEcho = seen?.metadata.resourceVersion === written.metadata.resourceVersion;
    if (!isEcho) this.#settings.onChange(key, false);
  }
}

function versionOf({ metadata }: ApiObjectLike): string {
  return metadata.resourceVersion ?? '';
}

/** Of what was never seen nothing is as new. */
function isAtLeast(seen: string, written: string): boolean {
  return seen !== '' && !isOlderVersion(seen, written);
}
