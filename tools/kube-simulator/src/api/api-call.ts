import { AdmissionDenied } from '../admission-denied.js';
import type { ApiObject, JsonObject } from '../api-object.js';
import type { Admission, AdmissionRequest, RequestAttributes } from '../request/request-chain.js';
import type { WatchTimer } from '../request/watch-timer.js';
import type { Awaitable } from '../request-user.js';
import type { ResourceRegistry } from '../resources/resource-registry.js';
import type { ResourceType, Subresource } from '../resources/resource-type.js';
import type { Collection, StoredObject } from '../store/collection.js';
import type { ObjectStore } from '../store/object-store.js';

/** The dependencies of all operations. */
export interface ApiContext {
  readonly store: ObjectStore;
  readonly registry: ResourceRegistry;
  readonly admission: Admission;
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
  /** A server-side apply. */
  readonly isApply: boolean;
  /** Server-side apply takes fields over from other managers. */
  readonly force: boolean;
  /** CreateOptions, UpdateOptions, ... as webhooks see them. */
  readonly admissionOptions: JsonObject;
}

/** The answer to a write: the object in the version of the request. */
export interface Written {
  readonly object: ApiObject;
  /** Its JSON, if known. */
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

/** The stored JSON if it is in the version of the request. */
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

/** The object after the mutating webhooks, without added fields that the kind does not have. */
export async function mutate(context: ApiContext, call: ApiCall, review: Review): Promise<ApiObject | undefined> {
  const { object, warnings } = await withWarnings(call, () => context.admission.mutate(admissionRequest(call, review)));
  call.warnings.push(...warnings);
  return object === undefined || object === review.object ? object : call.type.strategy.decode(object).object;
}

export async function admit(context: ApiContext, call: ApiCall, review: Review): Promise<void> {
  const { warnings } = await withWarnings(call, () => context.admission.validate(admissionRequest(call, review)));
  call.warnings.push(...warnings);
}

/** The warnings that come with a denial reach the client too. */
async function withWarnings<T>(call: ApiCall, ask: () => Awaitable<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof AdmissionDenied) call.warnings.push(...error.warnings);
    throw error;
  }
}

export interface Review {
  readonly operation: AdmissionRequest['operation'];
  readonly object?: ApiObject;
  readonly oldObject?: ApiObject;
}

function admissionRequest(call: ApiCall, review: Review): AdmissionRequest {
  return {
    ...review,
    attributes: call.attributes,
    type: call.type,
    options: call.options.admissionOptions,
    dryRun: call.options.dryRun,
  };
}
