import type { ApiObjectLike } from '../object/api-object.js';

/** One page of a list, and how to get the next one. */
export interface ListPage<Kind> {
  readonly items: readonly Kind[];
  /** The version of the whole list, from which a watch continues. */
  readonly resourceVersion: string;
  /** For the next page; absent on the last one. */
  readonly continueToken?: string;
}

/** One change that a watch reports. */
export type WatchEvent<Kind> =
  | { readonly type: 'added' | 'modified' | 'deleted'; readonly object: Kind }
  /** Nothing happened up to this resourceVersion. */
  | { readonly type: 'bookmark'; readonly resourceVersion: string };

/** Why a watch ended. */
export type WatchEnd =
  /** The server closed it, as it does with every watch after some minutes. */
  | { readonly kind: 'closed' }
  /** HTTP 410, or an event with that code: the server has forgotten the version from which the watch would continue. */
  | { readonly kind: 'expired' }
  | { readonly kind: 'failed'; readonly error: unknown };

/** Who is told of changes, and of the end of a watch. */
export interface WatchHandlers<Kind> {
  readonly onEvent: (event: WatchEvent<Kind>) => void;
  /** Called once, and nothing after it. Not called after the watch was stopped. */
  readonly onEnd: (end: WatchEnd) => void;
}

/** Reads objects of one kind. Adapters know servers; their users do not. */
export interface ResourcePort<Kind extends ApiObjectLike> {
  /** A page of all objects. @throws ExpiredError for a token the server has forgotten; anything else is tried again. */
  readonly list: (options: { readonly limit: number; readonly continueToken?: string }) => Promise<ListPage<Kind>>;
  /** Reports everything that happens after `resourceVersion`. Returns a function that stops it. */
  readonly watch: (resourceVersion: string, handlers: WatchHandlers<Kind>) => () => void;
}

/** HTTP 410 while listing: begin the list anew. */
export class ExpiredError extends Error {
  readonly code = 'ERR_EXPIRED';
}
