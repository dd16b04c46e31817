import type { Cause } from '../api-error.js';
import type { ApiObject, Json, JsonObject } from '../api-object.js';
import {
  badRequest,
  conflict,
  internalError,
  invalid,
  invalidSubject,
  modifiedMeanwhile,
  notFound,
  qualifiedResource,
} from '../failures.js';
import { jsonEqual } from '../json-equal.js';
import { section, textOf } from '../json-parts.js';
import type { ResourceType } from '../resources/resource-type.js';
import type { StoredObject } from '../store/collection.js';
import {
  type ApiCall,
  type ApiContext,
  admit,
  collectionOf,
  fromStored,
  jsonOf,
  keyOf,
  mutate,
  subresourceOf,
  toStored,
  type Written,
} from './api-call.js';
import { assertSameNamespace, createObject } from './create-object.js';
import { decodeObject } from './decode-object.js';
import { metadataCauses, metadataUpdateCauses, updatedMetadata } from './object-metadata.js';
import { recordManagers } from './record-managers.js';
import { storeObject } from './store-object.js';

/** Replaces an object (PUT) and returns it. */
export async function replaceObject(context: ApiContext, call: ApiCall, body: JsonObject): Promise<Written> {
  const subresource = subresourceOf(call);
  const apply = subresource?.apply;
  if (apply !== undefined) {
    assertSameName(call, section(body, 'metadata')['name']);
    return updateObject(context, call, (existing) => {
      assertResourceVersion(call, section(body, 'metadata')['resourceVersion'], existing);
      return apply(existing, body);
    });
  }
  const decoded = decodeObject(call, body);
  assertSameName(call, decoded.metadata.name);
  assertSameNamespace(call, decoded.metadata);
  if (call.type.allowsCreateOnUpdate && !exists(context, call)) return createObject(context, withoutName(call), body);
  return updateObject(context, call, (existing) => {
    assertUid(call, decoded.metadata.uid, existing);
    assertResourceVersion(call, decoded.metadata.resourceVersion, existing);
    return decoded;
  });
}

function exists(context: ApiContext, call: ApiCall): boolean {
  return collectionOf(context, call.type).get(keyOf(call.type, call.attributes.namespace, call.attributes.name)) !== undefined;
}

function withoutName(call: ApiCall): ApiCall {
  return { ...call, attributes: { ...call.attributes, verb: 'create' } };
}

export function assertSameName(call: ApiCall, sent: Json | undefined): void {
  const { name } = call.attributes;
  if (sent === undefined || sent === '' || sent === name) return;
  throw badRequest(`the name of the object (${textOf(sent)}) does not match the name on the URL (${name})`);
}

function assertUid(call: ApiCall, uid: string | undefined, existing: ApiObject): void {
  const { type, attributes } = call;
  const stored = existing.metadata.uid;
  if (uid === undefined || uid === stored) return;
  const key = `/registry/${type.storage.replace(/^\//, '')}/${keyOf(type, attributes.namespace, attributes.name)}`;
  const why = `StorageError: invalid object, Code: 4, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: ${uid}, UID in object meta: ${stored}`;
  throw conflict(type, attributes.name, why);
}

function assertResourceVersion(call: ApiCall, sent: Json | undefined, existing: ApiObject): void {
  const { type, attributes } = call;
  if (sent === undefined || sent === '') {
    if (type.allowsUnconditionalUpdate || subresourceOf(call)?.apply !== undefined) return;
    throw invalidSubject({ subject: qualifiedResource(type), group: type.group, kind: type.plural, name: attributes.name }, [
      {
        reason: 'FieldValueInvalid',
        message: 'Invalid value: 0: must be specified for an update',
        field: 'metadata.resourceVersion',
      },
    ]);
  }
  if (!/^\d+$/.test(textOf(sent))) throw internalError(`strconv.ParseUint: parsing ${JSON.stringify(sent)}: invalid syntax`);
  if (sent !== existing.metadata.resourceVersion) throw conflict(type, attributes.name, modifiedMeanwhile);
}

/**
 * Writes the result of `change` for the stored object, and returns it. If another client wrote while webhooks were asked, calls `change` again with
 * the new object. `change` throws to refuse.
 */
