import type { Cause } from '../api-error.js';
import type { Json, JsonObject } from '../api-object.js';
import { isJsonArray, isJsonObject } from '../json-equal.js';
import { ownValue } from '../own-value.js';
import { duplicate } from './causes.js';
import { itemKey } from './correlate-items.js';
import { entryOf, type FieldPath, fieldOf, formatPath } from './field-path.js';
import type { StructuralSchema } from './structural-schema.js';

/** Returns a cause for each item that a `list-type: set` or `map` has twice. */
export function validateListTypes(schema: StructuralSchema, value: Json, path?: FieldPath): Cause[] {
  if (!schema.has.listTypes) return [];
  if (isJsonArray(value)) return [...duplicates(schema, value, path), ...inItems(schema, value, path)];
  return isJsonObject(value) ? inFields(schema, value, path) : [];
}

function inFields(schema: StructuralSchema, object: JsonObject, path: FieldPath | undefined): Cause[] {
  const causes: Cause[] = [];
  for (const [key, property] of schema.properties) {
    const value = ownValue(object, key);
    if (value !== undefined) causes.push(...validateListTypes(property, value, fieldOf(path, key)));
  }
  const additional = schema.additionalProperties;
  if (additional === undefined || additional === true || !additional.has.listTypes) return causes;
  for (const key of Object.keys(object)) {
    if (!schema.properties.has(key)) causes.push(...validateListTypes(additional, object[key] as Json, entryOf(path, key)));
  }
  return causes;
}

function inItems(schema: StructuralSchema, items: readonly Json[], path: FieldPath | undefined): Cause[] {
  const itemSchema = schema.items;
  if (itemSchema?.has.listTypes !== true) return [];
  return items.flatMap((item, index) => validateListTypes(itemSchema, item, entryOf(path, index)));
}

function duplicates(schema: StructuralSchema, items: readonly Json[], path: FieldPath | undefined): Cause[] {
  if (schema.listType === 'atomic') return [];
  const seen = new Set<string>();
  const causes: Cause[] = [];
  for (const [index, item] of items.entries()) {
    const key = schema.listType === 'map' ? itemKey(schema, item) : JSON.stringify(item);
    if (seen.has(key)) causes.push(duplicate(formatPath(entryOf(path, index)), keysOf(schema, item)));
    seen.add(key);
  }
  return causes;
}

/** The text for a duplicate: its keys, or the item of a set. */
function keysOf({ listType, listMapKeys }: StructuralSchema, item: Json): Json {
  if (listType !== 'map' || !isJsonObject(item)) return item;
  return Object.fromEntries(listMapKeys.toSorted().flatMap((key) => (Object.hasOwn(item, key) ? [[key, item[key]]] : [])));
}
