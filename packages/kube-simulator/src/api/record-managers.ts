import type { ApiObject } from '../api-object.js';
import type { ApiCall, ApiContext } from './api-call.js';

/** The object with `metadata.managedFields` that say who wrote what. */
export function recordManagers(
  _context: ApiContext,
  _call: ApiCall,
  change: { readonly before?: ApiObject; readonly after: ApiObject },
): ApiObject {
  return change.after;
}
