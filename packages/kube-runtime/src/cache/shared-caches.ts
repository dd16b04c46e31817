/**
 * The caches of a process: objects of one kind and selection are listed and watched once, however many parts of the process
 * subscribe to them.
 *
 * - The watch begins with the first subscription that starts, and ends when every subscription has stopped.
 * - A subscription that starts later is served what is cached already: its listener learns the same.
 * - A write of one part is a change by another client to every other part.
 */

import type { ApiResource } from '../api/api-resource.js';
import { projectedPort } from '../api/projected-port.js';
import type { ResourcePort } from '../api/resource-port.js';
import type { BackOffSettings } from '../clock/back-off.js';
import type { Clock } from '../clock/clock.js';
import { type ApiObjectLike, keyOf } from '../object/api-object.js';
import type { KubernetesObject } from '../object/kubernetes-object.js';
import { ObjectCache } from './object-cache.js';
import { isSameVersion } from './reflector.js';

/** The callbacks of a subscriber. An error that a listener throws is reported to its own `onError`, and does not reach other listeners. */
export interface CacheListener {
  /** The object with this key was added, changed or deleted. `isOwn`: by an answer that this subscription passed to `wrote`. */
  readonly onChange: (key: string, isOwn: boolean) => void;
  /** The first complete list is cached, and `onChange` was called for every key of it. */
  readonly onSynced?: () => void;
  /** The cache is a complete list again. */
  readonly onListed?: () => void;
  /** A watch delivered something, at least a bookmark, so watching is allowed. */
  readonly onWatchEvent?: () => void;
  /** A list or watch failed and is retried; or this listener threw. */
  readonly onError?: (error: unknown) => void;
}

/** Objects of one kind and selection, as one part of the process sees them. */
export interface CacheSubscription<Kind extends ApiObjectLike = KubernetesObject> {
  /** True once a list was complete. */
  readonly synced: boolean;
  readonly size: number;
  /** Why the objects are incomplete or old, for people; undefined if they are neither. */
  readonly problem: () => string | undefined;
  readonly get: (key: string) => Kind | undefined;
  readonly values: () => Generator<Kind>;
  /** Stores the answer to a write: the next `get` returns it or something newer, also before the watch delivers it. */
  readonly wrote: (object: Kind) => void;
  /** Begins to listen. */
  readonly start: () => void;
  /** Lists again; resolves when the cache is at least as new as this call, or was stopped. Calls made at the same moment share one list. */
  readonly refresh: () => Promise<void>;
  /** Ends this subscription. Other subscriptions go on; what is cached stays readable here. */
  readonly stop: () => void;
}

/** A kind whose first list is not complete yet. */
export interface MissingCache {
  readonly resource: ApiResource;
  /** The error of the last attempt; undefined if none has failed. */
  readonly error: unknown;
}

/** The current state of a cache. */
export interface CacheState {
  readonly resource: ApiResource;
  readonly synced: boolean;
  /** The number of objects. */
  readonly size: number;
  /** The number of complete lists. More than one: the watch could not be resumed, or a part asked for a refresh. */
  readonly lists: number;
  /** Since the server was last heard from, by a list, an event or a bookmark; undefined if never. */
  readonly silentMs: number | undefined;
}

/** How caches that several controllers share read their kinds. */
export interface SharedCachesSettings {
  /** Returns the port that reads a kind and selection. Called once for each of them. */
  readonly open: (resource: ApiResource) => ResourcePort<KubernetesObject>;
  readonly clock: Clock;
  readonly backOff: BackOffSettings;
  /**
   * Reduces an object before it is cached. Default: drops `metadata.managedFields`. Cached objects are frozen, so that no part can change them for
   * another.
   */
  readonly trim?: (resource: ApiResource, object: KubernetesObject) => KubernetesObject;
}

export class SharedCaches {
  readonly #settings: SharedCachesSettings;
  readonly #shared = new Map<string, SharedCache>();

  constructor(settings: SharedCachesSettings) {
    this.#settings = settings;
  }

