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

/** A kind that a controller watches. */
export interface ControllerSource {
  readonly resource: ApiResource;
  /** The keys to reconcile when this object changes; default: its own key. It is called for the object before and after a change. */
  readonly keysOf?: (object: KubernetesObject) => Iterable<string>;
}

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
  const { caches, reconcile, onReadError } = settings;
  let state: 'following' | 'refreshing' | 'working' | 'stopped' = 'following';
  const names = Object.keys(settings.sources) as Name[];
  const queue = new KeyedQueue({ ...settings, reconcile: (key, signal) => reconcile(key, subscriptions, signal) });
  const add = (key: string) => {
    if (state === 'working') queue.add(key);
  };
  const open = (name: Name) => {
    const { resource, keysOf = (object) => [keyOf(object)] } = settings.sources[name];
    const index = new ObjectIndex<KubernetesObject>(keysOf);
    const subscription: CacheSubscription = caches.subscribe(resource, {
      onChange: (key) => {
        const before = index.valuesOf(key);
        try {
          for (const concerned of index.update(key, subscription.get(key))) add(concerned);
        } catch (error) {
          // Its current keys are not known; the former ones may need a change.
          for (const concerned of before) add(concerned);
          throw error;
        }
      },
      ...(onReadError && { onError: (error: unknown) => onReadError(name, error) }),
    });
    return { name, subscription, index };
  };
  const sources = names.map(open);
  const subscriptions = Object.fromEntries(sources.map(({ name, subscription }) => [name, subscription])) as Record<
    Name,
    CacheSubscription
  >;
  const begin = () => {
    if (state !== 'refreshing') return;
    state = 'working';
    const keys = new Set(sources.flatMap(({ index }) => [...index.values()]));
    for (const key of keys) queue.add(key, 'background');
  };
  const isSynced = () => sources.every(({ subscription }) => subscription.synced);
  return {
    name: settings.name,
    get synced() {
      return isSynced();
    },
    unready: () => (isSynced() ? [] : caches.unready()),
    get depth() {
      return queue.depth;
    },
    add,
    start: () => {
      for (const { subscription } of sources) subscription.start();
    },
    lead: () => {
      if (state !== 'following') return;
      state = 'refreshing';
      // Changes by the former leader may not have been seen yet.
      void Promise.all(sources.map(({ subscription }) => subscription.refresh())).then(begin);
    },
    stop: async () => {
      state = 'stopped';
      for (const { subscription } of sources) subscription.stop();
      await queue.stop();
    },
  };
}
