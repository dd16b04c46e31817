/** Reads JSON of unknown type as the expected type: a value of another type counts as empty. */
import type { Json, JsonObject } from './api-object.js';
import { isJsonArray, isJsonObject } from './json-equal.js';

export function objectOf(value: Json | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

export function listOf(value: Json | undefined): readonly Json[] {
  return isJsonArray(value) ? value : [];
}

export function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}

/** The objects of a list. */
export function objectsOf(value: Json | undefined): readonly JsonObject[] {
  return isJsonArray(value) ? value.map(objectOf) : [];
}

/** A string, number or boolean as text; empty for anything else. */
export function wordOf(value: Json | undefined): string {
  return typeof value === 'object' || value === undefined ? '' : String(value);
}

/** A number, or 0. */
export function numberOf(value: Json | undefined): number {
  return typeof value === 'number' ? value : 0;
}

/** The object under `field`, or an empty one. */
export function section(object: JsonObject | undefined, field: string): JsonObject {
  return objectOf(object?.[field]);
}
