import type { ApiObject } from '../api-object.js';
import type { RequestAttributes } from '../http/request-chain.js';
import type { WatchTimer } from '../http/watch-timer.js';
import type { ResourceRegistry } from '../resources/resource-registry.js';
import type { ResourceType, Subresource } from '../resources/resource-type.js';
import type { Collection, StoredObject } from '../store/collection.js';
import type { ObjectStore } from '../store/object-store.js';

/** What all operations work on. */
export interface ApiContext {
  readonly store: ObjectStore;
  readonly registry: ResourceRegistry;
  /** @throws ApiError 403 where the object grants a right that its author does not have. */
  assertMayGrant(attributes: RequestAttributes, object: ApiObject): void;
  nowMs(): number;
  readonly watchTimer: WatchTimer;
}

/** One request for one kind, whether it came over HTTP or from inside. */
export interface ApiCall {
  readonly attributes: RequestAttributes;
  readonly type: ResourceType;
  readonly options: CallOptions;
  /** Keys that the body has twice. */
  readonly duplicateFields: readonly string[];
  /** Collected while the call goes on; the answer carries them. */
  readonly warnings: string[];
}

export interface CallOptions {
  readonly dryRun: boolean;
  readonly fieldManager: string;
  readonly fieldValidation: 'Ignore' | 'Warn' | 'Strict';
}

/** What a write answers: the object in the version of the request. */
export interface Written {
  readonly object: ApiObject;
  /** Its JSON, where it is known. */
  readonly json?: Buffer;
  readonly created: boolean;
}

export function collectionOf(context: ApiContext, type: ResourceType): Collection {
  return context.store.collection(type.storage);
}

export function keyOf(type: ResourceType, namespace: string, name: string): string {
  return type.namespaced ? `${namespace}/${name}` : name;
}

export function fromStored(type: ResourceType, stored: StoredObject): ApiObject {
  return type.conversion === undefined ? stored.object : type.conversion.fromStored(stored.object);
}

/** The stored JSON where it is in the version of the request. */
export function jsonOf(type: ResourceType, stored: StoredObject): Buffer {
  const object = fromStored(type, stored);
  return object === stored.object ? stored.json : Buffer.from(JSON.stringify(object));
}

export function toStored(type: ResourceType, object: ApiObject): ApiObject {
  return type.conversion === undefined ? object : type.conversion.toStored(object);
}

export function subresourceOf(call: ApiCall): Subresource | undefined {
  return call.type.subresources.find((subresource) => subresource.name === call.attributes.subresource);
}
