import type { User } from './user.js';

/** A request as authorization sees it: an action on a resource, or on a path that is none. */
export type RequestAttributes = ResourceAttributes | PathAttributes;

export interface ResourceAttributes {
  readonly user: User;
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource?: string | undefined;
  /** Absent: the cluster scope. */
  readonly namespace?: string | undefined;
  /** Absent: the whole collection, or an object that has no name yet. */
  readonly name?: string | undefined;
}

export interface PathAttributes {
  readonly user: User;
  readonly verb: string;
  readonly path: string;
}
