import type { ApiObject, JsonObject } from '../api-object.js';
import type { Connect } from '../resources/resource-type.js';
import { type ApiCall, type ApiContext, admit } from './api-call.js';

/** Returns the answer of a resource that answers requests itself. */
export async function connectObject(
  context: ApiContext,
  call: ApiCall,
  { connect, body }: { readonly connect: Connect; readonly body: JsonObject },
): Promise<ApiObject> {
  const { user, namespace, name } = call.attributes;
  const object = { ...body, metadata: body['metadata'] ?? {} } as ApiObject;
  await admit(context, call, { operation: 'CREATE', object });
  return connect({ user, namespace, name, object });
}
