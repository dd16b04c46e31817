/**
 * Creates a controller from its sources and its reconciler. Changes in a source are reconciled by key, only while this process is leader, and only
 * once every cache is complete and as new as the leadership.
 */
import type { ApiResource } from '../api/api-resource.js';
import { controllerOf } from '../apply/plan-owned-object.js';
import { ObjectIndex } from '../cache/object-index.js';
import type { CacheSubscription, SharedCaches } from '../cache/shared-caches.js';
import { keyOf } from '../object/api-object.js';
import type { KubernetesObject } from '../object/kubernetes-object.js';
import { KeyedQueue, type KeyedQueueSettings, type ReconcileResult } from '../queue/keyed-queue.js';
import type { ControllerPart } from './controller-part.js';
import { PartLifecycle } from './part-lifecycle.js';

/** A kind that a controller watches. */
export interface ControllerSource {
  readonly resource: ApiResource;
  /** The keys to reconcile when this object changes; default: its own key. It is called for the object before and after a change. */
  readonly keysOf?: (object: KubernetesObject) => Iterable<string>;
}

/** What a controller watches, and how it reconciles a key. */
export interface ControllerSettings<Name extends string> extends Omit<KeyedQueueSettings, 'reconcile'> {
  /** For logs and readiness; unique in the process. */
  readonly name: string;
  readonly caches: SharedCaches;
  readonly sources: Readonly<Record<Name, ControllerSource>>;
  /** Reconciles one key by what is cached. @param signal - aborted when the deadline has passed. */
  readonly reconcile: (
    key: string,
    caches: Readonly<Record<Name, CacheSubscription>>,
    signal: AbortSignal,
  ) => Promise<ReconcileResult>;
  /** A list or watch of a source failed, and is retried. */
  readonly onReadError?: (source: Name, error: unknown) => void;
}

/** A part that reconciles objects one by one, with a queue of its own. */
export interface Controller extends ControllerPart {
  /** Keys that wait, for metrics. */
  readonly depth: number;
  /** Requests that a key is reconciled. Ignored before this process is leader, because all keys are reconciled then. */
  readonly add: (key: string) => void;
}

/** For `keysOf`: the key of the object's managing owner, of this kind and in the same namespace. */
export function ownerKeys(kind: string): (object: KubernetesObject) => string[] {
  return (object) => {
    const owner = controllerOf(object);
    if (owner?.kind !== kind) return [];
    return [keyOf({ metadata: { namespace: object.metadata.namespace, name: owner.name } })];
  };
}

/** Nothing happens before the part is started. */
export function createController<Name extends string>(settings: ControllerSettings<Name>): Controller {
  return new SourcedController(settings);
}

class SourcedController<Name extends string> implements Controller {
  readonly name: string;
  readonly #settings: ControllerSettings<Name>;
  readonly #indexes: readonly ObjectIndex<KubernetesObject>[];
  readonly #subscriptions: Readonly<Record<Name, CacheSubscription>>;
  readonly #queue: KeyedQueue;
  readonly #life: PartLifecycle;

  constructor(settings: ControllerSettings<Name>) {
    const { name, reconcile } = settings;
    this.name = name;
    this.#settings = settings;
    this.#life = new PartLifecycle({
      follow: () => {
        for (const subscription of this.#all()) subscription.start();
      },
      refresh: () => Promise.all(this.#all().map((subscription) => subscription.refresh())),
      isSynced: () => this.synced,
      onWorking: () => {
        const keys = new Set(this.#indexes.flatMap((index) => [...index.values()]));
        for (const key of keys) this.#queue.add(key, 'background');
      },
    });
    this.#queue = new KeyedQueue({ ...settings, reconcile: (key, signal) => reconcile(key, this.#subscriptions, signal) });
    const sources = (Object.keys(settings.sources) as Name[]).map((source) => this.#open(source));
    this.#indexes = sources.map(({ index }) => index);
    const named = sources.map(({ source, subscription }) => [source, subscription]);
    this.#subscriptions = Object.fromEntries(named) as Record<Name, CacheSubscription>;
  }

  get synced(): boolean {
    return this.#all().every(({ synced }) => synced);
  }

  get depth(): number {
    return this.#queue.depth;
  }

  unready(): string[] {
    return this.synced ? [] : [...this.#settings.caches.unready()];
  }

  readonly add = (key: string): void => {
    if (this.#life.isWorking) this.#queue.add(key);
  };

  start(): void {
    this.#life.start();
  }

  lead(): void {
    this.#life.lead();
  }

  async stop(): Promise<void> {
    this.#life.stop();
    for (const subscription of this.#all()) subscription.stop();
    await this.#queue.stop();
  }

  #all(): readonly CacheSubscription[] {
    return Object.values(this.#subscriptions);
  }

  #open(source: Name) {
    const { caches, sources, onReadError } = this.#settings;
    const { resource, keysOf = (object) => [keyOf(object)] } = sources[source];
    const index = new ObjectIndex<KubernetesObject>(keysOf);
    const subscription: CacheSubscription = caches.subscribe(resource, {
      onChange: (key) => this.#note(index, key, subscription.get(key)),
      onSynced: () => this.#life.check(),
      ...(onReadError && { onError: (error: unknown) => onReadError(source, error) }),
    });
    return { source, subscription, index };
  }

  #note(index: ObjectIndex<KubernetesObject>, key: string, object: KubernetesObject | undefined): void {
    const before = index.valuesOf(key);
    try {
      for (const concerned of index.update(key, object)) this.add(concerned);
    } catch (error) {
      // Its current keys are not known; the former ones may need a change.
      for (const concerned of before) this.add(concerned);
      throw error;
    }
  }
}
