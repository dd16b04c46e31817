import type { Cause } from '../api-error.js';
import type { JsonObject } from '../api-object.js';
import { invalid } from './causes.js';
import { type StructuralSchema, structuralSchema } from './structural-schema.js';
import { validateListTypes } from './validate-list-types.js';
import { validateRules } from './validate-rules.js';
import { validateStructure } from './validate-structure.js';

/** The errors after which rules are not run, because the types may be wrong. */
const blocking: ReadonlySet<string> = new Set([
  'FieldValueRequired',
  'FieldValueTooLong',
  'FieldValueTooMany',
  'FieldValueTypeInvalid',
  'FieldValueNotSupported',
]);

/**
 * Returns all errors of a custom resource against its schema, in the order of the real server: structure, duplicates in sets and maps, then rules, or
 * a last cause that reports that they were not run. Unchanged errors of `oldObject` are tolerated.
 */
export function validateObject(schema: JsonObject, object: JsonObject, oldObject?: JsonObject): Cause[] {
  const root = structuralSchema(schema);
  const causes = validateStructure({ schema: root, value: object, old: oldObject, path: undefined });
  return withRules(root, [object, oldObject], causes);
}

/** The same for a write through the status subresource: only the structure of the status is checked. */
export function validateStatus(schema: JsonObject, object: JsonObject, oldObject: JsonObject): Cause[] {
  const root = structuralSchema(schema);
  const status = root.properties.get('status');
  const value = object['status'];
  const causes =
    status === undefined || value === undefined
      ? []
      : validateStructure({ schema: status, value, old: oldObject['status'], path: undefined }, 'status');
  return withRules(root, [object, oldObject], causes);
}

type Change = readonly [object: JsonObject, oldObject: JsonObject | undefined];

function withRules(schema: StructuralSchema, change: Change, structural: readonly Cause[]): Cause[] {
  const causes = [...structural, ...newDuplicates(schema, change)];
  if (!schema.has.rules) return causes;
  if (causes.some((cause) => blocking.has(cause.reason))) return [...causes, rulesNotChecked];
  return [...causes, ...validateRules(schema, change[0], change[1])];
}

const rulesNotChecked = invalid(
  '',
  null,
  'some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
);

/** Duplicates in an object that had some before are tolerated. */
function newDuplicates(schema: StructuralSchema, [object, oldObject]: Change): Cause[] {
  const causes = validateListTypes(schema, object);
  return causes.length > 0 && oldObject !== undefined && validateListTypes(schema, oldObject).length > 0 ? [] : causes;
}
