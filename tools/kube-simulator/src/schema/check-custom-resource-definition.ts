import type { Cause } from '../api-error.js';
import type { Json, JsonObject } from '../api-object.js';
import { isJsonObject, jsonEqual } from '../json-equal.js';
import { listOf, objectOf, textOf } from '../json-parts.js';
import { invalid, notSupported, required } from './causes.js';
import { checkKeywords } from './check-keywords.js';
import { checkRules } from './check-rules.js';
import { checkStructural } from './check-structural.js';
import { storageVersions } from './complete-custom-resource-definition.js';
import { entryOf, type FieldPath, fieldOf, formatPath } from './field-path.js';
import { structuralSchema } from './structural-schema.js';

/** The errors in a CustomResourceDefinition, and the warnings. */
export interface CrdFindings {
  readonly causes: Cause[];
  readonly warnings: string[];
}

/** Returns the errors in a completed CustomResourceDefinition, in the order of the real server. */
export function checkCustomResourceDefinition(crd: JsonObject): CrdFindings {
  const spec = objectOf(crd['spec']);
  const schemas = schemasOf(spec).map(checkSchema);
  return {
    causes: [
      ...checkName(crd, spec),
      ...checkGroupAndScope(spec),
      ...checkVersions(spec),
      ...schemas.flatMap(({ causes }) => causes),
      ...checkNames(objectOf(spec['names'])),
      ...checkStoredVersions(crd, spec),
    ],
    warnings: [...new Set(schemas.flatMap(({ warnings }) => warnings))],
  };
}

/** Returns the fields that an update may not change: the resource's name at any time, scope and kind once the kind is served. */
export function checkCustomResourceDefinitionUpdate(crd: JsonObject, old: JsonObject): Cause[] {
  const established = conditionsOf(old).some(({ type, status }) => type === 'Established' && status === 'True');
  const fields = [...(established ? ['scope', 'names.kind'] : []), 'group', 'names.plural'];
  return fields.flatMap((field) => {
    const value = specField(crd, field);
    return jsonEqual(value, specField(old, field)) ? [] : [invalid(`spec.${field}`, value ?? '', 'field is immutable')];
  });
}

function specField(crd: JsonObject, field: string): Json | undefined {
  return field.split('.').reduce<Json | undefined>((value, name) => objectOf(value)[name], crd['spec']);
}

function conditionsOf(crd: JsonObject): JsonObject[] {
  return listOf(objectOf(crd['status'])['conditions']).map(objectOf);
}

function versionsOf(spec: JsonObject): JsonObject[] {
  return listOf(spec['versions']).map(objectOf);
}

interface SchemaAt {
  readonly source: JsonObject | undefined;
  readonly path: FieldPath;
}

/** Versions with the same schema share one, and messages name it so. */
function schemasOf(spec: JsonObject): SchemaAt[] {
  const sources = versionsOf(spec).map((version) => objectOf(version['schema'])['openAPIV3Schema']);
  const [first] = sources;
  const specPath = fieldOf(undefined, 'spec');
  if (isJsonObject(first) && sources.every((source) => jsonEqual(source, first))) {
    return [{ source: first, path: fieldOf(fieldOf(specPath, 'validation'), 'openAPIV3Schema') }];
  }
  return sources.map((source, index) => ({
    source: isJsonObject(source) ? source : undefined,
    path: fieldOf(fieldOf(entryOf(fieldOf(specPath, 'versions'), index), 'schema'), 'openAPIV3Schema'),
  }));
}

/** The status of a definition is written much more often than its schemas, which cost a lot to check. */
const checked = new WeakMap<JsonObject, { readonly at: string; readonly findings: CrdFindings }>();

function checkSchema({ source, path }: SchemaAt): CrdFindings {
  const at = formatPath(path);
  if (source === undefined) return { causes: [required(at)], warnings: [] };
  const known = checked.get(source);
  if (known?.at === at) return known.findings;
  const findings = findingsOf(source, path);
  checked.set(source, { at, findings });
  return findings;
}

function findingsOf(source: JsonObject, path: FieldPath): CrdFindings {
  const structural = checkStructural(source, path);
  const { causes, unrecognizedFormats } = checkKeywords(source, path);
  const found = [...causes, ...structural];
  return {
    // The schema defines the types in rules, so rules are not checked while the schema is wrong.
    causes: found.length > 0 ? found : checkRules(structuralSchema(source), path),
    warnings: [...unrecognizedFormats].map((format) => `unrecognized format "${format}"`),
  };
}

