import type { Json, JsonObject } from './api-object.js';

/**
 * Returns the value with the keys of all objects in it sorted, as the real server writes custom resources. Parts that are shared with `before`, which
 * is sorted, are not sorted again; sorted parts are not copied.
 */
export function sortKeys<T extends Json>(value: T, before?: Json): T {
  if (value === before || typeof value !== 'object' || value === null) return value;
  return (Array.isArray(value) ? sortItems(value, before) : sortObject(value as JsonObject, before)) as T;
}

function sortItems(items: readonly Json[], before: Json | undefined): readonly Json[] {
  const old: readonly Json[] = Array.isArray(before) ? before : [];
  let changed = false;
  const sorted = items.map((item, index) => {
    const result = sortKeys(item, old[index]);
    changed ||= result !== item;
    return result;
  });
  return changed ? sorted : items;
}

function sortObject(object: JsonObject, before: Json | undefined): JsonObject {
  const old: JsonObject = typeof before === 'object' && before !== null && !Array.isArray(before) ? (before as JsonObject) : {};
  const keys = Object.keys(object);
  const inOrder = isSorted(keys);
  let changed = !inOrder;
  const result: Record<string, Json> = {};
  for (const key of inOrder ? keys : keys.sort()) {
    const value = object[key];
    if (value === undefined) {
      changed = true;
      continue;
    }
    result[key] = sortKeys(value, old[key]);
    changed ||= result[key] !== value;
  }
  return changed ? result : object;
}

function isSorted(keys: readonly string[]): boolean {
  for (let index = 1; index < keys.length; index += 1) {
    if ((keys[index - 1] as string) > (keys[index] as string)) return false;
  }
  return true;
}
