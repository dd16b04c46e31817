import type { Cause } from '../api-error.js';
import type { ApiObject, JsonObject } from '../api-object.js';
import type { Decoded } from './resource-type.js';

/** What the structural schema of a custom resource does to its objects. */
export interface SchemaRules {
  prune(object: ApiObject): Decoded;
  applyDefaults(object: ApiObject): ApiObject;
  validate(object: ApiObject, old: ApiObject | undefined): readonly Cause[];
}

export function schemaRules(_schema: JsonObject): SchemaRules {
  return {
    prune: (object) => ({ object, unknownFields: [] }),
    applyDefaults: (object) => object,
    validate: () => [],
  };
}
