/**
 * The ports of the request chain: what every request passes on its way to the store. The order is
 * fault -> authentication -> authorization -> (decoding) -> mutating admission -> validation -> validating admission -> store.
 */
import type { Failure } from '../api-error.js';
import type { ApiObject, JsonObject } from '../api-object.js';
import type { Awaitable, User } from '../request-user.js';
import type { ResourceType } from '../resources/resource-type.js';

/** A user's request, as authorization, faults and audit see it. */
export interface RequestAttributes {
  readonly user: User;
  /** `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, `deletecollection`; the lower-case method for other paths. */
  readonly verb: string;
  readonly path: string;
  /** False for discovery, health and the like: then the fields below are empty. */
  readonly isResourceRequest: boolean;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
}

export interface Authenticator {
  /** Returns who sends the request. Throws ApiError 401 when a credential is bad; a request without credentials is from system:anonymous. */
  authenticate(credentials: Credentials): Awaitable<User>;
}

export interface Credentials {
  readonly authorization: string | undefined;
  /** The whole request, because it may ask to act as another user (`Impersonate-User`). */
  readonly headers?: { readonly [name: string]: string | readonly string[] | undefined };
}

export interface Authorizer {
  /** Returns nothing if the request is allowed; throws ApiError 403 otherwise. */
  authorize(attributes: RequestAttributes): Awaitable<void>;
}

export interface AdmissionRequest {
  readonly attributes: RequestAttributes;
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';
  readonly type: ResourceType;
  /** In the version of the request. Absent on DELETE. */
  readonly object?: ApiObject;
  /** Absent on CREATE. */
  readonly oldObject?: ApiObject;
  /** CreateOptions, UpdateOptions, PatchOptions or DeleteOptions. */
  readonly options: JsonObject;
  readonly dryRun: boolean;
}

export interface Admission {
  /** Returns the object as mutating webhooks left it (nothing on DELETE) and their warnings. Throws ApiError on a denial. */
  mutate(request: AdmissionRequest): Awaitable<{ readonly object?: ApiObject; readonly warnings: readonly string[] }>;
  /** Returns the warnings of validating webhooks. Throws ApiError on a denial. */
  validate(request: AdmissionRequest): Awaitable<{ readonly warnings: readonly string[] }>;
}

/** What happens to a request instead of, or besides, being served. A delay is a promise that resolves late. */
export type FaultVerdict =
  | { readonly kind: 'none' }
  /** Answer with this failure and do nothing else. */
  | { readonly kind: 'answer'; readonly failure: Failure }
  /** The connection is closed without an answer and without an effect. */
  | { readonly kind: 'close-before' }
  /** The request takes effect, then the connection is closed without an answer. */
  | { readonly kind: 'close-after' };

export interface FaultInjector {
  inspect(attributes: RequestAttributes): Awaitable<FaultVerdict>;
}

export interface RequestChain {
  readonly authenticator: Authenticator;
  readonly authorizer: Authorizer;
  readonly admission: Admission;
  readonly faults: FaultInjector;
}

/** The simulator's own controllers. */
export const systemUser: User = { username: 'system:kube-simulator', groups: ['system:masters', 'system:authenticated'] };
