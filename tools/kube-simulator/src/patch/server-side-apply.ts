import { ApiError, type Cause } from '../api-error.js';
import type { Json, JsonObject } from '../api-object.js';
import { isJsonObject, jsonEqual } from '../json-equal.js';
import { objectOf, textOf } from '../json-parts.js';
import { difference, type FieldSet, formatFields, intersection, noFields, union } from './field-set.js';
import { isSameManager, type ManagerEntry, managersOf, withManagers } from './managed-fields.js';
import { mergeApplied, removeGivenUp } from './merge-applied.js';
import { type MergeSchema, mergeSchema } from './merge-schema.js';
import { compareFields, hasOwnedFields, hasOwnedItems, namedFields, systemFields } from './owned-fields.js';

export interface Application {
  /** Absent when the object does not exist yet. */
  readonly live: JsonObject | undefined;
  readonly applied: JsonObject;
  readonly manager: string;
  /** Takes over fields that others own. */
  readonly force?: boolean;
  /** `openAPIV3Schema` of a custom resource. */
  readonly schema: JsonObject | undefined;
  /** To the second. */
  readonly time: string;
  /** `status`: everything but the status is left alone. */
  readonly subresource?: string;
  /** The field that the write cannot change: `status`, if it is a subresource. */
  readonly ignoredFields?: readonly string[];
}

/**
 * Returns the object as it is after `applied`: the manager sets and owns the fields that it names. Fields that it named last time and names no longer
 * are removed unless others own them. An application that changes nothing returns `live` itself.
 *
 * @throws ApiError 409 if others own a field that would change; 500 if a field is not in the schema.
 */
export function applyConfiguration(application: Application): JsonObject {
  const { live } = application;
  const schema = mergeSchema(application.schema);
  checkApplied(application, schema);
  const applied = relevantPart(application);
  const self = managerOf(application, namedFieldsOf(applied, schema));
  const managers = managersWithHistory(live, schema);
  const others = managers.filter((entry) => !isSameManager(entry, self));
  const previous = managers.find((entry) => isSameManager(entry, self));
  const merged = objectOf(mergeApplied(live, applied, schema));
  // No manager can give up fields that the server writes itself.
  const kept = others.reduce((all, { fields }) => union(all, fields), union(self.fields, systemFields));
  const result = objectOf(removeGivenUp(merged, schema, { last: previous?.fields ?? noFields, kept }));
  if (live === undefined) return withManagers(result, [self]);
  const settled = settle(others, changesBetween(live, result, schema), application.force === true);
  // A manager that acquires fields without a change keeps the time of the last change.
  const time = jsonEqual(withoutManagers(live), withoutManagers(result)) ? previous?.time : application.time;
  return withManagers(result, [...settled, { ...self, time }]);
}

function managerOf({ manager, applied, time, subresource = '' }: Application, fields: FieldSet): ManagerEntry {
  return { manager, operation: 'Apply', apiVersion: textOf(applied['apiVersion']), time, subresource, fields };
}

function namedFieldsOf(applied: JsonObject, schema: MergeSchema): FieldSet {
  return difference(namedFields(applied, schema), systemFields);
}

function checkApplied({ applied }: Application, schema: MergeSchema): void {
  const metadata = objectOf(applied['metadata']);
  if (metadata['managedFields'] !== undefined && metadata['managedFields'] !== null) {
    throw new ApiError({ code: 400, reason: 'BadRequest', message: 'metadata.managedFields must be nil' });
  }
  const unknown = undeclaredField(applied, schema);
  if (unknown === undefined) return;
  const [group = '', version = ''] = splitApiVersion(textOf(applied['apiVersion']));
  const kind = `${group === '' ? '' : `${group}/`}${version}, Kind=${textOf(applied['kind'])}`;
  const name = `${textOf(metadata['namespace'])}/${textOf(metadata['name'])}`;
  const message = `failed to create typed patch object (${name}; ${kind}): ${unknown}: field not declared in schema`;
  throw new ApiError({ code: 500, message });
}

function splitApiVersion(apiVersion: string): string[] {
  return apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion];
}

/** Returns the path of the first field that is not in the schema. */
function undeclaredField(value: Json | undefined, schema: MergeSchema, path = ''): string | undefined {
  if (hasOwnedFields(value, schema)) {
    return firstOf(Object.entries(value), ([name, part]) => {
      const field = schema.field(name);
      return field === undefined ? `${path}.${name}` : undeclaredField(part, field, `${path}.${name}`);
    });
  }
  const { items } = schema;
  if (!hasOwnedItems(value, schema) || items === undefined) return undefined;
  return firstOf([...value.entries()], ([index, item]) => undeclaredField(item, items, `${path}[${index}]`));
}

