import type { Cause } from '../api-error.js';
import type { ApiObject, Json, JsonObject } from '../api-object.js';
import type { Awaitable, User } from '../request-user.js';

/** A column of `kubectl get`. */
export interface TableColumn {
  readonly name: string;
  readonly type: string;
  readonly format: string;
  readonly description: string;
  readonly priority: number;
  cell(object: ApiObject): Json;
}

/** A resource that answers requests instead of storing objects: access reviews, tokens. */
export interface ConnectRequest {
  readonly user: User;
  readonly namespace: string;
  readonly name: string;
  readonly object: ApiObject;
}
export type Connect = (request: ConnectRequest) => Awaitable<ApiObject>;

export interface Subresource {
  readonly name: string;
  readonly verbs: readonly string[];
  /** Set if the kind is not that of the resource itself (`Scale`, `TokenRequest`). */
  readonly kind?: { readonly group: string; readonly version: string; readonly kind: string };
  readonly connect?: Connect;
  /** The view of the object in a read; absent if it is the object itself. */
  readonly project?: (object: ApiObject) => ApiObject;
  /** The object after a write of the subresource; absent if it works like the status subresource. */
  readonly apply?: (object: ApiObject, body: JsonObject) => ApiObject;
}

/** The result of decoding a body. */
export interface Decoded {
  readonly object: ApiObject;
  /** Paths such as `spec.foo`, in the order of the warnings. */
  readonly unknownFields: readonly string[];
}

/** How writes of one kind differ from those of other kinds. */
export interface Strategy {
  /** Checks types, drops (and names) unknown fields. Throws ApiError 400 on a wrong type. */
  decode(object: ApiObject): Decoded;
  /** Fills in defaults. Called after decoding, after patching and after mutating webhooks. */
  applyDefaults(object: ApiObject): ApiObject;
  /** Drops fields that a create may not set (status), and sets those that it must set. */
  prepareForCreate(object: ApiObject): ApiObject;
  /** Takes fields that an update through the main resource may not change from `old`. */
  prepareForUpdate(object: ApiObject, old: ApiObject): ApiObject;
  /** `old` with the fields that the status subresource may change. */
  prepareForStatusUpdate(object: ApiObject, old: ApiObject): ApiObject;
  /** Warnings of the object itself (not of its unknown fields). */
  warnings(object: ApiObject): readonly string[];
  validate(object: ApiObject, old: ApiObject | undefined, subresource: string): readonly Cause[];
  /** All causes of a refusal, including consequences of other causes. */
  completeCauses(causes: readonly Cause[], object: ApiObject): readonly Cause[];
  /** True if an update increments `metadata.generation`. */
  movesGeneration(object: ApiObject, old: ApiObject): boolean;
  /** Keys in the order in which the real server writes them. */
  canonical(object: ApiObject, old: ApiObject | undefined): ApiObject;
}

/** A kind in one version: how it is addressed, shown and written. */
export interface ResourceType {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly listKind: string;
  readonly plural: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
  readonly subresources: readonly Subresource[];
  /** Defined by a CustomResourceDefinition. */
  readonly custom: boolean;
  /** The collection of the objects: `apps/deployments`. Two types may share one (events). */
  readonly storage: string;
  readonly columns: readonly TableColumn[];
  /** Field selectors beyond `metadata.name` and `metadata.namespace`: their values for an object. */
  readonly selectableFields: Readonly<Record<string, (object: ApiObject) => string>>;
  /** `metadata.generation` is kept. */
  readonly hasGeneration: boolean;
  /** A PUT without resourceVersion overwrites. */
  readonly allowsUnconditionalUpdate: boolean;
  /** A PUT to a name that does not exist creates. */
  readonly allowsCreateOnUpdate: boolean;
  /** `dns-subdomain`, ...: what metadata.name must be. */
  readonly nameRule: 'dns-subdomain' | 'dns-label' | 'dns-1035-label' | 'path-segment';
  /** How long a deletion waits by default; absent if objects are removed at once. */
  gracePeriodSeconds?(object: ApiObject, requested: number | undefined): number;
  /** True while an object that is being deleted waits for something besides its finalizers. */
  holdsItself?(object: ApiObject): boolean;
  /** The object after the first step of its deletion, or undefined if it may be removed at once. Absent for most kinds. */
  markForDeletion?(object: ApiObject, time: string): ApiObject | undefined;
  /** A deletion answers with the object although it is gone. */
  readonly deletionAnswersObject: boolean;
  readonly strategy: Strategy;
  /** Set for kinds that are answered, not stored. */
  readonly connect?: Connect;
  /** Converts the stored form to this version, and back. Absent if they are the same. */
  readonly conversion?: { fromStored(object: ApiObject): ApiObject; toStored(object: ApiObject): ApiObject };
  /** The structural schema of a custom resource. */
  readonly schema?: JsonObject;
  /** The group under which errors are reported, if it is another one. */
  readonly reportedGroup?: string;
}

export const allVerbs = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'] as const;
/** The real server lists the verbs of custom resources in this order. */
export const customVerbs = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'] as const;

export function apiVersionOf(type: { readonly group: string; readonly version: string }): string {
  return type.group === '' ? type.version : `${type.group}/${type.version}`;
}
