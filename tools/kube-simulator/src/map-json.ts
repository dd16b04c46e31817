import type { Json, JsonObject } from './api-object.js';
import { setKey } from './set-key.js';

/** Returns `object` with each value replaced by the result of `change`, without the key if that is undefined; `object` itself if nothing changes. */
export function mapFields(object: JsonObject, change: (value: Json, key: string) => Json | undefined): JsonObject {
  let changed: Record<string, Json | undefined> | undefined;
  for (const key of Object.keys(object)) {
    const before = object[key];
    if (before === undefined) continue;
    const after = change(before, key);
    if (after === before) continue;
    changed ??= { ...object };
    if (after === undefined) delete changed[key];
    else setKey(changed, key, after);
  }
  return changed ?? object;
}

/** Returns `items` with each item replaced by the result of `change`; `items` itself if nothing changes. */
export function mapItems(items: readonly Json[], change: (item: Json, index: number) => Json): readonly Json[] {
  let changed: Json[] | undefined;
  for (const [index, before] of items.entries()) {
    const after = change(before, index);
    if (after === before) continue;
    changed ??= [...items];
    changed[index] = after;
  }
  return changed ?? items;
}
