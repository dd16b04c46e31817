import type { Json, JsonObject } from '../api-object.js';
import { jsonEqual } from '../json-equal.js';
import { mapFields } from '../map-json.js';
import { ownValue } from '../own-value.js';
import { setKey } from '../set-key.js';
import { type FieldSet, hasMember, placeIn } from './field-set.js';
import type { MergeSchema } from './merge-schema.js';
import { hasOwnedFields, hasOwnedItems, itemElement, itemsByElement } from './owned-fields.js';

/** Returns `live` with the applied fields: shared objects and lists are merged, everything else is replaced. */
export function mergeApplied(live: Json | undefined, applied: Json, schema: MergeSchema): Json {
  if (live === undefined || live === applied) return applied;
  if (hasOwnedFields(live, schema) && hasOwnedFields(applied, schema)) return mergeObjects(live, applied, schema);
  if (hasOwnedItems(live, schema) && hasOwnedItems(applied, schema)) return mergeItems(live, applied, schema);
  return jsonEqual(live, applied) ? live : applied;
}

function mergeObjects(live: JsonObject, applied: JsonObject, schema: MergeSchema): JsonObject {
  let merged: Record<string, Json | undefined> | undefined;
  for (const name of Object.keys(applied)) {
    const value = applied[name];
    const field = schema.field(name);
    if (value === undefined || field === undefined) continue;
    const before = ownValue(live, name);
    const after = mergeApplied(before, value, field);
    if (after === before) continue;
    merged ??= { ...live };
    setKey(merged, name, after);
  }
  return merged ?? live;
}

/** Items that are only in `live` stay before the applied items that follow them; the others take the order of the application. */
function mergeItems(live: readonly Json[], applied: readonly Json[], schema: MergeSchema): readonly Json[] {
  const { items } = schema;
  if (items === undefined) return applied;
  const [old, now] = [itemsByElement(live, schema), itemsByElement(applied, schema)];
  const done = new Set<string>();
  const nextLiveOnly = liveOnlyItems(old, (element) =>
    now.has(element) ? (done.has(element) ? 'merged' : 'waiting') : 'live-only',
  );
  const merged: Json[] = [];
  for (const [element, item] of now) {
    merged.push(...nextLiveOnly(), mergeApplied(old.get(element), item, items));
    done.add(element);
  }
  merged.push(...nextLiveOnly());
  return merged.length === live.length && merged.every((item, index) => item === live[index]) ? live : merged;
}

/** Returns a function that returns, each time, the items of `live` alone up to the next one that is still to be merged. */
function liveOnlyItems(
  live: ReadonlyMap<string, Json>,
  stateOf: (element: string) => 'live-only' | 'merged' | 'waiting',
): () => Json[] {
  const entries = [...live];
  let next = 0;
  return () => {
    const found: Json[] = [];
    for (let entry = entries[next]; entry !== undefined; entry = entries[++next]) {
      const state = stateOf(entry[0]);
      if (state === 'waiting') break;
      if (state === 'live-only') found.push(entry[1]);
    }
    return found;
  };
}

/** The fields from which to tell what a manager gave up: its previous fields, its current fields, and those of others. */
export interface GivenUp {
  readonly last: FieldSet;
  readonly kept: FieldSet;
}

/**
 * Returns `value` without the fields that are in `last` and not in `kept`. A field stays if anything below it is kept; an item of a list stays only
 * if it is kept itself, because an item without its keys would not be valid.
 */
export function removeGivenUp(value: Json, schema: MergeSchema, { last, kept }: GivenUp): Json {
  const partAfter = (part: Json, element: string, partSchema: MergeSchema | undefined): Json | undefined => {
    const lastBelow = placeIn(last, element);
    if (lastBelow === undefined || partSchema === undefined) return part;
    const keptBelow = placeIn(kept, element);
    return keptBelow === undefined ? undefined : removeGivenUp(part, partSchema, { last: lastBelow, kept: keptBelow });
  };
  if (hasOwnedFields(value, schema)) return mapFields(value, (part, name) => partAfter(part, `f:${name}`, schema.field(name)));
  if (!hasOwnedItems(value, schema)) return value;
  const left = value.map((item) => {
    const element = itemElement(item, schema);
    return hasMember(last, element) && !hasMember(kept, element) ? undefined : partAfter(item, element, schema.items);
  });
  if (left.every((item, index) => item === value[index])) return value;
  return left.filter((item) => item !== undefined);
}
