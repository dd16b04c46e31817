/**
 * The ports of the request chain: what every request passes on its way to the store. The order is
 * fault -> authentication -> authorization -> (decoding) -> mutating admission -> validation -> validating admission -> store.
 */
import type { Failure } from '../api-error.js';
import type { ApiObject, JsonObject } from '../api-object.js';
import type { Awaitable, User } from '../request-user.js';
import type { ResourceType } from '../resources/resource-type.js';

/** Who wants to do what; the subject of authorization, faults and audit. */
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
  /** Returns who sends the request. Throws ApiError 401 when a credential is bad; no credential at all is system:anonymous. */
  authenticate(credentials: Credentials): Awaitable<User>;
}

export interface Credentials {
  readonly authorization: string | undefined;
  /** All of the request, for those that ask to act as another user (`Impersonate-User`). */
  readonly headers?: { readonly [name: string]: string | readonly string[] | undefined };
}

export interface Authorizer {
  /** Returns nothing when the request is allowed; throws ApiError 403 when it is not. */
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
  /** Returns the object as mutating webhooks left it (on DELETE: nothing) and what they warn of. Throws ApiError on a denial. */
  mutate(request: AdmissionRequest): Awaitable<{ readonly object?: ApiObject; readonly warnings: readonly string[] }>;
  /** Returns the warnings of validating webhooks. Throws ApiError on a denial. */
  validate(request: AdmissionRequest): Awaitable<{ readonly warnings: readonly string[] }>;
}

/** What is to happen to a request instead of, or besides, being served. A delay is a promise that is late. */
export type FaultVerdict =
  | { readonly kind: 'none' }
  /** Answered with this failure, nothing else happens. */
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
