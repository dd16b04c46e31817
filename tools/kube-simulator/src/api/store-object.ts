import type { ApiObject } from '../api-object.js';
import { internalError } from '../failures.js';
import type { ResourceType } from '../resources/resource-type.js';
import type { StoredObject } from '../store/collection.js';
import { TooLargeForStore } from '../store/object-store.js';
import type { ApiContext } from './api-call.js';

/** Stores an object. If it is too large, tries once more without its managedFields, as the real server does. */
export function storeObject(
  context: ApiContext,
  type: ResourceType,
  entry: { readonly key: string; readonly object: ApiObject },
): StoredObject {
  try {
    return context.store.put(type.storage, entry.key, entry.object);
  } catch (error) {
    if (!(error instanceof TooLargeForStore)) throw error;
  }
  const { managedFields: _dropped, ...metadata } = entry.object.metadata;
  try {
    return context.store.put(type.storage, entry.key, { ...entry.object, metadata });
  } catch (error) {
    if (error instanceof TooLargeForStore) throw internalError(error.message);
    throw error;
  }
}
