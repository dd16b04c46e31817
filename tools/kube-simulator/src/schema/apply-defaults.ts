import type { Json, JsonObject } from '../api-object.js';
import { isJsonArray, isJsonObject } from '../json-equal.js';
import { mapFields, mapItems } from '../map-json.js';
import { ownValue } from '../own-value.js';
import { setKey } from '../set-key.js';
import { type StructuralSchema, structuralSchema } from './structural-schema.js';

/**
 * Returns `object` with the defaults of `schema` where a field is missing, or null without being nullable; a null that is not allowed and has no
 * default is dropped. Defaults are added only to existing objects, including objects that are defaults themselves. Unchanged parts are shared with
 * `object`.
 */
export function applyDefaults<T extends JsonObject>(schema: JsonObject, object: T): T {
  return defaultFields(structuralSchema(schema), object) as T;
}

function withDefaults(schema: StructuralSchema, value: Json): Json {
  if (isJsonArray(value)) return schema.items === undefined ? value : defaultItems(schema.items, value);
  return isJsonObject(value) ? defaultFields(schema, value) : value;
}

function defaultItems(itemSchema: StructuralSchema, items: readonly Json[]): readonly Json[] {
  return mapItems(items, (item) => defaultField(itemSchema, item) ?? null);
}

function defaultFields(schema: StructuralSchema, object: JsonObject): JsonObject {
  const additional = schema.additionalProperties === true ? undefined : schema.additionalProperties;
  return mapFields(withMissing(schema, object), (value, key) => {
    const field = schema.properties.get(key) ?? additional;
    return field === undefined ? value : defaultField(field, value);
  });
}

function withMissing(schema: StructuralSchema, object: JsonObject): JsonObject {
  let completed: Record<string, Json | undefined> | undefined;
  for (const [key, property] of schema.properties) {
    if (property.default === undefined || ownValue(object, key) !== undefined) continue;
    completed ??= { ...object };
    setKey(completed, key, property.default);
  }
  return completed ?? object;
}

/** Returns undefined if the field must be removed. */
function defaultField(schema: StructuralSchema, value: Json): Json | undefined {
  const given = value === null && !schema.nullable ? schema.default : value;
  return typeof given === 'object' && given !== null ? withDefaults(schema, given) : given;
}
