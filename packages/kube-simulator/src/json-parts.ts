/** JSON that may be of any type, read as what it should be: what is something else is empty. */
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
