/**
 * Deletes objects that have lost their owners, and completes deletions with the policies Foreground and Orphan. It watches all kinds, but looks only
 * at objects that name owners and at the owners they name.
 */
import type { ApiClient, ObjectPath, WatchEvent } from '../api/api-client.js';
import { isMissing } from './api-outcome.js';
import type { ControllerContext } from './controller-context.js';
import { EventRecorder } from './event-recorder.js';
import { OwnerIndex } from './owner-index.js';
import { foregroundFinalizer, type OwnerState, orphanFinalizer, planCollection } from './plan-collection.js';
import { updateObject } from './update-object.js';
import { WorkQueue } from './work-queue.js';
import { isDeleting, type KubeObject, type OwnerReference } from './workload-kinds.js';

export class GarbageCollector {
  readonly #context: ControllerContext;
  readonly #api: ApiClient;
  readonly #events: EventRecorder;
  readonly #index = new OwnerIndex();
  readonly #queue: WorkQueue;
  readonly #watches = new Map<string, () => void>();
  #isStopped = false;

  constructor(context: ControllerContext) {
    this.#context = context;
    this.#api = context.api;
    this.#events = new EventRecorder(() => context.api, 'garbage-collector-controller');
    this.#queue = new WorkQueue({ handle: (location) => this.#handle(location), onError: context.onError });
  }

  /** Watches the kinds that are served now; call it again when they change. */
  watchKinds(): void {
    if (this.#isStopped) return;
    const served = new Map(this.#context.types().map((type) => [type.storage, type]));
    for (const [storage, unwatch] of this.#watches) {
      if (served.has(storage)) continue;
      unwatch();
      this.#watches.delete(storage);
    }
    for (const [storage, { group, plural, verbs }] of served) {
      // Events do not have owners, and there are many of them.
      if (plural === 'events' || !verbs.includes('watch') || this.#watches.has(storage)) continue;
      this.#watches.set(
        storage,
        this.#api.watch({ group, resource: plural }, (event) => this.#observe(event, { group, resource: plural })),
      );
    }
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    for (const unwatch of this.#watches.values()) unwatch();
    this.#watches.clear();
    await this.#queue.stop();
  }

  #observe({ type, object }: WatchEvent, kind: { readonly group: string; readonly resource: string }): void {
    const { uid = '', name = '', namespace } = object.metadata;
    const owners = (object as KubeObject).metadata.ownerReferences ?? [];
    if (type === 'DELETED') {
      this.#index.remove(uid);
      this.#enqueue(this.#index.dependentsOf(uid));
      this.#enqueue(owners.map((owner) => this.#index.locate(owner.uid)).filter((location) => location !== undefined));
      return;
    }
    const location = toLocation({ ...kind, name, ...(namespace === undefined ? {} : { namespace }) });
    this.#index.put(uid, location, owners);
    if (owners.length > 0 || holdsItself(object)) this.#queue.add(location);
  }

  #enqueue(locations: readonly string[]): void {
    for (const location of locations) this.#queue.add(location);
  }

  async #handle(location: string): Promise<void> {
    const path = fromLocation(location);
    // Its kind may be gone with its definition.
    if (!this.#context.types().some(({ group, plural }) => group === path.group && plural === path.resource)) return;
    const object = this.#api.get(path) as KubeObject | undefined;
    if (object === undefined) return;
    if (isDeleting(object)) await this.#completeDeletion(object, path);
    else await this.#collect(object, path);
  }

  async #completeDeletion(object: KubeObject, path: ObjectPath): Promise<void> {
    const { finalizers = [], uid = '' } = object.metadata;
    const dependents = this.#index.dependentsOf(uid);
    if (finalizers.includes(orphanFinalizer)) {
      for (const dependent of dependents) await this.#release(fromLocation(dependent), new Set([uid]));
      await this.#removeFinalizer(path, orphanFinalizer);
    } else if (finalizers.includes(foregroundFinalizer)) {
      if (this.#index.blockersOf(uid).length === 0) await this.#removeFinalizer(path, foregroundFinalizer);
      else this.#enqueue(dependents);
    }
  }

  async #collect(object: KubeObject, path: ObjectPath): Promise<void> {
    const { uid = '', resourceVersion = '' } = object.metadata;
    const action = planCollection(object, (owner) => this.#stateOf(owner, object), this.#index.blockersOf(uid).length > 0);
    switch (action.kind) {
      case 'nothing':
        return;
      case 'release':
        return this.#release(path, action.uids);
      case 'delete':
        await this.#reportForeignOwners(object);
        await this.#delete(path, { propagationPolicy: action.propagationPolicy, preconditions: { uid, resourceVersion } });
    }
  }

  #stateOf({ apiVersion, kind, name, uid }: OwnerReference, { metadata }: KubeObject): OwnerState {
    const type = this.#context.typeOf(apiVersion, kind);
    // An object of the cluster cannot name the namespace of its owner.
    if (type === undefined || (type.namespaced && metadata.namespace === undefined)) return 'unknown';
    const where = type.namespaced ? { namespace: metadata.namespace ?? '' } : {};
    const owner = this.#api.get({ group: type.group, resource: type.plural, ...where, name }) as KubeObject | undefined;
    if (owner?.metadata.uid !== uid) return 'absent';
    return waitsForDependents(owner) ? 'deleting' : 'present';
  }

