import type { Cause } from '../api-error.js';
import { ApiError } from '../api-error.js';
import type { ApiObject, Json, ObjectMeta } from '../api-object.js';
import { badRequest } from '../failures.js';
import { humanDuration } from '../human-duration.js';
import { jsonEqual } from '../json-equal.js';
import { decodeGo, type GoStruct, type GoType, struct } from './go-type.js';
import { objectMeta } from './object-meta.js';
import { allVerbs, apiVersionOf, type ResourceType, type Strategy, type Subresource, type TableColumn } from './resource-type.js';

interface BuiltIn
  extends Partial<
    Pick<
      ResourceType,
      | 'categories'
      | 'shortNames'
      | 'verbs'
      | 'storage'
      | 'selectableFields'
      | 'hasGeneration'
      | 'allowsUnconditionalUpdate'
      | 'allowsCreateOnUpdate'
      | 'nameRule'
      | 'gracePeriodSeconds'
      | 'holdsItself'
      | 'markForDeletion'
      | 'deletionAnswersObject'
      | 'connect'
      | 'conversion'
      | 'reportedGroup'
    >
  > {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
  /** The fields besides metadata, including `spec` and `status` if the kind has them. */
  readonly fields: Readonly<Record<string, GoType>>;
  readonly hasStatus?: boolean;
  readonly subresources?: readonly Subresource[];
  /** The columns between Name and Age. */
  readonly columns?: readonly TableColumn[];
  /** The columns after Age; shown by `-o wide`. */
  readonly wideColumns?: readonly TableColumn[];
  /** No column Age. */
  readonly isAgeless?: boolean;
  /** Every column, if even Name is not the first. */
  readonly allColumns?: readonly TableColumn[];
  readonly strategy?: Partial<Strategy>;
}

const statusSubresource: Subresource = { name: 'status', verbs: ['get', 'patch', 'update'] };

/** A built-in kind of every API server. */
export function builtInType(definition: BuiltIn): ResourceType {
  const shape = struct(definition.kind, { metadata: objectMeta, ...definition.fields });
  const singular = definition.kind.toLowerCase();
  return {
    listKind: `${definition.kind}List`,
    singular,
    shortNames: [],
    categories: [],
    verbs: allVerbs,
    custom: false,
    storage: `${definition.group}/${definition.plural}`,
    selectableFields: {},
    hasGeneration: false,
    allowsUnconditionalUpdate: true,
    allowsCreateOnUpdate: false,
    nameRule: 'dns-subdomain',
    deletionAnswersObject: false,
    ...definition,
    subresources: [...(definition.hasStatus === true ? [statusSubresource] : []), ...(definition.subresources ?? [])].toSorted(
      (left, right) => (left.name < right.name ? -1 : 1),
    ),
    columns: definition.allColumns ?? [
      nameColumn,
      ...(definition.columns ?? []),
      ...(definition.isAgeless === true ? [] : [ageColumn]),
      ...(definition.wideColumns ?? []),
    ],
    strategy: { ...builtInStrategy(definition, shape), ...definition.strategy },
  };
}

function builtInStrategy(definition: BuiltIn, shape: GoStruct): Strategy {
  const decode = decoderOf(definition, shape);
  return {
    decode,
    applyDefaults: (object) => object,
    prepareForCreate: (object) => (definition.hasStatus === true ? without(object, 'status') : object),
    prepareForUpdate: (object, old) => (definition.hasStatus === true ? withField(object, 'status', old['status']) : object),
    prepareForStatusUpdate: statusUpdate,
    warnings: () => [],
    validate: () => [] as readonly Cause[],
    completeCauses: (causes) => causes,
    movesGeneration: (object, old) => !jsonEqual(object['spec'], old['spec']),
    // Decoding puts everything in order and writes what is always written.
    canonical: (object) => decode(object).object,
  };
}

function decoderOf(definition: BuiltIn, shape: GoStruct): Strategy['decode'] {
  const apiVersion = apiVersionOf(definition);
  return (object) => {
    try {
      const { kind: _kind, apiVersion: _apiVersion, ...content } = object;
      const decoded = decodeGo(shape, content);
      const metadata = (decoded.value['metadata'] ?? {}) as ObjectMeta;
      return {
        object: { kind: definition.kind, apiVersion, ...decoded.value, metadata } as ApiObject,
        unknownFields: decoded.unknownFields,
      };
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      throw badRequest(
        `${definition.kind} in version "${definition.version}" cannot be handled as a ${definition.kind}: ${error.message}`,
      );
    }
  };
}

/** Spec and labels belong to the main resource; the rest of metadata is written by both. */
function statusUpdate(object: ApiObject, old: ApiObject): ApiObject {
  const { labels: _labels, ...metadata } = object.metadata;
  const labels = old.metadata['labels'];
  return withField({ ...object, metadata: labels === undefined ? metadata : { ...metadata, labels } }, 'spec', old['spec']);
}

export function withField(object: ApiObject, field: string, value: Json | undefined): ApiObject {
  return value === undefined ? without(object, field) : { ...object, [field]: value };
}

export function without(object: ApiObject, field: string): ApiObject {
  const { [field]: _dropped, ...rest } = object;
  return rest as ApiObject;
}

const nameDescription =
  'Name must be unique within a namespace. Is required when creating resources, although some resources may allow a client to request the generation of an appropriate name automatically. Name is primarily intended for creation idempotence and configuration definition. Cannot be updated. More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names';
const ageDescription =
  'CreationTimestamp is a timestamp representing the server time when this object was created. It is not guaranteed to be set in happens-before order across separate operations. Clients may not set this value. It is represented in RFC3339 form and is in UTC.\n\nPopulated by the system. Read-only. Null for lists. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata';

export const nameColumn: TableColumn = {
  name: 'Name',
  type: 'string',
  format: 'name',
  description: nameDescription,
  priority: 0,
  cell: (object) => object.metadata.name ?? '',
};

export const ageColumn: TableColumn = {
  name: 'Age',
  type: 'string',
  format: '',
  description: ageDescription,
  priority: 0,
  cell: (object) => age(object.metadata['creationTimestamp']),
};

/** A column of a built-in kind. */
export function column(name: string, type: string, cell: (object: ApiObject) => Json): TableColumn {
  return { name, type, format: '', description: '', priority: 0, cell };
}

/** A column that is shown by `-o wide` only. */
export function wideColumn(name: string, type: string, cell: (object: ApiObject) => Json): TableColumn {
  return { ...column(name, type, cell), priority: 1 };
}

/** How long ago, as kubectl shows it: `5s`, `3m2s`, `2d`. */
export function age(timestamp: Json | undefined): string {
  if (typeof timestamp !== 'string') return '<unknown>';
  return humanDuration(Date.now() - Date.parse(timestamp));
}
