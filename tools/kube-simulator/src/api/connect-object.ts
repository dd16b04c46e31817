import type { ApiObject, JsonObject } from '../api-object.js';
import type { Connect } from '../resources/resource-type.js';
import type { ApiCall } from './api-call.js';

/** Asks a resource that answers by itself, and returns what it says. */
export function connectObject(
  call: ApiCall,
  { connect, body }: { readonly connect: Connect; readonly body: JsonObject },
): ApiObject {
  const { user, namespace, name } = call.attributes;
  const object = { ...body, metadata: body['metadata'] ?? {} } as ApiObject;
  return connect({ user, namespace, name, object });
}
