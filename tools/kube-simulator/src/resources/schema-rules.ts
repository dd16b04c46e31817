import type { Cause } from '../api-error.js';
import type { ApiObject, JsonObject } from '../api-object.js';
import { applyDefaults } from '../schema/apply-defaults.js';
import { pruneObject } from '../schema/prune.js';
import { structuralSchema } from '../schema/structural-schema.js';
import { validateObject, validateStatus } from '../schema/validate.js';
import type { Decoded } from './resource-type.js';

/** The rules of a custom resource that follow from its structural schema. */
export interface SchemaRules {
  readonly prune: (object: ApiObject) => Decoded;
  readonly applyDefaults: (object: ApiObject) => ApiObject;
  readonly validate: (object: ApiObject, old: ApiObject | undefined, subresource: string) => readonly Cause[];
  readonly completeCauses: (causes: readonly Cause[]) => readonly Cause[];
}

export function schemaRules(schema: JsonObject): SchemaRules {
  return {
    prune: (object) => pruneObject(schema, object),
    applyDefaults: (object) => applyDefaults(schema, object),
    validate: (object, old, subresource) =>
      old !== undefined && subresource === 'status' ? validateStatus(schema, object, old) : validateObject(schema, object, old),
    completeCauses: (causes) => (structuralSchema(schema).has.rules ? completeCauses(causes) : causes),
  };
}

const rulesNotChecked =
  'Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation';
const blocking = ['FieldValueRequired', 'FieldValueTooLong'];

/** Errors in metadata keep rules from being checked too. */
function completeCauses(causes: readonly Cause[]): readonly Cause[] {
  const isReported = causes.some((cause) => cause.message === rulesNotChecked);
  if (isReported || !causes.some((cause) => blocking.includes(cause.reason) && cause.field.startsWith('metadata.')))
    return causes;
  return [...causes, { reason: 'FieldValueInvalid', message: rulesNotChecked, field: '<nil>' }];
}
