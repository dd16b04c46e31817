import type { ApiObject, Json, JsonObject } from '../api-object.js';

/** Where objects are: `{ group: 'apps', resource: 'deployments', namespace: 'default' }`. The group is empty, the version the preferred one unless given. */
export interface ResourcePath {
  readonly group?: string;
  readonly version?: string;
  readonly resource: string;
  readonly namespace?: string;
}
export interface ObjectPath extends ResourcePath {
  readonly name: string;
  readonly subresource?: string;
}

export interface Selection {
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
}

export interface WriteOptions {
  readonly dryRun?: boolean;
  readonly fieldManager?: string;
}

export interface DeleteOptions {
  readonly propagationPolicy?: 'Foreground' | 'Background' | 'Orphan';
  readonly gracePeriodSeconds?: number;
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
  readonly dryRun?: boolean;
}

export type PatchType = 'json' | 'merge' | 'strategic' | 'apply';

export interface WatchEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly object: ApiObject;
  /** The object before the change; absent on ADDED. */
  readonly oldObject?: ApiObject;
}

/**
 * The API without HTTP, for the simulator's own controllers: the same code serves both. Reads are synchronous; objects are shared
 * and must not be changed. Failures are thrown as ApiError.
 */
export interface ApiClient {
  get(path: ObjectPath): ApiObject | undefined;
  list(path: ResourcePath, selection?: Selection): readonly ApiObject[];
  create(
    path: ResourcePath & { readonly name?: string; readonly subresource?: string },
    object: JsonObject,
    options?: WriteOptions,
  ): Promise<ApiObject>;
  update(path: ObjectPath, object: ApiObject, options?: WriteOptions): Promise<ApiObject>;
  patch(
    path: ObjectPath,
    patch: { readonly type: PatchType; readonly body: Json; readonly force?: boolean },
    options?: WriteOptions,
  ): Promise<ApiObject>;
  /** Returns what the HTTP API answers: a Status, or the object that waits for its finalizers. */
  delete(path: ObjectPath, options?: DeleteOptions): Promise<JsonObject>;
  /**
   * Calls `listener` for every existing object (ADDED) before it returns, then for every change, in order. Returns a function that ends the watch.
   */
  watch(path: ResourcePath, listener: (event: WatchEvent) => void, selection?: Selection): () => void;
}
