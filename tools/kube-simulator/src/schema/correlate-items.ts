import type { Json } from '../api-object.js';
import { isJsonArray, isJsonObject } from '../json-equal.js';
import type { StructuralSchema } from './structural-schema.js';

/**
 * Returns a function from the index of an item to its old value. Only items of `list-type: map` have one: the old item with the same keys. The old
 * list is indexed once, on first use.
 */
export function correlateItems(
  schema: StructuralSchema,
  items: readonly Json[],
  old: Json | undefined,
): (index: number) => Json | undefined {
  if (schema.listType !== 'map' || !isJsonArray(old)) return () => undefined;
  let byKey: Map<string, Json> | undefined;
  return (index) => {
    const item = items[index];
    if (item === undefined || item === old[index]) return item;
    byKey ??= new Map(old.map((entry) => [itemKey(schema, entry), entry]));
    return byKey.get(itemKey(schema, item));
  };
}

/** The keys of an item of `list-type: map` as JSON: equal for equal keys. */
export function itemKey({ listMapKeys }: StructuralSchema, item: Json): string {
  return JSON.stringify(isJsonObject(item) ? listMapKeys.map((key) => item[key] ?? null) : item);
}
