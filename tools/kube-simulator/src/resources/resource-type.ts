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

/** What a resource answers by itself instead of storing it: access reviews, tokens. */
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
  /** Where the kind is not that of the resource itself (`Scale`, `TokenRequest`). */
  readonly kind?: { readonly group: string; readonly version: string; readonly kind: string };
  readonly connect?: Connect;
  /** What a read shows of the object; absent: the object itself. */
  readonly project?: (object: ApiObject) => ApiObject;
  /** The object as a write of the subresource leaves it; absent: as the status subresource does. */
  readonly apply?: (object: ApiObject, body: JsonObject) => ApiObject;
}

/** What decoding a body found. */
export interface Decoded {
  readonly object: ApiObject;
  /** Paths such as `spec.foo`, in the order of the warnings. */
  readonly unknownFields: readonly string[];
}

/** What is particular to a kind when its objects are written; everything else is the same for all kinds. */
export interface Strategy {
  /** Checks types, drops (and names) unknown fields. Throws ApiError 400 on a wrong type. */
  decode(object: ApiObject): Decoded;
  /** Fills in defaults. Called after decoding, after patching and after mutating webhooks. */
  applyDefaults(object: ApiObject): ApiObject;
  /** What a create may not set is dropped (status), what it must set is set. */
  prepareForCreate(object: ApiObject): ApiObject;
  /** What an update through the main resource may not change is taken from `old`. */
  prepareForUpdate(object: ApiObject, old: ApiObject): ApiObject;
  /** `old` with what the status subresource may change. */
  prepareForStatusUpdate(object: ApiObject, old: ApiObject): ApiObject;
  /** Warnings of the object itself (not of its unknown fields). */
  warnings(object: ApiObject): readonly string[];
  validate(object: ApiObject, old: ApiObject | undefined, subresource: string): readonly Cause[];
  /** All causes of a refusal, with those that follow from the others. */
  completeCauses(causes: readonly Cause[], object: ApiObject): readonly Cause[];
  /** True where an update moves `metadata.generation`. */
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
  /** How long a deletion waits by default; absent where objects go at once. */
  gracePeriodSeconds?(object: ApiObject, requested: number | undefined): number;
  /** True while an object that is being deleted waits for something beside its finalizers. */
  holdsItself?(object: ApiObject): boolean;
  /** The object as the first step of its deletion leaves it; absent: as for most kinds. Undefined: it may go at once. */
  markForDeletion?(object: ApiObject, time: string): ApiObject | undefined;
  /** A deletion answers with the object although it is gone. */
  readonly deletionAnswersObject: boolean;
  readonly strategy: Strategy;
  /** Set for kinds that are answered, not stored. */
  readonly connect?: Connect;
  /** The stored form in this version, and back. Absent where they are the same. */
  readonly conversion?: { fromStored(object: ApiObject): ApiObject; toStored(object: ApiObject): ApiObject };
  /** The structural schema of a custom resource. */
  readonly schema?: JsonObject;
  /** The group that mistakes are reported under, where it is another. */
  readonly reportedGroup?: string;
}

export const allVerbs = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'] as const;
/** The real server lists the verbs of custom resources in this order. */
export const customVerbs = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'] as const;

export function apiVersionOf(type: { readonly group: string; readonly version: string }): string {
  return type.group === '' ? type.version : `${type.group}/${type.version}`;
}
