import { randomInt, randomUUID } from 'node:crypto';
import type { Cause } from '../api-error.js';
import type { ApiObject, Json, JsonObject, ObjectMeta } from '../api-object.js';
import { jsonEqual } from '../json-equal.js';
import { textOf } from '../json-parts.js';
import { annotationCauses } from '../resources/annotation-causes.js';
import { formatTime } from '../resources/go-time.js';
import type { ResourceType } from '../resources/resource-type.js';
import { labelCauses } from './label-rules.js';
import { nameCauses, prefixedNameMessage } from './name-rules.js';

const suffixAlphabet = 'bcdfghjklmnpqrstvwxz2456789';
const suffixLength = 5;
const maxGeneratedLength = 63;

/** The prefix, cut so that the name has at most 63 characters, and five random ones. */
export function generateName(prefix: string): string {
  const suffix = Array.from({ length: suffixLength }, () => suffixAlphabet[randomInt(suffixAlphabet.length)]).join('');
  return prefix.slice(0, maxGeneratedLength - suffixLength) + suffix;
}

/** The metadata of a new object: the fields that the client may set, and those that the server sets. */
export function newMetadata(metadata: ObjectMeta, type: ResourceType, place: { namespace: string; nowMs: number }): ObjectMeta {
  const {
    uid: _uid,
    selfLink: _selfLink,
    resourceVersion: _resourceVersion,
    generation: _generation,
    deletionTimestamp: _deletionTimestamp,
    deletionGracePeriodSeconds: _deletionGracePeriodSeconds,
    ...sent
  } = metadata;
  const name = nameOf(metadata);
  return {
    ...sent,
    ...(name === '' ? {} : { name }),
    ...(type.namespaced ? { namespace: place.namespace } : {}),
    uid: randomUUID(),
    // A placeholder: the store sets the version.
    resourceVersion: '0',
    ...(type.hasGeneration ? { generation: 1 } : {}),
    creationTimestamp: formatTime(place.nowMs),
  };
}

function nameOf(metadata: ObjectMeta): string {
  if (typeof metadata.name === 'string' && metadata.name !== '') return metadata.name;
  const prefix = metadata['generateName'];
  return typeof prefix === 'string' && prefix !== '' ? generateName(prefix) : '';
}

const kept = ['name', 'namespace', 'uid', 'deletionTimestamp', 'deletionGracePeriodSeconds', 'managedFields'] as const;
const serverOwned = ['creationTimestamp', 'generation', 'resourceVersion'] as const;

/** The metadata of an update. Fields that the client left out or may not change are taken from the stored object. */
export function updatedMetadata(metadata: ObjectMeta, old: ObjectMeta): ObjectMeta {
  const result: Record<string, Json | undefined> = { ...metadata };
  for (const field of kept) if (result[field] === undefined && old[field] !== undefined) result[field] = old[field];
  for (const field of serverOwned) {
    if (old[field] === undefined) delete result[field];
    else result[field] = old[field];
  }
  delete result['selfLink'];
  return result as ObjectMeta;
}

const invalid = (field: string, value: Json, why: string): Cause => ({
  reason: 'FieldValueInvalid',
  message: `Invalid value: ${JSON.stringify(value)}: ${why}`,
  field,
});

/** Errors in the metadata of any object. */
export function metadataCauses(object: ApiObject, type: ResourceType): readonly Cause[] {
  const { metadata } = object;
  return [
    ...nameCauses(metadata, type.nameRule),
    ...labelCauses(section(metadata['labels'])),
    ...annotationCauses(section(metadata['annotations']), 'metadata.annotations'),
    ...ownerCauses((metadata['ownerReferences'] ?? []) as readonly JsonObject[]),
    ...finalizerCauses((metadata['finalizers'] ?? []) as readonly string[]),
  ];
}

function section(value: Json | undefined): JsonObject {
  return (value ?? {}) as JsonObject;
}

function ownerCauses(owners: readonly JsonObject[]): readonly Cause[] {
  const empty = owners.flatMap((owner) =>
    ['apiVersion', 'kind', 'name', 'uid']
      .filter((field) => (owner[field] ?? '') === '')
      .map((field) =>
        invalid(
          `metadata.ownerReferences.${field}`,
          '',
          field === 'apiVersion' ? 'version must not be empty' : 'must not be empty',
        ),
      ),
  );
  const controllers = owners
    .filter((owner) => owner['controller'] === true)
    .map((owner) => `${textOf(owner['kind'])}/${textOf(owner['name'])}`);
  if (controllers.length < 2) return empty;
  const why = `Only one reference can have Controller set to true. Found "true" in references for ${controllers[0]} and ${controllers[1]}`;
  return [...empty, invalid('metadata.ownerReferences', owners, why)];
}

function finalizerCauses(finalizers: readonly string[]): readonly Cause[] {
  return finalizers.flatMap((finalizer) => {
    const why = prefixedNameMessage(finalizer);
    return why === undefined ? [] : [invalid('metadata.finalizers', finalizer, why)];
  });
}

const immutable = ['name', 'namespace', 'uid', 'creationTimestamp', 'deletionTimestamp', 'deletionGracePeriodSeconds'];

/** Errors in how an update changes metadata. The real server checks twice, and lists each cause twice. */
export function metadataUpdateCauses(metadata: ObjectMeta, old: ObjectMeta): readonly Cause[] {
  const causes: Cause[] = [];
  const before = (old['finalizers'] ?? []) as readonly string[];
  const added = ((metadata['finalizers'] ?? []) as readonly string[]).filter((finalizer) => !before.includes(finalizer));
  if (old['deletionTimestamp'] !== undefined && added.length > 0) {
    const list = added.map((finalizer) => JSON.stringify(finalizer)).join(', ');
    causes.push({
      reason: 'FieldValueForbidden',
      message: `Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{${list}}`,
      field: 'metadata.finalizers',
    });
  }
  for (const field of immutable) {
    const value = metadata[field];
    if (!jsonEqual(value, old[field])) causes.push(invalid(`metadata.${field}`, value ?? null, 'field is immutable'));
  }
  return [...causes, ...causes];
}
