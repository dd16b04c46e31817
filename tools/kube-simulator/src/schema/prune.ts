import type { Json, JsonObject } from '../api-object.js';
import { isJsonArray, isJsonObject } from '../json-equal.js';
import { mapFields, mapItems } from '../map-json.js';
import { pruneMetadata } from './object-metadata.js';
import { type StructuralSchema, structuralSchema } from './structural-schema.js';

/** `true` and absent are of `additionalProperties`: any value is kept, but a field in it is unknown. */
type FieldSchema = StructuralSchema | true | undefined;

/**
 * Returns `object` without the fields that `schema` does not know, and their paths (`spec.foo`, `spec.list[0].foo`) in the order of the warnings.
 * `apiVersion`, `kind` and `metadata` are always known, in embedded resources too; fields that ObjectMeta does not have are dropped from `metadata`.
 * Unchanged parts are shared with `object`.
 */
export function pruneObject<T extends JsonObject>(schema: JsonObject, object: T): { object: T; unknownFields: string[] } {
  const unknownFields: string[] = [];
  const unknown = (path: string): undefined => {
    unknownFields.push(path);
  };
  const pruned = pruneFields(object, structuralSchema(schema), { path: '', unknown, resource: true });
  return { object: pruned as T, unknownFields: unknownFields.toSorted() };
}

interface Place {
  readonly path: string;
  readonly unknown: (path: string) => undefined;
  /** The object has `apiVersion`, `kind` and `metadata`. */
  readonly resource: boolean;
}

function prune(value: Json, schema: FieldSchema, place: Place): Json {
  if (isJsonArray(value)) return pruneItems(value, schema, place);
  return isJsonObject(value) ? pruneFields(value, schema, place) : value;
}

function pruneItems(items: readonly Json[], schema: FieldSchema, place: Place): readonly Json[] {
  const itemSchema = isNode(schema) ? schema.items : undefined;
  // Below preserve-unknown-fields an item that has no schema is kept as it is.
  if (itemSchema === undefined && isNode(schema) && schema.preserveUnknownFields) return items;
  return mapItems(items, (item, index) =>
    isContainer(item) ? prune(item, itemSchema, below(place, `[${index}]`, itemSchema)) : item,
  );
}

function pruneFields(object: JsonObject, schema: FieldSchema, place: Place): JsonObject {
  return mapFields(object, (value, key) => {
    const known = knownField(schema, key, place.resource);
    if (known === 'kept') return value;
    if (known === 'unknown') return place.unknown(fieldPath(place.path, key));
    if (!isContainer(value)) return value;
    if (known === 'metadata') return pruneMetadata(value, fieldPath(place.path, key), place.unknown);
    return prune(value, known, below(place, `.${key}`, known));
  });
}

function isContainer(value: Json): boolean {
  return typeof value === 'object' && value !== null;
}

function knownField(schema: FieldSchema, key: string, resource: boolean): FieldSchema | 'kept' | 'metadata' | 'unknown' {
  if (resource && key === 'metadata') return 'metadata';
  if (resource && (key === 'apiVersion' || key === 'kind')) return 'kept';
  if (!isNode(schema)) return 'unknown';
  const property = schema.properties.get(key) ?? schema.additionalProperties;
  if (property !== undefined) return property;
  return schema.preserveUnknownFields ? 'kept' : 'unknown';
}

function below(place: Place, segment: string, schema: FieldSchema): Place {
  const path = place.path === '' ? segment.replace(/^\./, '') : place.path + segment;
  return { path, unknown: place.unknown, resource: isNode(schema) && schema.embeddedResource };
}

function fieldPath(path: string, key: string): string {
  return path === '' ? key : `${path}.${key}`;
}

function isNode(schema: FieldSchema): schema is StructuralSchema {
  return schema !== undefined && schema !== true;
}
