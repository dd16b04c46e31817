import type { ApiObject } from '../api-object.js';
import { recordUpdate } from '../patch/managed-fields.js';
import { formatTime } from '../resources/go-time.js';
import { apiVersionOf } from '../resources/resource-type.js';
import type { ApiCall, ApiContext } from './api-call.js';

/** The object with `metadata.managedFields` that record who wrote what. Server-side apply records them itself. */
export function recordManagers(
  context: ApiContext,
  call: ApiCall,
  change: { readonly before?: ApiObject; readonly after: ApiObject },
): ApiObject {
  const { type, attributes, options } = call;
  if (options.isApply) return change.after;
  return recordUpdate({
    before: change.before,
    after: change.after,
    manager: options.fieldManager,
    subresource: attributes.subresource,
    time: formatTime(context.nowMs()),
    apiVersion: apiVersionOf(type),
    schema: type.schema,
  }) as ApiObject;
}
