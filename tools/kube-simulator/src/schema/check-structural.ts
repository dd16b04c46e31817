/** Checks that a schema is structural: every field has a type outside of `anyOf`, `allOf`, `oneOf` and `not`, which only restrict values. */
import type { Cause } from '../api-error.js';
import type { Json, JsonObject } from '../api-object.js';
import { isJsonArray, isJsonObject, jsonEqual } from '../json-equal.js';
import { forbidden, invalid, required } from './causes.js';
import { entryOf, type FieldPath, fieldOf, formatPath } from './field-path.js';
import { toRegExp } from './structural-schema.js';

type Level = 'root' | 'item' | 'field';

interface Node {
  readonly source: JsonObject;
  readonly path: FieldPath;
  readonly level: Level;
}

/** Returns why `source` is not structural, in the order of the texts. */
export function checkStructural(source: JsonObject, path: FieldPath): Cause[] {
  const causes: Cause[] = [];
  checkNode({ source, path, level: 'root' }, (cause) => causes.push(cause));
  const text = ({ field, message }: Cause): string => `${field}: ${message}`;
  return causes.toSorted((a, b) => (text(a) < text(b) ? -1 : 1));
}

type Add = (cause: Cause) => void;

function checkNode(node: Node, add: Add): void {
  const { source, path, level } = node;
  const at = (name: string): string => formatPath(fieldOf(path, name));
  if (source['type'] === 'array' && !isJsonObject(source['items'])) add(required(at('items'), 'must be specified'));
  checkType(node, add);
  checkFlags(node, add);
  checkResourceFields(node, add);
  checkPattern(source, path, add);
  if (source['additionalProperties'] !== undefined && level === 'root') {
    add(forbidden(at('additionalProperties'), 'must not be used at the root'));
  }
  checkAlternatives(source, path, add);
  for (const child of children(source, path)) checkNode(child, add);
}

function children(source: JsonObject, path: FieldPath): Node[] {
  const child = (value: Json | undefined, at: FieldPath, level: Level): Node[] =>
    isJsonObject(value) ? [{ source: value, path: at, level }] : [];
  const properties = isJsonObject(source['properties']) ? source['properties'] : {};
  return [
    ...child(source['items'], fieldOf(path, 'items'), 'item'),
    ...Object.entries(properties).flatMap(([name, property]) =>
      child(property, entryOf(fieldOf(path, 'properties'), name), 'field'),
    ),
    ...child(source['additionalProperties'], fieldOf(path, 'additionalProperties'), 'field'),
  ];
}

const emptyType: Readonly<Record<Level, string>> = {
  root: 'must not be empty at the root',
  item: 'must not be empty for specified array items',
  field: 'must not be empty for specified object fields',
};

function checkType({ source, path, level }: Node, add: Add): void {
  const type = source['type'];
  const field = formatPath(fieldOf(path, 'type'));
  const isEmpty = type === undefined || type === '';
  if (source['x-kubernetes-embedded-resource'] === true && type !== 'object') {
    const detail = 'must be object if x-kubernetes-embedded-resource is true';
    add(isEmpty ? required(field, detail) : invalid(field, type, detail));
  } else if (isEmpty) {
    const free = source['x-kubernetes-int-or-string'] === true || source['x-kubernetes-preserve-unknown-fields'] === true;
    if (!free) add(required(field, emptyType[level]));
  } else if (level === 'root' && type !== 'object') {
    add(invalid(field, type, 'must be object at the root'));
  }
}

function checkFlags({ source, path }: Node, add: Add): void {
  const at = (name: string): string => formatPath(fieldOf(path, name));
  if (source['x-kubernetes-int-or-string'] === true) {
    for (const flag of ['x-kubernetes-preserve-unknown-fields', 'x-kubernetes-embedded-resource']) {
      if (source[flag] === true) add(invalid(at(flag), true, 'must be false if x-kubernetes-int-or-string is true'));
    }
  }
  if (source['x-kubernetes-embedded-resource'] !== true) return;
  if (source['additionalProperties'] !== undefined) {
    add(forbidden(at('additionalProperties'), 'must not be used if x-kubernetes-embedded-resource is set'));
  }
  if (source['x-kubernetes-preserve-unknown-fields'] !== true && !isJsonObject(source['properties'])) {
    const detail = 'must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields';
    add(required(at('properties'), detail));
  }
}

