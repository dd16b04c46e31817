import { ApiError } from '../api-error.js';
import type { ApiObject, Json, ObjectMeta } from '../api-object.js';
import { badRequest } from '../failures.js';
import { decodeGo, goTypeOf, isObject } from './go-type.js';
import { objectMeta } from './object-meta.js';
import type { Decoded } from './resource-type.js';

/** Returns a custom resource with its metadata decoded: everything else has a schema of its own. Throws ApiError 400 on a wrong type. */
export function decodeMetadata(object: ApiObject, type: { readonly kind: string; readonly version: string }): Decoded {
  const metadata: Json | undefined = object['metadata'];
  try {
    if (metadata !== undefined && metadata !== null && !isObject(metadata)) {
      throw badRequest(`json: cannot unmarshal ${goTypeOf(metadata)} into Go value of type v1.ObjectMeta`);
    }
    const decoded = decodeGo(objectMeta, isObject(metadata) ? metadata : {});
    return {
      object: { ...object, metadata: decoded.value as ObjectMeta },
      unknownFields: decoded.unknownFields.map((field) => `metadata.${field}`),
    };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    throw badRequest(`${type.kind} in version "${type.version}" cannot be handled as a ${type.kind}: ${error.message}`);
  }
}
