import type { ApiObject } from '../api-object.js';
import type { Change, StoredObject } from '../store/collection.js';
import { type ApiCall, type ApiContext, collectionOf, fromStored, keyOf } from './api-call.js';
import type { Matches } from './selectors.js';

/** One event that a watcher receives. */
export interface WatchedChange {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  /** The object that the event shows. */
  readonly stored: StoredObject;
  readonly previous: StoredObject | undefined;
}

/**
 * Returns the event of a change for a watcher with a selector: leaving it is DELETED (the old content with the new resourceVersion), coming into it
 * is ADDED. Undefined: nothing.
 */
export function watchedChange(call: ApiCall, matches: Matches | undefined, change: Change): WatchedChange | undefined {
  const { type, stored, previous } = change;
  if (matches === undefined) return { type, stored, previous };
  const is = type !== 'DELETED' && matches(fromStored(call.type, stored));
  const was = previous !== undefined && matches(fromStored(call.type, previous));
  if (is) return { type: was ? 'MODIFIED' : 'ADDED', stored, previous };
  if (!was) return undefined;
  return { type: 'DELETED', stored: type === 'DELETED' ? stored : withResourceVersion(previous, stored), previous };
}

const departed = new WeakMap<StoredObject, StoredObject>();

/** The content before, with the resourceVersion after. Made once for all watchers. */
function withResourceVersion(previous: StoredObject, stored: StoredObject): StoredObject {
  const known = departed.get(stored);
  if (known !== undefined) return known;
  const { resourceVersion } = stored;
  const object: ApiObject = {
    ...previous.object,
    metadata: { ...previous.object.metadata, resourceVersion: String(resourceVersion) },
  };
  const result = { object, resourceVersion, json: Buffer.from(JSON.stringify(object)) };
  departed.set(stored, result);
  return result;
}

/** Calls `listener` for every later change in the call's namespace that its selector is about. Returns a function that stops this. */
export function watchChanges(
  context: ApiContext,
  call: ApiCall,
  { matches, listener }: { readonly matches: Matches | undefined; readonly listener: (change: WatchedChange) => void },
): () => void {
  const prefix = watchedPrefix(call);
  return collectionOf(context, call.type).listen((change) => {
    if (!change.key.startsWith(prefix)) return;
    const watched = watchedChange(call, matches, change);
    if (watched !== undefined) listener(watched);
  });
}

/** The changes since a resourceVersion; undefined if some of them are forgotten. */
export function changesSince(
  context: ApiContext,
  call: ApiCall,
  { matches, resourceVersion }: { readonly matches: Matches | undefined; readonly resourceVersion: number },
): readonly WatchedChange[] | undefined {
  const prefix = watchedPrefix(call);
  const changes = collectionOf(context, call.type).changesAfter(resourceVersion);
  return changes
    ?.filter((change) => change.key.startsWith(prefix))
    .map((change) => watchedChange(call, matches, change))
    .filter((change) => change !== undefined);
}

export function watchedPrefix(call: ApiCall): string {
  const { namespace } = call.attributes;
  return call.type.namespaced && namespace !== '' ? keyOf(call.type, namespace, '') : '';
}