function checkResourceFields({ source, path, level }: Node, add: Add): void {
  if (level !== 'root' && source['x-kubernetes-embedded-resource'] !== true) return;
  const properties = isJsonObject(source['properties']) ? source['properties'] : {};
  for (const [name, type] of [
    ['kind', 'string'],
    ['apiVersion', 'string'],
    ['metadata', 'object'],
  ] as const) {
    const property = properties[name];
    const at = entryOf(fieldOf(path, 'properties'), name);
    if (isJsonObject(property) && property['type'] !== type) {
      add(invalid(formatPath(fieldOf(at, 'type')), property['type'] ?? '', `must be ${type}`));
    }
  }
  if (level === 'root') checkRootMetadata(properties['metadata'], entryOf(fieldOf(path, 'properties'), 'metadata'), add);
}

function checkRootMetadata(metadata: Json | undefined, path: FieldPath, add: Add): void {
  if (!isJsonObject(metadata)) return;
  const names = Object.keys(isJsonObject(metadata['properties']) ? metadata['properties'] : {});
  const others = Object.keys(metadata).filter((key) => !['type', 'properties', 'description'].includes(key));
  if (others.length === 0 && names.every((name) => name === 'name' || name === 'generateName')) return;
  const detail = 'must not specify anything other than name and generateName, but metadata is implicitly specified';
  add(forbidden(formatPath(path), detail));
}

function checkPattern(source: JsonObject, path: FieldPath, add: Add): void {
  const pattern = source['pattern'];
  if (typeof pattern !== 'string' || toRegExp(pattern) !== undefined) return;
  add(invalid(formatPath(fieldOf(path, 'pattern')), pattern, "must be a valid regular expression, but isn't"));
}

const intOrString: Json = [{ type: 'integer' }, { type: 'string' }];

/** Checks what is below `anyOf` and the like; `anyOf: [{type: integer}, {type: string}]` alone may name types. */
function checkAlternatives(source: JsonObject, path: FieldPath, add: Add): void {
  const isException = (index: number): boolean => index === 0 && source['x-kubernetes-int-or-string'] === true;
  if (source['x-kubernetes-int-or-string'] !== true || !jsonEqual(source['anyOf'], intOrString)) {
    checkEach(source['anyOf'], fieldOf(path, 'anyOf'), (nested, at) => checkNested(nested, at, add));
  }
  checkEach(source['allOf'], fieldOf(path, 'allOf'), (nested, at, index) => {
    const exempt = isException(index) && jsonEqual(nested['anyOf'], intOrString);
    checkNested(exempt ? without(nested, 'anyOf') : nested, at, add);
  });
  checkEach(source['oneOf'], fieldOf(path, 'oneOf'), (nested, at) => checkNested(nested, at, add));
  if (isJsonObject(source['not'])) checkNested(source['not'], fieldOf(path, 'not'), add);
}

function checkEach(
  list: Json | undefined,
  path: FieldPath,
  check: (nested: JsonObject, at: FieldPath, index: number) => void,
): void {
  if (!isJsonArray(list)) return;
  for (const [index, nested] of list.entries()) {
    if (isJsonObject(nested)) check(nested, entryOf(path, index), index);
  }
}

function without(object: JsonObject, key: string): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([name]) => name !== key));
}

const notNested: readonly (readonly [key: string, detail: string])[] = [
  ['type', 'must be empty to be structural'],
  ['additionalProperties', 'must be undefined to be structural'],
  ['default', 'must be undefined to be structural'],
  ['title', 'must be empty to be structural'],
  ['description', 'must be empty to be structural'],
  ['nullable', 'must be false to be structural'],
  ['externalDocs', 'must be undefined to be structural'],
  ['x-kubernetes-preserve-unknown-fields', 'must be false to be structural'],
  ['x-kubernetes-embedded-resource', 'must be false to be structural'],
  ['x-kubernetes-int-or-string', 'must be false to be structural'],
  ['x-kubernetes-list-map-keys', 'must be empty to be structural'],
  ['x-kubernetes-list-type', 'must be undefined to be structural'],
  ['x-kubernetes-map-type', 'must be undefined to be structural'],
  ['x-kubernetes-validations', 'must be empty to be structural'],
];

function checkNested(nested: JsonObject, path: FieldPath, add: Add): void {
  for (const [key, detail] of notNested) {
    if (nested[key] !== undefined && nested[key] !== false) add(forbidden(formatPath(fieldOf(path, key)), detail));
  }
  checkPattern(nested, path, add);
  checkAlternatives(nested, path, add);
  if (isJsonObject(nested['items'])) checkNested(nested['items'], fieldOf(path, 'items'), add);
  const properties = isJsonObject(nested['properties']) ? nested['properties'] : {};
  for (const [name, property] of Object.entries(properties)) {
    const at = entryOf(fieldOf(path, 'properties'), name);
    if (isJsonObject(property)) checkNested(property, at, add);
    if (name === 'metadata') add(forbidden(formatPath(at), 'must not be specified in a nested context'));
  }
}
