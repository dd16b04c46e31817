/** `metadata.managedFields`: who wrote which field, and by which kind of request. */
import type { Json, JsonObject } from '../api-object.js';
import { isJsonObject, jsonEqual } from '../json-equal.js';
import { listOf, objectOf, textOf } from '../json-parts.js';
import { difference, type FieldSet, isEmpty, union } from './field-set.js';
import { mergeSchema } from './merge-schema.js';
import { type Changes, compareFields, systemFields } from './owned-fields.js';

export interface ManagerEntry {
  readonly manager: string;
  readonly operation: 'Apply' | 'Update';
  readonly apiVersion: string;
  /** Absent if the manager took the fields without a change. */
  readonly time: string | undefined;
  readonly subresource: string;
  readonly fields: FieldSet;
}

/** If there are more managers by Update than this, the oldest are merged into one. */
const maxUpdateManagers = 10;

/** Returns the entries of an object. */
export function managersOf(object: JsonObject | undefined): ManagerEntry[] {
  return listOf(objectOf(object?.['metadata'])['managedFields']).map((value) => {
    const entry = objectOf(value);
    return {
      manager: textOf(entry['manager']),
      operation: entry['operation'] === 'Apply' ? 'Apply' : 'Update',
      apiVersion: textOf(entry['apiVersion']),
      time: textOf(entry['time']) === '' ? undefined : textOf(entry['time']),
      subresource: textOf(entry['subresource']),
      fields: objectOf(entry['fieldsV1']),
    };
  });
}

/** True if both are the same manager: a manager that applies is the same in every version. */
export function isSameManager(a: ManagerEntry, b: ManagerEntry): boolean {
  return (
    a.manager === b.manager &&
    a.operation === b.operation &&
    a.subresource === b.subresource &&
    (a.operation === 'Apply' || a.apiVersion === b.apiVersion)
  );
}

/** Returns `object` with these managers, without those that own nothing. */
export function withManagers(object: JsonObject, managers: readonly ManagerEntry[]): JsonObject {
  const owners = mergeOldest(managers.filter(({ fields }) => !isEmpty(fields))).toSorted(compareManagers);
  const { managedFields: before, ...metadata } = objectOf(object['metadata']);
  const managedFields = owners.map(encodeManager);
  if (managedFields.length === 0) return before === undefined ? object : { ...object, metadata };
  if (jsonEqual(before, managedFields)) return object;
  return { ...object, metadata: { ...metadata, managedFields } };
}

function encodeManager({ manager, operation, apiVersion, time, subresource, fields }: ManagerEntry): Json {
  return {
    manager,
    operation,
    apiVersion,
    ...(time === undefined ? {} : { time }),
    fieldsType: 'FieldsV1',
    fieldsV1: fields,
    ...(subresource === '' ? {} : { subresource }),
  };
}

function compareManagers(a: ManagerEntry, b: ManagerEntry): number {
  const key = ({ operation, time = '', manager, apiVersion, subresource }: ManagerEntry): string[] => [
    operation,
    time,
    manager,
    apiVersion,
    subresource,
  ];
  const [x, y] = [key(a), key(b)];
  const at = x.findIndex((part, index) => part !== y[index]);
  if (at === -1) return 0;
  return (x[at] ?? '') < (y[at] ?? '') ? -1 : 1;
}

function mergeOldest(managers: readonly ManagerEntry[]): readonly ManagerEntry[] {
  const updates = managers.filter(({ operation }) => operation === 'Update').toSorted(compareManagers);
  const surplus = updates.slice(0, Math.max(0, updates.length - maxUpdateManagers + 1));
  if (updates.length <= maxUpdateManagers) return managers;
  const ancient = surplus.reduce((all, entry) => ({ ...entry, fields: union(all.fields, entry.fields) }));
  return [...managers.filter((entry) => !surplus.includes(entry)), { ...ancient, manager: 'ancient-changes', subresource: '' }];
}

/** A write that was not an apply. */
export interface Update {
  /** Absent on create. */
  readonly before: JsonObject | undefined;
  readonly after: JsonObject;
  readonly manager: string;
  readonly subresource?: string;
  /** To the second. */
  readonly time: string;
  readonly apiVersion: string;
  /** `openAPIV3Schema` of a custom resource. */
  readonly schema: JsonObject | undefined;
}

/**
 * Returns `after` with `metadata.managedFields` as they are after the write: only the manager owns the fields that it added or changed. An object
 * without managed fields is not tracked any more; a write with one empty entry removes them.
 */
export function recordUpdate(update: Update): JsonObject {
  const { before, after } = update;
  const given = listOf(objectOf(after['metadata'])['managedFields']);
  if (given.length === 1 && isJsonObject(given[0]) && Object.keys(given[0]).length === 0) return withManagers(after, []);
  const managers = managersOf(given.length > 0 ? after : before);
  if (before !== undefined && managers.length === 0) return withManagers(after, []);
  const changes = changesOf(update);
  if (isEmpty(changes.set) && isEmpty(changes.removed)) return withManagers(after, managers);
  return withManagers(after, afterUpdate(managers, changes, update));
}

function changesOf({ before, after, schema }: Update): Changes {
  const { set, removed } = compareFields(before ?? {}, after, mergeSchema(schema));
  return { set: difference(set, systemFields), removed: difference(removed, systemFields) };
}

function afterUpdate(managers: readonly ManagerEntry[], { set, removed }: Changes, update: Update): ManagerEntry[] {
  const { manager, apiVersion, time, subresource = '' } = update;
  const self: ManagerEntry = { manager, operation: 'Update', apiVersion, time, subresource, fields: set };
  const others = managers.map((entry) => {
    const kept = difference(entry.fields, removed);
    return isSameManager(entry, self) ? { ...entry, fields: kept } : { ...entry, fields: difference(kept, set) };
  });
  const mine = others.find((entry) => isSameManager(entry, self));
  if (mine === undefined) return [...others, self];
  const fields = union(mine.fields, set);
  return others.map((entry) => (entry === mine ? { ...mine, fields, time: isEmpty(set) ? mine.time : time } : entry));
}
