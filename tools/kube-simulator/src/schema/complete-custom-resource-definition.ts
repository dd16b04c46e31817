import type { Json, JsonObject } from '../api-object.js';
import { isJsonObject } from '../json-equal.js';
import { listOf, objectOf, textOf } from '../json-parts.js';

/**
 * Returns a CustomResourceDefinition with the server's defaults: the names that follow from the kind, the conversion, and a status with the storage
 * version. Given fields stay.
 */
export function completeCustomResourceDefinition<T extends JsonObject>(crd: T): T {
  const spec = objectOf(crd['spec']);
  const { group, names, scope, versions, conversion, ...rest } = spec;
  return {
    ...crd,
    spec: {
      ...given({ group, names: isJsonObject(names) ? completeNames(names) : names, scope, versions }),
      conversion: conversion ?? { strategy: 'None' },
      ...rest,
    },
    status: completeStatus(objectOf(crd['status']), versions),
  };
}

function completeNames(names: JsonObject): JsonObject {
  const { plural, singular, shortNames, kind, listKind, categories } = names;
  const known = textOf(kind);
  return given({
    plural,
    singular: textOf(singular) === '' ? known.toLowerCase() : singular,
    shortNames,
    kind,
    listKind: textOf(listKind) === '' && known !== '' ? `${known}List` : listKind,
    categories,
  });
}

function completeStatus(status: JsonObject, versions: Json | undefined): JsonObject {
  const stored = listOf(status['storedVersions']);
  const [storage] = storageVersions(versions);
  return {
    conditions: status['conditions'] ?? null,
    acceptedNames: status['acceptedNames'] ?? { plural: '', kind: '' },
    storedVersions: storage === undefined || stored.includes(storage) ? stored : [...stored, storage],
  };
}

/** Returns the names of the versions that objects are stored in: one, if all is well. */
export function storageVersions(versions: Json | undefined): string[] {
  return listOf(versions).flatMap((version) => {
    const { name, storage } = objectOf(version);
    return storage === true && typeof name === 'string' ? [name] : [];
  });
}

function given(object: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined));
}
