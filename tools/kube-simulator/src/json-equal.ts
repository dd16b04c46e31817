import type { Json, JsonObject } from './api-object.js';

/** True for `{...}`: neither null nor a list. */
export function isJsonObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** True for `[...]`. */
export function isJsonArray(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

/** True when both are the same JSON; the order of keys does not matter. Shared parts are not compared. */
export function jsonEqual(a: Json | undefined, b: Json | undefined): boolean {
  if (a === b) return true;
  if (isJsonArray(a)) return isJsonArray(b) && arraysEqual(a, b);
  return isJsonObject(a) && isJsonObject(b) && objectsEqual(a, b);
}

function arraysEqual(a: readonly Json[], b: readonly Json[]): boolean {
  if (a.length !== b.length) return false;
  for (let index = 0; index < a.length; index++) {
    if (!jsonEqual(a[index], b[index])) return false;
  }
  return true;
}

function objectsEqual(a: JsonObject, b: JsonObject): boolean {
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  for (const key of keys) {
    if (!Object.hasOwn(b, key) || !jsonEqual(a[key], b[key])) return false;
  }
  return true;
}
