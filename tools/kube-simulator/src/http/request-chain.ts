/**
 * The ports of the request chain: what every request passes on its way to the store. The order is
 * fault -> authentication -> authorization -> (decoding) -> validation -> check of granted rights -> store.
 */
import type { Failure } from '../api-error.js';

export interface User {
  readonly username: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

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
  /**
   * @param authorization the header `Authorization`; absent is system:anonymous.
   * @returns who sends the request.
   * @throws ApiError 401 when the credential is bad.
   */
  authenticate(authorization: string | undefined): User;
}

export interface Authorizer {
  /** Returns nothing when the request is allowed; throws ApiError 403 when it is not. */
  authorize(attributes: RequestAttributes): void;
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
  inspect(attributes: RequestAttributes): Promise<FaultVerdict>;
}

export interface RequestChain {
  readonly authenticator: Authenticator;
  readonly authorizer: Authorizer;
  readonly faults: FaultInjector;
}

/** The simulator's own controllers. */
export const systemUser: User = { username: 'system:kube-simulator', groups: ['system:masters', 'system:authenticated'] };