export async function updateObject(
  context: ApiContext,
  call: ApiCall,
  change: (existing: ApiObject) => ApiObject | Promise<ApiObject>,
): Promise<Written> {
  const { type, attributes } = call;
  const key = keyOf(type, attributes.namespace, attributes.name);
  for (;;) {
    const stored = collectionOf(context, type).get(key);
    if (stored === undefined) throw notFound(type, attributes.name);
    const warned = call.warnings.length;
    const updated = await updatedObject(context, call, { stored, wanted: await change(fromStored(type, stored)) });
    if (collectionOf(context, type).get(key) === stored) return commit(context, call, { stored, key, updated });
    call.warnings.length = warned;
  }
}

interface Update {
  readonly stored: StoredObject;
  readonly wanted: ApiObject;
}

/** The checked object, ready to be stored. */
async function updatedObject(context: ApiContext, call: ApiCall, { stored, wanted }: Update): Promise<ApiObject> {
  const { type } = call;
  const existing = fromStored(type, stored);
  const completed = { ...wanted, metadata: updatedMetadata(wanted.metadata, existing.metadata) };
  const defaulted = type.strategy.applyDefaults(completed);
  const review = { operation: 'UPDATE', object: defaulted, oldObject: existing } as const;
  const mutated = (await mutate(context, call, review)) ?? defaulted;
  const prepared = withGeneration(type, prepare(call, type.strategy.applyDefaults(mutated), existing), existing);
  assertValid(call, prepared, existing);
  await admit(context, call, { operation: 'UPDATE', object: prepared, oldObject: existing });
  const recorded = recordManagers(context, call, { before: existing, after: prepared });
  return type.strategy.canonical(recorded, existing);
}

function prepare(call: ApiCall, object: ApiObject, existing: ApiObject): ApiObject {
  const { strategy } = call.type;
  if (call.attributes.subresource === 'status') return strategy.prepareForStatusUpdate(object, existing);
  // Other subresources made their object of the existing one.
  return call.attributes.subresource === '' ? strategy.prepareForUpdate(object, existing) : object;
}

function withGeneration(type: ResourceType, object: ApiObject, existing: ApiObject): ApiObject {
  if (!type.hasGeneration || !type.strategy.movesGeneration(object, existing)) return object;
  const generation = Number(existing.metadata['generation'] ?? 0) + 1;
  return { ...object, metadata: { ...object.metadata, generation } };
}

function assertValid(call: ApiCall, object: ApiObject, existing: ApiObject): void {
  const { type, attributes } = call;
  const causes: readonly Cause[] = [
    ...metadataUpdateCauses(object.metadata, existing.metadata),
    ...changedMetadataCauses(type, object, existing),
    ...type.strategy.validate(object, existing, attributes.subresource),
  ];
  const complete = type.strategy.completeCauses(causes, object);
  if (complete.length > 0) throw invalid(type, attributes.name, complete);
  call.warnings.push(...type.strategy.warnings(object));
}

function changedMetadataCauses(type: ResourceType, object: ApiObject, existing: ApiObject): readonly Cause[] {
  const parts = ['labels', 'annotations', 'ownerReferences', 'finalizers'];
  const changed = parts.some((part) => object.metadata[part] !== existing.metadata[part]);
  return changed ? metadataCauses(object, type) : [];
}

function commit(
  context: ApiContext,
  call: ApiCall,
  { stored, key, updated }: { readonly stored: StoredObject; readonly key: string; readonly updated: ApiObject },
): Written {
  const { type } = call;
  const object = toStored(type, updated);
  if (jsonEqual(object, stored.object)) return { object: fromStored(type, stored), json: jsonOf(type, stored), created: false };
  if (call.options.dryRun) return { object: updated, created: false };
  if (isFinished(type, object)) {
    // The last event shows the object as it was, and the answer the object as it would have been.
    context.store.remove(type.storage, key, stored.object);
    return { object: updated, created: false };
  }
  const written = storeObject(context, type, { key, object });
  return { object: fromStored(type, written), json: jsonOf(type, written), created: false };
}

/** Deletion was requested, and nothing keeps the object any more. */
function isFinished(type: ResourceType, object: ApiObject): boolean {
  const { metadata } = object;
  if (metadata['deletionTimestamp'] === undefined || ((metadata['finalizers'] ?? []) as readonly string[]).length > 0)
    return false;
  if (type.holdsItself?.(object) === true) return false;
  return Number(metadata['deletionGracePeriodSeconds'] ?? 0) === 0;
}
