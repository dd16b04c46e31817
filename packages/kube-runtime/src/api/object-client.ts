import type { ApiObjectLike } from '../object/api-object.js';
import type { ResourcePort } from './resource-port.js';

/** Why a write did not happen. In each case nothing was changed. */
export type WriteRefusal =
  /** It changed since it was read. */
  | 'conflict'
  | 'not-found'
  /** The object cannot be created because its namespace, its kind or an object that it refers to does not exist. */
  | 'parent-not-found'
  | 'already-exists'
  /** The server does not accept it; trying again does not help. */
  | 'invalid'
  /** A permission is missing. */
  | 'forbidden';

/** The object as it was written, or why it was not. */
export type WriteResult<Kind> =
  | { readonly ok: true; readonly object: Kind }
  | { readonly ok: false; readonly reason: WriteRefusal /** The server's message. */; readonly message: string };

/** A JSON merge patch (RFC 7396): null removes. */
export type MergePatch = Readonly<Record<string, unknown>>;

/** An object, and optionally its version. */
export interface WriteTarget {
  /** As `keyOf` returns it. */
  readonly key: string;
  /** The write happens only if the object is still at this version; absent: at any version. */
  readonly resourceVersion?: string | undefined;
}

/** A request to a part of an object that has a path of its own: `scale`, `status`, or `start` of a KubeVirt VirtualMachine. */
export interface SubresourceCall {
  readonly key: string;
  /** As in the path. */
  readonly name: string;
  /** HTTP GET, PATCH (a JSON merge patch), PUT, POST. */
  readonly verb: 'get' | 'patch' | 'update' | 'create';
  readonly body?: Readonly<Record<string, unknown>>;
  /** For `patch`: write only if the object is still at this version. */
  readonly resourceVersion?: string | undefined;
}

/**
 * How objects of one kind are read and written. A refusal of the server is a result; an error that leaves open whether the write happened (a lost
 * connection, a time-out, HTTP 5xx) is thrown; the caller looks again, then retries.
 */
export interface ObjectClient<Kind extends ApiObjectLike> extends ResourcePort<Kind> {
  /** Reads the object from the server; undefined if it does not exist. Reconcilers read caches instead. */
  readonly get: (key: string) => Promise<Kind | undefined>;
  readonly create: (object: Kind) => Promise<WriteResult<Kind>>;
  readonly patch: (target: WriteTarget, patch: MergePatch) => Promise<WriteResult<Kind>>;
  /** Patches the status subresource: nothing else of the object changes. */
  readonly patchStatus: (target: WriteTarget, patch: MergePatch) => Promise<WriteResult<Kind>>;
  /**
   * `uid`: deletes only this object, not a later one of the same name. `resourceVersion`: deletes it only if it is still at this version. An object
   * with finalizers stays until they are gone.
   */
  readonly delete: (key: string, uid: string, resourceVersion?: string) => Promise<WriteResult<Kind | undefined>>;
  /** The object in the result is the answer of the subresource, undefined if that is empty. */
  readonly subresource: (call: SubresourceCall) => Promise<WriteResult<unknown>>;
  /** A client for the same objects that calls `mayWrite` again when a write has a token and a connection, because it may have waited for them. */
  readonly guarded?: (mayWrite: () => boolean) => ObjectClient<Kind>;
}
