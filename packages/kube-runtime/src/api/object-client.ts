import type { ApiObjectLike } from '../object/api-object.js';
import type { ResourcePort } from './resource-port.js';

/** Why a write did not happen. Each means: nothing was changed. */
export type WriteRefusal =
  /** It changed since it was read. */
  | 'conflict'
  | 'not-found'
  /** What is to be created has no place: its namespace or its kind does not exist, or what it refers to. */
  | 'parent-not-found'
  | 'already-exists'
  /** The server will not have it as it is; trying again is of no use. */
  | 'invalid'
  /** A permission is missing. */
  | 'forbidden';

export type WriteResult<Kind> =
  | { readonly ok: true; readonly object: Kind }
  | { readonly ok: false; readonly reason: WriteRefusal /** The server's message. */; readonly message: string };

/** A JSON merge patch (RFC 7396): null removes. */
export type MergePatch = Readonly<Record<string, unknown>>;

/** Which object, and which version of it is meant. */
export interface WriteTarget {
  /** As `keyOf` has it. */
  readonly key: string;
  /** The write happens only if the object still is at this version; absent: whatever it is. */
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
  /** For `patch`: only at this version of the object. */
  readonly resourceVersion?: string | undefined;
}

/**
 * How objects of one kind are read and written. A refusal of the server is a result; an error that leaves open whether the write
 * happened (a connection lost, a time-out, HTTP 5xx) is thrown, and tried again after looking.
 */
export interface ObjectClient<Kind extends ApiObjectLike> extends ResourcePort<Kind> {
  /** The object as the server has it now; undefined: it does not exist. Reconcilers read caches instead. */
  readonly get: (key: string) => Promise<Kind | undefined>;
  readonly create: (object: Kind) => Promise<WriteResult<Kind>>;
  readonly patch: (target: WriteTarget, patch: MergePatch) => Promise<WriteResult<Kind>>;
  /** Patches the status subresource: nothing else of the object changes. */
  readonly patchStatus: (target: WriteTarget, patch: MergePatch) => Promise<WriteResult<Kind>>;
  /**
   * `uid`: only this object, not one of the same name that came after it. `resourceVersion`: only if it still is at this version. An object with
   * finalizers stays until they are gone.
   */
  readonly delete: (key: string, uid: string, resourceVersion?: string) => Promise<WriteResult<Kind | undefined>>;
  /** The answer's object is what the subresource answers, undefined where that is empty. */
  readonly subresource: (call: SubresourceCall) => Promise<WriteResult<unknown>>;
  /** The same objects by a client that asks `mayWrite` once more when a write has a token and a connection: it may have waited for them. */
  readonly guarded?: (mayWrite: () => boolean) => ObjectClient<Kind>;
}
