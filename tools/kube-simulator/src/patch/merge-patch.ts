import { ApiError } from '../api-error.js';
import type { Json, JsonObject } from '../api-object.js';
import { isJsonArray, isJsonObject, jsonEqual } from '../json-equal.js';
import { ownValue } from '../own-value.js';
import { setKey } from '../set-key.js';

/**
 * Returns `object` with a JSON merge patch applied: `null` deletes a key, objects are merged, everything else (lists too) is replaced. Unchanged
 * parts are shared with `object`; a patch that changes nothing returns `object` itself.
 *
 * Source: RFC 7396 §2.
 */
export function applyMergePatch(object: JsonObject, patch: Json): JsonObject {
  if (!isJsonObject(patch)) throw notAnObject(patch);
  return mergeObject(object, patch);
}

function mergeObject(target: JsonObject, patch: JsonObject): JsonObject {
  let merged: Record<string, Json | undefined> | undefined;
  for (const key of Object.keys(patch)) {
    const before = ownValue(target, key);
    const after = mergeValue(before, patch[key] ?? null);
    if (after === before) continue;
    merged ??= { ...target };
    if (after === undefined) delete merged[key];
    else setKey(merged, key, after);
  }
  return merged ?? target;
}

/** Returns undefined if the key must be removed. */
function mergeValue(before: Json | undefined, value: Json): Json | undefined {
  if (value === null) return undefined;
  if (isJsonObject(value)) return mergeObject(isJsonObject(before) ? before : {}, value);
  return before !== undefined && jsonEqual(before, value) ? before : value;
}

function notAnObject(patch: Json): ApiError {
  const type = isJsonArray(patch) ? 'array' : typeof patch === 'boolean' ? 'bool' : typeof patch;
  return new ApiError({
    code: 400,
    reason: 'BadRequest',
    message: `error decoding patch: json: cannot unmarshal ${type} into Go value of type map[string]interface {}`,
  });
}
