import type { Json, JsonObject } from '../api-object.js';
import { isJsonArray, isJsonObject } from '../json-equal.js';

const metadataFields: ReadonlySet<string> = new Set([
  'annotations',
  'creationTimestamp',
  'deletionGracePeriodSeconds',
  'deletionTimestamp',
  'finalizers',
  'generateName',
  'generation',
  'labels',
  'managedFields',
  'name',
  'namespace',
  'ownerReferences',
  'resourceVersion',
  'selfLink',
  'uid',
]);
const ownerReferenceFields: ReadonlySet<string> = new Set([
  'apiVersion',
  'blockOwnerDeletion',
  'controller',
  'kind',
  'name',
  'uid',
]);

/** Returns `metadata` without the fields that ObjectMeta does not have, and passes their paths to `unknown`. */
export function pruneMetadata(metadata: Json, path: string, unknown: (path: string) => void): Json {
  if (!isJsonObject(metadata)) return metadata;
  const pruned = keepKnown(metadata, metadataFields, (key) => unknown(`${path}.${key}`));
  const owners = pruned['ownerReferences'];
  if (!isJsonArray(owners)) return pruned;
  const prunedOwners = owners.map((owner, index) =>
    isJsonObject(owner)
      ? keepKnown(owner, ownerReferenceFields, (key) => unknown(`${path}.ownerReferences[${index}].${key}`))
      : owner,
  );
  return prunedOwners.every((owner, index) => owner === owners[index]) ? pruned : { ...pruned, ownerReferences: prunedOwners };
}

function keepKnown(object: JsonObject, known: ReadonlySet<string>, drop: (key: string) => void): JsonObject {
  const unknown = Object.keys(object).filter((key) => !known.has(key));
  if (unknown.length === 0) return object;
  unknown.forEach(drop);
  return Object.fromEntries(Object.entries(object).filter(([key]) => known.has(key)));
}