  /** The objects of this kind and selection. Nothing is requested before the subscription starts. */
  subscribe(resource: ApiResource, listener: CacheListener): CacheSubscription {
    const name = describeSelection(resource);
    const shared = this.#shared.get(name) ?? new SharedCache(resource, this.#settings, () => this.#shared.delete(name));
    this.#shared.set(name, shared);
    return shared.subscribe(listener);
  }

  /** For metrics: every cache that has started. */
  states(): readonly CacheState[] {
    return [...this.#shared.values()].flatMap((shared) => shared.states());
  }

  /**
   * What the process waits for, for people: kinds that are not listed completely yet, or not heard of for five minutes because they cannot be
   * watched, with the error of the last attempt.
   */
  unready(): readonly string[] {
    return [...this.#shared.values()].flatMap((shared) => shared.unready());
  }

  /** Kinds that have started and are not listed completely yet: until there are none, the process is not ready. */
  missing(): readonly MissingCache[] {
    return [...this.#shared.values()].flatMap((shared) => shared.missing());
  }
}

/** A watch that works is heard every minute or so. */
const STALE_MS = 300_000;

function nameOf({ plural, group }: ApiResource): string {
  return group === '' ? plural : `${plural}.${group}`;
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : JSON.stringify(error);
}

/** One cache and its listeners. */
class SharedCache {
  readonly #resource: ApiResource;
  readonly #cache: ObjectCache<KubernetesObject>;
  /** An object as it is stored. */
  readonly #project: (object: KubernetesObject) => KubernetesObject;
  /** Subscriptions that have not stopped. */
  readonly #open = new Set<CacheListener>();
  /** Subscriptions that have started and not stopped. */
  readonly #listeners = new Set<CacheListener>();
  readonly #onUnused: () => void;
  #state: 'new' | 'started' | 'stopped' = 'new';
  #lastError: unknown;
  #lists = 0;
  /** The subscription whose write is being stored. */
  #writer: CacheListener | undefined;
  #refreshing: Promise<void> | undefined;

  constructor(
    resource: ApiResource,
    { open, clock, backOff, trim = dropManagedFields }: SharedCachesSettings,
    onUnused: () => void,
  ) {
    this.#resource = resource;
    this.#onUnused = onUnused;
    this.#project = (object) => this.#knownVersion(object) ?? deepFreeze(trim(resource, object));
    this.#cache = new ObjectCache<KubernetesObject>({
      port: observedPort(projectedPort(open(resource), this.#project), () =>
        this.#notifyAll((listener) => listener.onWatchEvent?.()),
      ),
      clock,
      backOff,
      onChange: (key, isOwn) => this.#notifyAll((listener) => listener.onChange(key, isOwn && listener === this.#writer)),
      onListed: () => {
        this.#lists++;
        this.#notifyAll((listener) => listener.onListed?.());
      },
      onSynced: () => this.#notifyAll((listener) => listener.onSynced?.()),
      onError: (error) => {
        this.#lastError = error;
        this.#notifyAll((listener) => listener.onError?.(error));
      },
    });
  }

  subscribe(listener: CacheListener): CacheSubscription {
    const cache = this.#cache;
    this.#open.add(listener);
    return {
      get synced() {
        return cache.synced;
      },
      get size() {
        return cache.size;
      },
      problem: () => this.#problem(),
      get: (key) => cache.get(key),
      values: () => cache.values(),
      wrote: (object) => this.#wrote(listener, object),
      start: () => this.#join(listener),
      refresh: () => this.#refresh(listener),
      stop: () => this.#leave(listener),
    };
  }

  missing(): MissingCache[] {
    return this.#state === 'started' && !this.#cache.synced ? [{ resource: this.#resource, error: this.#lastError }] : [];
  }

  unready(): string[] {
    const problem = this.#state === 'started' ? this.#problem() : undefined;
    return problem === undefined ? [] : [`${nameOf(this.#resource)}: ${problem}`];
  }

  #problem(): string | undefined {
    if (!this.#cache.synced) {
      return this.#lastError === undefined ? 'not listed yet' : `cannot be listed: ${textOf(this.#lastError)}`;
    }
    return this.#isStale ? `cannot be watched: ${textOf(this.#lastError)}` : undefined;
  }

  /** True if it was listed but not heard of since, although it should be watched: the cached objects are getting old. */
  get #isStale(): boolean {
    const { synced, silentMs = 0 } = this.#cache;
    return this.#state === 'started' && synced && silentMs > STALE_MS && this.#lastError !== undefined;
  }