  /** An owner in another namespace counts as absent; as that is most likely a mistake, it is worth a warning. */
  async #reportForeignOwners(object: KubeObject): Promise<void> {
    for (const { apiVersion, kind, name, uid } of object.metadata.ownerReferences ?? []) {
      if (this.#index.locate(uid) === undefined) continue;
      const { namespace = '' } = object.metadata;
      const message = `ownerRef [${apiVersion}/${kind}, namespace: ${namespace}, name: ${name}, uid: ${uid}] does not exist in namespace "${namespace}"`;
      const { resourceVersion: _version, ...metadata } = object.metadata;
      await this.#events.record({
        object: { ...object, metadata },
        type: 'Warning',
        reason: 'OwnerRefInvalidNamespace',
        message,
      });
    }
  }

  async #delete(path: ObjectPath, options: Parameters<ApiClient['delete']>[1]): Promise<void> {
    try {
      await this.#api.delete(path, options);
    } catch (error) {
      if (!isMissing(error)) throw error;
    }
  }

  #release(path: ObjectPath, uids: ReadonlySet<string>): Promise<void> {
    return updateObject<KubeObject>(this.#api, path, (live) => {
      const { ownerReferences = [], ...metadata } = live.metadata;
      const kept = ownerReferences.filter((owner) => !uids.has(owner.uid));
      if (kept.length === ownerReferences.length) return live;
      return { ...live, metadata: kept.length === 0 ? metadata : { ...metadata, ownerReferences: kept } };
    });
  }

  #removeFinalizer(path: ObjectPath, finalizer: string): Promise<void> {
    return updateObject<KubeObject>(this.#api, path, (live) => {
      const finalizers = live.metadata.finalizers ?? [];
      if (!finalizers.includes(finalizer)) return live;
      return { ...live, metadata: { ...live.metadata, finalizers: finalizers.filter((name) => name !== finalizer) } };
    });
  }
}

const waitsForDependents = (owner: KubeObject): boolean =>
  isDeleting(owner) && (owner.metadata.finalizers ?? []).includes(foregroundFinalizer);

const holdsItself = (object: KubeObject): boolean =>
  isDeleting(object) &&
  (object.metadata.finalizers ?? []).some((finalizer) => finalizer === foregroundFinalizer || finalizer === orphanFinalizer);

const toLocation = (path: ObjectPath): string => JSON.stringify(path);
const fromLocation = (location: string): ObjectPath => JSON.parse(location) as ObjectPath;
