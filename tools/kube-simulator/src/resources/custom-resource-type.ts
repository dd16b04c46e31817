import type { ApiObject, Json, JsonObject, ObjectMeta } from '../api-object.js';
import { jsonEqual } from '../json-equal.js';
import { section, textOf, wordOf } from '../json-parts.js';
import { sortKeys } from '../sort-keys.js';
import { age, ageColumn, nameColumn, withField, without } from './built-in-type.js';
import { decodeMetadata } from './decode-metadata.js';
import { isObject } from './go-type.js';
import { compileJsonPath } from './json-path.js';
import { customVerbs, type ResourceType, type Strategy, type Subresource, type TableColumn } from './resource-type.js';
import { schemaRules } from './schema-rules.js';

/** One version of a CustomResourceDefinition, as far as it decides how objects are served. */
export interface CustomResourceVersion extends JsonObject {
  readonly name: string;
  readonly served: boolean;
  readonly storage: boolean;
}

/** The kinds that an established CustomResourceDefinition serves, one per served version, with its accepted names. */
export function customResourceTypes(definition: ApiObject): readonly ResourceType[] {
  return versionsOf(definition)
    .filter((version) => version.served)
    .map((version) => customResourceType(definition, version));
}

function versionsOf(definition: ApiObject): readonly CustomResourceVersion[] {
  return (section(definition, 'spec')['versions'] ?? []) as readonly CustomResourceVersion[];
}

function customResourceType(definition: ApiObject, version: CustomResourceVersion): ResourceType {
  const spec = section(definition, 'spec');
  const storageVersion = versionsOf(definition).find((candidate) => candidate.storage)?.name ?? version.name;
  const group = textOf(spec['group']);
  const names = section(section(definition, 'status'), 'acceptedNames');
  const kind = textOf(names['kind']);
  const plural = textOf(names['plural']);
  const schema = section(section(version, 'schema'), 'openAPIV3Schema');
  const hasStatus = isObject(section(version, 'subresources')['status']);
  const apiVersion = `${group}/${version.name}`;
  const type: ResourceType = {
    group,
    version: version.name,
    kind,
    listKind: textOf(names['listKind']) || `${kind}List`,
    plural,
    singular: textOf(names['singular']) || kind.toLowerCase(),
    shortNames: (names['shortNames'] ?? []) as readonly string[],
    categories: (names['categories'] ?? []) as readonly string[],
    namespaced: spec['scope'] === 'Namespaced',
    verbs: customVerbs,
    subresources: hasStatus ? [statusSubresource] : [],
    custom: true,
    storage: `${group}/${plural}`,
    columns: columnsOf(version),
    selectableFields: selectableFieldsOf(version),
    hasGeneration: true,
    allowsUnconditionalUpdate: false,
    allowsCreateOnUpdate: false,
    nameRule: 'dns-subdomain',
    deletionAnswersObject: false,
    schema,
    strategy: customStrategy({ kind, version: version.name, hasStatus, schema }),
    // Versions differ only in their names.
    conversion: {
      fromStored: (object) => inVersion(object, apiVersion),
      toStored: (object) => inVersion(object, `${group}/${storageVersion}`),
    },
  };
  return type;
}

function inVersion(object: ApiObject, apiVersion: string): ApiObject {
  return object.apiVersion === apiVersion ? object : { ...object, apiVersion };
}

const statusSubresource: Subresource = { name: 'status', verbs: ['get', 'patch', 'update'] };

interface CustomVersion {
  readonly kind: string;
  readonly version: string;
  readonly hasStatus: boolean;
  readonly schema: JsonObject;
}

function customStrategy(version: CustomVersion): Strategy {
  const rules = schemaRules(version.schema);
  return {
    decode: (object) => {
      const decoded = decodeMetadata(object, version);
      const pruned = rules.prune(decoded.object);
      return { object: pruned.object, unknownFields: [...decoded.unknownFields, ...pruned.unknownFields] };
    },
    applyDefaults: rules.applyDefaults,
    prepareForCreate: (object) => (version.hasStatus ? without(object, 'status') : object),
    prepareForUpdate: (object, old) => (version.hasStatus ? withField(object, 'status', old['status']) : object),
    prepareForStatusUpdate: (object, old) =>
      withField({ ...old, metadata: statusMetadata(object, old) }, 'status', object['status']),
    warnings: () => [],
    validate: rules.validate,
    completeCauses: rules.completeCauses,
    movesGeneration: (object, old) => !jsonEqual(contentOf(object, version.hasStatus), contentOf(old, version.hasStatus)),
    canonical: (object, old) => sortKeys(object, old),
  };
}

/** Only what the server itself keeps may differ from the old metadata. */
function statusMetadata(object: ApiObject, old: ApiObject): ObjectMeta {
  const { managedFields, resourceVersion } = object.metadata;
  return {
    ...old.metadata,
    ...(managedFields === undefined ? {} : { managedFields }),
    ...(resourceVersion === undefined ? {} : { resourceVersion: resourceVersion as string }),
  };
}

/** The part that counts as the spec: everything except metadata, and except status if it is a subresource. */
function contentOf(object: ApiObject, hasStatus: boolean): Json {
  const { metadata: _metadata, ...content } = object;
  return hasStatus ? without(content as ApiObject, 'status') : content;
}

function columnsOf(version: CustomResourceVersion): readonly TableColumn[] {
  const defined = version['additionalPrinterColumns'];
  if (!Array.isArray(defined) || defined.length === 0) return [nameColumn, ageColumn];
  return [nameColumn, ...(defined as readonly JsonObject[]).map(toColumn)];
}

function toColumn(defined: JsonObject): TableColumn {
  const path = textOf(defined['jsonPath']);
  const type = textOf(defined['type']);
  const find = compileJsonPath(path);
  return {
    name: textOf(defined['name']),
    type,
    format: typeof defined['format'] === 'string' ? defined['format'] : '',
    description:
      typeof defined['description'] === 'string' && defined['description'] !== ''
        ? defined['description']
        : `Custom resource definition column (in JSONPath format): ${path}`,
    priority: typeof defined['priority'] === 'number' ? defined['priority'] : 0,
    cell: (object) => toCell(type, find(object)),
  };
}

/** The types of columns, and how they show a value. Values of another type are not shown. */
const cells: Readonly<Record<string, (value: Json) => Json>> = {
  integer: (value) => (typeof value === 'number' ? Math.trunc(value) : null),
  number: (value) => (typeof value === 'number' ? value : null),
  boolean: (value) => (typeof value === 'boolean' ? value : null),
  date: age,
};
const textCell = (value: Json): Json => (typeof value === 'string' ? value : JSON.stringify(value));

function toCell(type: string, value: Json | undefined): Json {
  if (value === undefined || value === null) return null;
  return (cells[type] ?? textCell)(value);
}

function selectableFieldsOf(version: CustomResourceVersion): ResourceType['selectableFields'] {
  const fields = (version['selectableFields'] ?? []) as readonly JsonObject[];
  return Object.fromEntries(
    fields.map((field) => {
      const path = textOf(field['jsonPath']);
      const find = compileJsonPath(path);
      return [path.replace(/^\./, ''), (object: ApiObject) => wordOf(find(object))];
    }),
  );
}
