/** Checks single keywords of a schema that a CRD may not have, or only in some places. */
import type { Cause } from '../api-error.js';
import type { JsonObject } from '../api-object.js';
import { isJsonObject } from '../json-equal.js';
import { textOf } from '../json-parts.js';
import { applyDefaults } from './apply-defaults.js';
import { forbidden, invalid, notSupported, required } from './causes.js';
import { entryOf, type FieldPath, fieldOf, formatPath } from './field-path.js';
import { isKnownFormat } from './formats.js';
import { pruneObject } from './prune.js';
import { type StructuralSchema, structuralSchema } from './structural-schema.js';
import { validateStructure } from './validate-structure.js';

export interface KeywordFindings {
  readonly causes: Cause[];
  /** Formats that are not checked, each once. */
  readonly unrecognizedFormats: Set<string>;
}

/** Returns the errors in single keywords anywhere in the schema. */
export function checkKeywords(source: JsonObject, path: FieldPath): KeywordFindings {
  const findings: KeywordFindings = { causes: [], unrecognizedFormats: new Set() };
  checkNode(findings, structuralSchema(source), path);
  return findings;
}

function checkNode(findings: KeywordFindings, schema: StructuralSchema, path: FieldPath): void {
  checkUnsupported(findings, schema, path);
  checkFormat(findings, schema);
  checkListType(findings, schema, path);
  checkDefault(findings, schema, path);
  for (const [name, property] of schema.properties) checkNode(findings, property, entryOf(fieldOf(path, 'properties'), name));
  const additional = schema.additionalProperties;
  if (additional !== undefined && additional !== true) checkNode(findings, additional, fieldOf(path, 'additionalProperties'));
  if (schema.items !== undefined) checkNode(findings, schema.items, fieldOf(path, 'items'));
}

const unsupported = ['id', 'additionalItems', 'patternProperties', 'definitions', 'dependencies', '$ref'];
const types = ['array', 'boolean', 'integer', 'number', 'object', 'string'];

function checkUnsupported({ causes }: KeywordFindings, { source }: StructuralSchema, path: FieldPath): void {
  const at = (name: string): string => formatPath(fieldOf(path, name));
  const { type, additionalProperties, properties } = source;
  for (const key of unsupported) {
    if (source[key] !== undefined) causes.push(forbidden(at(key), `${key} is not supported`));
  }
  if (source['uniqueItems'] === true) {
    const detail = 'uniqueItems cannot be set to true since the runtime complexity becomes quadratic';
    causes.push(forbidden(at('uniqueItems'), detail));
  }
  if (additionalProperties === false) {
    causes.push(forbidden(at('additionalProperties'), 'additionalProperties cannot be set to false'));
  }
  if (isJsonObject(additionalProperties) && isJsonObject(properties)) {
    causes.push(forbidden(at('additionalProperties'), 'additionalProperties and properties are mutual exclusive'));
  }
  if (type !== undefined && type !== '' && !types.some((known) => known === type)) {
    causes.push(notSupported(at('type'), type, types));
  }
}

function checkFormat({ unrecognizedFormats }: KeywordFindings, { source }: StructuralSchema): void {
  const { type, format } = source;
  if (typeof format !== 'string' || format === '' || typeof type !== 'string') return;
  if (!isKnownFormat(type, format)) unrecognizedFormats.add(format);
}

function checkListType({ causes }: KeywordFindings, schema: StructuralSchema, path: FieldPath): void {
  const { source, listMapKeys } = schema;
  const listType = source['x-kubernetes-list-type'];
  const at = (name: string): string => formatPath(fieldOf(path, name));
  if (listType !== undefined && schema.types[0] !== 'array') {
    causes.push(invalid(at('type'), textOf(source['type']), 'must be array if x-kubernetes-list-type is specified'));
  }
  if (listType === 'map') {
    checkMapKeys({ causes, schema, path });
  } else if (listMapKeys.length > 0) {
    causes.push(
      invalid(at('x-kubernetes-list-type'), textOf(listType), 'must be map if x-kubernetes-list-map-keys is non-empty'),
    );
  }
}

interface ListMap {
  readonly causes: Cause[];
  readonly schema: StructuralSchema;
  readonly path: FieldPath;
}

function checkMapKeys(list: ListMap): void {
  const keysPath = fieldOf(list.path, 'x-kubernetes-list-map-keys');
  const { listMapKeys } = list.schema;
  if (listMapKeys.length === 0) {
    list.causes.push(required(formatPath(keysPath), 'must not be empty if x-kubernetes-list-type is map'));
  }
  for (const [index, key] of listMapKeys.entries()) checkMapKey(list, key, formatPath(entryOf(keysPath, index)));
}

function checkMapKey({ causes, schema, path }: ListMap, key: string, field: string): void {
  const property = schema.items?.properties.get(key);
  if (property === undefined) {
    causes.push(invalid(field, key, 'entries must all be names of item properties'));
    return;
  }
  if (schema.items?.required.includes(key) === true || property.default !== undefined) return;
  const at = fieldOf(entryOf(fieldOf(fieldOf(path, 'items'), 'properties'), key), 'default');
  const detail = 'this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property';
  causes.push(required(formatPath(at), detail));
}

/** A default must be pruned, defaulted and valid itself. */
function checkDefault({ causes }: KeywordFindings, schema: StructuralSchema, path: FieldPath): void {
  const value = schema.default;
  if (value === undefined) return;
  const field = formatPath(fieldOf(path, 'default'));
  if (isJsonObject(value)) {
    const { unknownFields } = pruneObject(schema.source, value);
    if (unknownFields.length > 0) causes.push(invalid(field, value, 'must not have unknown fields'));
  }
  const completed = isJsonObject(value) ? applyDefaults(schema.source, value) : value;
  causes.push(...validateStructure({ schema, value: completed, old: undefined, path: undefined }, field));
}