function firstOf<T>(parts: readonly T[], find: (part: T) => string | undefined): string | undefined {
  for (const part of parts) {
    const found = find(part);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Returns the part of the application that counts: only the status for the status subresource, everything else otherwise. */
function relevantPart({ applied, subresource = '', ignoredFields = [] }: Application): JsonObject {
  const counts = (name: string): boolean => (subresource === 'status' ? name === 'status' : !ignoredFields.includes(name));
  const identity = ['apiVersion', 'kind'];
  const fields = Object.entries(applied).filter(([name]) => identity.includes(name) || counts(name));
  return withoutResourceVersion(Object.fromEntries(fields));
}

/** A resourceVersion in an application is a condition that the caller checks, not a field to be set. */
function withoutResourceVersion(applied: JsonObject): JsonObject {
  const metadata = applied['metadata'];
  if (!isJsonObject(metadata)) return applied;
  const { resourceVersion: _, uid: __, managedFields: ___, ...rest } = metadata;
  return { ...applied, metadata: rest };
}

/** Returns the managers; `before-first-apply` owns the fields from before the first apply. */
function managersWithHistory(live: JsonObject | undefined, schema: MergeSchema): ManagerEntry[] {
  const managers = managersOf(live);
  if (live === undefined || managers.length > 0) return managers;
  const fields = changesBetween({}, live, schema).set;
  const apiVersion = textOf(live['apiVersion']);
  return [{ manager: 'before-first-apply', operation: 'Update', apiVersion, time: undefined, subresource: '', fields }];
}

function changesBetween(before: JsonObject, after: JsonObject, schema: MergeSchema): { set: FieldSet; removed: FieldSet } {
  const { set, removed } = compareFields(before, after, schema);
  return { set: difference(set, systemFields), removed: difference(removed, systemFields) };
}

/** Returns the other managers without the changed or removed fields. Throws if they own a changed field, unless the write is forced. */
function settle(
  others: readonly ManagerEntry[],
  { set, removed }: { readonly set: FieldSet; readonly removed: FieldSet },
  force: boolean,
): ManagerEntry[] {
  const conflicts = others
    .map((entry) => ({ entry, fields: formatFields(intersection(entry.fields, set)) }))
    .filter(({ fields }) => fields.length > 0);
  if (!force && conflicts.length > 0) throw conflictError(conflicts);
  return others.map((entry) => ({ ...entry, fields: difference(difference(entry.fields, set), removed) }));
}

interface Conflict {
  readonly entry: ManagerEntry;
  readonly fields: readonly string[];
}

function conflictError(conflicts: readonly Conflict[]): ApiError {
  const named = conflicts.map(({ entry, fields }) => ({ manager: describeManager(entry), fields }));
  const causes = named.flatMap(({ manager, fields }) =>
    fields.map((field): Cause => ({ reason: 'FieldManagerConflict', message: `conflict with ${manager}`, field })),
  );
  const sorted = named.toSorted((a, b) => (a.manager < b.manager ? -1 : 1));
  const [first] = causes;
  const text =
    causes.length === 1 && first !== undefined
      ? `1 conflict: ${first.message}: ${first.field}`
      : `${causes.length} conflicts: ${sorted.map(describeConflicts).join('\n')}`;
  return new ApiError({
    code: 409,
    reason: 'Conflict',
    message: `Apply failed with ${text}`,
    details: { causes: causes.map((cause) => ({ ...cause })) },
  });
}

function describeConflicts({ manager, fields }: { readonly manager: string; readonly fields: readonly string[] }): string {
  return [`conflicts with ${manager}:`, ...fields.map((field) => `- ${field}`)].join('\n');
}

function describeManager({ manager, operation, apiVersion, subresource }: ManagerEntry): string {
  const name = JSON.stringify(manager) + (subresource === '' ? '' : ` with subresource ${JSON.stringify(subresource)}`);
  return operation === 'Update' ? `${name} using ${apiVersion}` : name;
}

function withoutManagers(object: JsonObject): JsonObject {
  const { managedFields: _, ...metadata } = objectOf(object['metadata']);
  return { ...object, metadata };
}
