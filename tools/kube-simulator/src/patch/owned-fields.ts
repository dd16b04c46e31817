/** Which fields an object has, and which ones a write added, changed and removed, in terms of who may own them. */
import type { Json, JsonObject } from '../api-object.js';
import { isJsonArray, isJsonObject, jsonEqual } from '../json-equal.js';
import { ownValue } from '../own-value.js';
import { type FieldSet, isEmpty, noFields, withItself } from './field-set.js';
import type { MergeSchema } from './merge-schema.js';

/** The fields that the server writes itself, so that no manager owns them. */
export const systemFields: FieldSet = {
  'f:apiVersion': {},
  'f:kind': {},
  'f:metadata': {
    '.': {},
    'f:creationTimestamp': {},
    'f:generation': {},
    'f:managedFields': {},
    'f:name': {},
    'f:namespace': {},
    'f:resourceVersion': {},
    'f:selfLink': {},
    'f:uid': {},
  },
};

/** True for an object that is owned field by field. */
export function hasOwnedFields(value: Json | undefined, schema: MergeSchema): value is JsonObject {
  return schema.kind === 'granular' && isJsonObject(value);
}

/** True for a list that is owned item by item. */
export function hasOwnedItems(value: Json | undefined, schema: MergeSchema): value is readonly Json[] {
  return (schema.kind === 'set' || schema.kind === 'list-map') && isJsonArray(value);
}

/** Returns the name of an item in a set: by its keys, or by its value. */
export function itemElement(item: Json, { kind, keys }: MergeSchema): string {
  if (kind === 'set' || !isJsonObject(item)) return `v:${JSON.stringify(item)}`;
  const named = keys.flatMap((key) => {
    const value = ownValue(item, key.name) ?? key.default;
    return value === undefined ? [] : [[key.name, value] as const];
  });
  return `k:${JSON.stringify(Object.fromEntries(named.toSorted(([a], [b]) => (a < b ? -1 : 1))))}`;
}

/** Returns the items of a list by their names in a set. */
export function itemsByElement(items: readonly Json[], schema: MergeSchema): Map<string, Json> {
  return new Map(items.map((item) => [itemElement(item, schema), item]));
}

/** Returns the fields that an application of `value` names: the leaves, and the items of lists. */
export function namedFields(value: Json | undefined, schema: MergeSchema): FieldSet {
  return partsOf(value, schema, (part, below, isItem) => {
    const fields = namedFields(part, below);
    return isItem ? withItself(fields) : fields;
  });
}

/** Returns every field of a new value, including fields with others below. */
function allFields(value: Json, schema: MergeSchema): FieldSet {
  return partsOf(value, schema, (part, below) => withItself(allFields(part, below)));
}

function partsOf(
  value: Json | undefined,
  schema: MergeSchema,
  setOf: (part: Json, below: MergeSchema, isItem: boolean) => FieldSet,
): FieldSet {
  const parts: [string, FieldSet][] = [];
  if (hasOwnedFields(value, schema)) {
    for (const name of Object.keys(value).toSorted()) {
      const [part, below] = [value[name], schema.field(name)];
      if (part !== undefined && below !== undefined) parts.push([`f:${name}`, setOf(part, below, false)]);
    }
  } else if (hasOwnedItems(value, schema) && schema.items !== undefined) {
    for (const [element, item] of itemsByElement(value, schema)) parts.push([element, setOf(item, schema.items, true)]);
  }
  return parts.length === 0 ? noFields : Object.fromEntries(parts);
}

/** The changes of a write: fields that are new or different, and fields that are gone. */
export interface Changes {
  readonly set: FieldSet;
  readonly removed: FieldSet;
}

const noChanges: Changes = { set: noFields, removed: noFields };

/** Returns how `after` differs from `before`. Shared parts are not compared. */
export function compareFields(before: Json | undefined, after: Json | undefined, schema: MergeSchema): Changes {
  if (before === after) return noChanges;
  const comparing = new Comparing();
  if (hasOwnedFields(before, schema) && hasOwnedFields(after, schema)) compareObjects(comparing, [before, after], schema);
  else if (hasOwnedItems(before, schema) && hasOwnedItems(after, schema)) compareItems(comparing, [before, after], schema);
  return comparing;
}

class Comparing implements Changes {
  readonly set: Record<string, FieldSet> = {};
  readonly removed: Record<string, FieldSet> = {};

  /** Records the change of one field or item. */
  compare(element: string, [before, after]: readonly [Json | undefined, Json | undefined], schema: MergeSchema): void {
    if (before === after) return;
    if (before === undefined) this.set[element] = withItself(allFields(after ?? null, schema));
    else if (after === undefined) this.removed[element] = withItself(allFields(before, schema));
    else if (isShared(before, schema) && isShared(after, schema)) this.#nested(element, compareFields(before, after, schema));
    else if (!jsonEqual(before, after)) this.set[element] = noFields;
  }

  #nested(element: string, { set, removed }: Changes): void {
    if (!isEmpty(set)) this.set[element] = set;
    if (!isEmpty(removed)) this.removed[element] = removed;
  }
}

function isShared(value: Json, schema: MergeSchema): boolean {
  return hasOwnedFields(value, schema) || hasOwnedItems(value, schema);
}

type Change<T> = readonly [before: T, after: T];

function compareObjects(comparing: Comparing, [before, after]: Change<JsonObject>, schema: MergeSchema): void {
  const compare = (name: string, change: Change<Json | undefined>): void => {
    const field = change[0] === change[1] ? undefined : schema.field(name);
    if (field !== undefined) comparing.compare(`f:${name}`, change, field);
  };
  for (const name of Object.keys(after)) compare(name, [ownValue(before, name), after[name]]);
  for (const name of Object.keys(before)) {
    if (ownValue(after, name) === undefined) compare(name, [before[name], undefined]);
  }
}

function compareItems(comparing: Comparing, [before, after]: Change<readonly Json[]>, schema: MergeSchema): void {
  const { items } = schema;
  if (items === undefined) return;
  const [old, now] = [itemsByElement(before, schema), itemsByElement(after, schema)];
  for (const [element, item] of now) comparing.compare(element, [old.get(element), item], items);
  for (const [element, item] of old) {
    if (!now.has(element)) comparing.compare(element, [item, undefined], items);
  }
}
