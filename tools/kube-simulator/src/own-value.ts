import type { Json, JsonObject } from './api-object.js';

/** `object[key]`, or undefined for a key that only the prototype has, such as `constructor`. */
export function ownValue(object: JsonObject, key: string): Json | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}