  states(): CacheState[] {
    if (this.#state !== 'started') return [];
    const { synced, size, silentMs } = this.#cache;
    return [{ resource: this.#resource, synced, size, lists: this.#lists, silentMs }];
  }

  #join(listener: CacheListener): void {
    if (this.#listeners.has(listener) || !this.#open.has(listener)) return;
    this.#listeners.add(listener);
    if (this.#state === 'new') {
      this.#state = 'started';
      this.#cache.start();
      return;
    }
    for (const key of [...this.#cache.keys()]) this.#notify(listener, () => listener.onChange(key, false));
    if (!this.#cache.synced) return;
    this.#notify(listener, () => listener.onListed?.());
    this.#notify(listener, () => listener.onSynced?.());
  }

  #leave(listener: CacheListener): void {
    this.#listeners.delete(listener);
    if (!this.#open.delete(listener) || this.#open.size > 0) return;
    this.#state = 'stopped';
    this.#cache.stop();
    this.#onUnused();
  }

  /** A list or a watch often brings what is cached, such as an own write: it need not be reduced and frozen again. */
  #knownVersion(object: KubernetesObject): KubernetesObject | undefined {
    const known = this.#cache.get(keyOf(object));
    return known !== undefined && isSameVersion(known, object) ? known : undefined;
  }

  #wrote(listener: CacheListener, object: KubernetesObject): void {
    this.#writer = listener;
    try {
      this.#cache.wrote(this.#project(object));
    } finally {
      this.#writer = undefined;
    }
  }

  async #refresh(listener: CacheListener): Promise<void> {
    if (!this.#open.has(listener)) return;
    this.#join(listener);
    this.#refreshing ??= Promise.resolve().then(() => {
      this.#refreshing = undefined;
      return this.#cache.refresh();
    });
    await this.#refreshing;
  }

  #notifyAll(call: (listener: CacheListener) => void): void {
    for (const listener of [...this.#listeners]) this.#notify(listener, () => call(listener));
  }

  #notify(listener: CacheListener, call: () => void): void {
    try {
      call();
    } catch (error) {
      try {
        listener.onError?.(error);
      } catch {
        // There is no other place to report it.
      }
    }
  }
}

/** Objects from JSON have no cycles. Null, texts and numbers cannot change. */
function deepFreeze<Value extends object>(value: Value): Value {
  if (Object.isFrozen(value)) return value;
  for (const part of Object.values(value)) if (typeof part === 'object' && part !== null) deepFreeze(part);
  return Object.freeze(value);
}

function observedPort<Kind extends ApiObjectLike>(port: ResourcePort<Kind>, onEvent: () => void): ResourcePort<Kind> {
  return {
    list: port.list,
    watch: (resourceVersion, handlers) =>
      port.watch(resourceVersion, {
        onEvent: (event) => {
          handlers.onEvent(event);
          onEvent();
        },
        onEnd: handlers.onEnd,
      }),
  };
}

/** Equal for equal selections, whatever object describes them. */
function describeSelection(resource: ApiResource): string {
  const { group, version, plural, namespaced, namespace, labelSelector, fieldSelector, metadataOnly = false } = resource;
  const selection = [namespace ?? null, labelSelector ?? null, fieldSelector ?? null];
  return JSON.stringify([group, version, plural, namespaced, metadataOnly, ...selection]);
}

/** `managedFields` is a third of many objects, and no controller reads it. */
function dropManagedFields(_: ApiResource, object: KubernetesObject): KubernetesObject {
  const { managedFields: _fields, ...metadata } = object.metadata as KubernetesObject['metadata'] & { managedFields?: unknown };
  return { ...object, metadata };
}
