import type { Cause } from '../../api-error.js';
import type { ApiObject } from '../../api-object.js';
import { section, textOf } from '../../json-parts.js';
import { builtInType, column } from '../built-in-type.js';
import { anything, bytes, flag, list, map, pointer, text } from '../go-type.js';

const maxBytes = 1_048_576;

/** `data` and `binaryData` together may hold 1 MiB. */
function tooLong(object: ApiObject): readonly Cause[] {
  const values = [...Object.values(section(object, 'data')), ...Object.values(section(object, 'binaryData'))];
  const size = values.reduce((total: number, value) => total + Buffer.byteLength(textOf(value)), 0);
  if (size <= maxBytes) return [];
  return [{ reason: 'FieldValueTooLong', message: `Too long: may not be more than ${maxBytes} bytes`, field: '[]' }];
}

const countOf = (object: ApiObject): number =>
  Object.keys(section(object, 'data')).length + Object.keys(section(object, 'binaryData')).length;

export const configMap = builtInType({
  group: '',
  version: 'v1',
  kind: 'ConfigMap',
  plural: 'configmaps',
  shortNames: ['cm'],
  namespaced: true,
  fields: { immutable: pointer(flag), data: map(text), binaryData: map(bytes) },
  columns: [column('Data', 'string', (object) => String(countOf(object)))],
  strategy: { validate: tooLong },
});

/** `stringData` is written into `data`. */
function mergeStringData(object: ApiObject): ApiObject {
  const { stringData, ...secret } = object;
  const typed = { ...secret, type: secret['type'] ?? 'Opaque' } as ApiObject;
  if (stringData === undefined) return typed;
  const entries = Object.entries(section(object, 'stringData')).map(([key, value]) => [
    key,
    Buffer.from(textOf(value)).toString('base64'),
  ]);
  return { ...typed, data: { ...section(object, 'data'), ...Object.fromEntries(entries) } };
}

export const secret = builtInType({
  group: '',
  version: 'v1',
  kind: 'Secret',
  plural: 'secrets',
  namespaced: true,
  fields: { immutable: pointer(flag), data: map(bytes), stringData: map(text), type: text },
  columns: [
    column('Type', 'string', (object) => object['type'] ?? ''),
    column('Data', 'string', (object) => String(Object.keys(section(object, 'data')).length)),
  ],
  selectableFields: { type: (object) => textOf(object['type']) },
  strategy: { applyDefaults: mergeStringData },
});

export const serviceAccount = builtInType({
  group: '',
  version: 'v1',
  kind: 'ServiceAccount',
  plural: 'serviceaccounts',
  shortNames: ['sa'],
  namespaced: true,
  fields: { secrets: list(anything), imagePullSecrets: list(anything), automountServiceAccountToken: pointer(flag) },
  columns: [column('Secrets', 'string', (object) => String(((object['secrets'] ?? []) as readonly unknown[]).length))],
});
