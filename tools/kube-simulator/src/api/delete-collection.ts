import { ApiError } from '../api-error.js';
import type { ApiCall, ApiContext } from './api-call.js';
import type { DeleteOptions } from './api-client.js';
import { deleteObject } from './delete-object.js';
import { type ListOptions, type ListResult, listObjects } from './list-objects.js';

/** Deletes everything that the selectors find, and returns it as it was before. */
export async function deleteCollection(
  context: ApiContext,
  call: ApiCall,
  { list: options, deletion }: { readonly list: ListOptions; readonly deletion: DeleteOptions },
): Promise<ListResult> {
  const list = listObjects(context, call, options);
  for (const { object } of list.items) {
    const { name = '', namespace = '' } = object.metadata;
    const one: ApiCall = { ...call, attributes: { ...call.attributes, name, namespace } };
    await deleteUnlessGone(context, one, deletion);
  }
  return list;
}

async function deleteUnlessGone(context: ApiContext, call: ApiCall, deletion: DeleteOptions): Promise<void> {
  try {
    await deleteObject(context, call, deletion);
  } catch (error) {
    if (!(error instanceof ApiError) || error.failure.code !== 404) throw error;
  }
}