function checkName(crd: JsonObject, spec: JsonObject): Cause[] {
  const name = objectOf(crd['metadata'])['name'] ?? '';
  const expected = `${textOf(objectOf(spec['names'])['plural'])}.${textOf(spec['group'])}`;
  return name === expected ? [] : [invalid('metadata.name', name, 'must be spec.names.plural+"."+spec.group')];
}

const scopes = ['Cluster', 'Namespaced'];
const label = /^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/;
const labelRule =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";

function checkGroupAndScope({ group, scope }: JsonObject): Cause[] {
  const causes: Cause[] = [];
  if (typeof group !== 'string' || group === '') causes.push(required('spec.group'));
  else if (!group.includes('.')) causes.push(invalid('spec.group', group, 'should be a domain with at least one dot'));
  if (scope === undefined || scope === '') causes.push(required('spec.scope'));
  else if (!scopes.some((known) => known === scope)) causes.push(notSupported('spec.scope', scope, scopes));
  return causes;
}

function checkVersions(spec: JsonObject): Cause[] {
  const versions = versionsOf(spec);
  const names = versions.map(({ name }) => name);
  const shown = versions.map(shownVersion);
  return [
    ...versions.flatMap((version, index) => checkColumns(version, `spec.versions[${index}]`)),
    ...versions.flatMap(({ name }, index) =>
      typeof name === 'string' && label.test(name) ? [] : [invalid(`spec.versions[${index}].name`, name ?? '', labelRule)],
    ),
    ...(new Set(names).size === names.length ? [] : [invalid('spec.versions', shown, 'must contain unique version names')]),
    ...(storageVersions(spec['versions']).length === 1
      ? []
      : [invalid('spec.versions', shown, 'must have exactly one version marked as storage version')]),
  ];
}

/** A version as the real server shows it: with the names it has there, and the schema that all versions share taken out. */
function shownVersion({ name, served, storage }: JsonObject): Json {
  return {
    Name: name ?? '',
    Served: served === true,
    Storage: storage === true,
    Deprecated: false,
    DeprecationWarning: null,
    Schema: null,
    Subresources: null,
    AdditionalPrinterColumns: null,
    SelectableFields: null,
  };
}

const columnTypes = ['boolean', 'date', 'integer', 'number', 'string'];

function checkColumns(version: JsonObject, path: string): Cause[] {
  const columns = listOf(version['additionalPrinterColumns']).map(objectOf);
  return columns.flatMap((column, index) => {
    const at = `${path}.additionalPrinterColumns[${index}]`;
    const { name, type, jsonPath } = column;
    const causes: Cause[] = [];
    if (name === undefined || name === '') causes.push(required(`${at}.name`));
    if (type === undefined || type === '') causes.push(required(`${at}.type`));
    else if (!columnTypes.some((known) => known === type)) causes.push(notSupported(`${at}.type`, type, columnTypes));
    if (jsonPath === undefined || jsonPath === '') causes.push(required(`${at}.jsonPath`));
    return causes;
  });
}

function checkNames(names: JsonObject): Cause[] {
  const listed = ['shortNames', 'categories'].flatMap((field) =>
    listOf(names[field]).flatMap((word, index) => checkLabel(`spec.names.${field}[${index}]`, textOf(word))),
  );
  return [
    ...['plural', 'singular'].flatMap((field) => checkLabel(`spec.names.${field}`, textOf(names[field]))),
    ...['kind', 'listKind'].flatMap((field) => checkKind(`spec.names.${field}`, textOf(names[field]))),
    ...(textOf(names['kind']) !== '' && names['kind'] === names['listKind']
      ? [invalid('spec.names.listKind', textOf(names['listKind']), 'kind and listKind may not be the same')]
      : []),
    ...listed,
  ];
}

function checkLabel(path: string, word: string): Cause[] {
  if (word === '') return [required(path)];
  return label.test(word) ? [] : [invalid(path, word, labelRule)];
}

function checkKind(path: string, kind: string): Cause[] {
  if (kind === '') return [required(path)];
  if (label.test(kind.toLowerCase())) return [];
  return [invalid(path, kind, `may have mixed case, but should otherwise match: ${labelRule}`)];
}

function checkStoredVersions(crd: JsonObject, spec: JsonObject): Cause[] {
  const versions = listOf(objectOf(crd['status'])['storedVersions']);
  const known = versionsOf(spec).map(({ name }) => name);
  return [
    ...storageVersions(spec['versions'])
      .filter((name) => !versions.includes(name))
      .map((name) => invalid('status.storedVersions', versions, `must have the storage version ${name}`)),
    ...versions.flatMap((name, index) =>
      known.includes(name) ? [] : [invalid(`status.storedVersions[${index}]`, name, 'must appear in spec.versions')],
    ),
  ];
}
