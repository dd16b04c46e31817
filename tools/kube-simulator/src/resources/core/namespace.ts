import type { ApiObject } from '../../api-object.js';
import { forbidden } from '../../failures.js';
import { section, textOf } from '../../json-parts.js';
import { builtInType, column } from '../built-in-type.js';
import { always, list, struct, text, time } from '../go-type.js';

const nameLabel = 'kubernetes.io/metadata.name';

/** The label by which a namespaceSelector selects a namespace by name. */
function withNameLabel(object: ApiObject): ApiObject {
  const { name } = object.metadata;
  if (name === undefined) return object;
  return { ...object, metadata: { ...object.metadata, labels: { ...section(object.metadata, 'labels'), [nameLabel]: name } } };
}

function prepareForCreate(object: ApiObject): ApiObject {
  return { ...object, spec: { finalizers: ['kubernetes'] }, status: { phase: 'Active' } };
}

const protectedNames = ['default', 'kube-system', 'kube-public'];

/** The controller empties the namespace first, and then removes `spec.finalizers`. */
function markForDeletion(object: ApiObject, time: string): ApiObject {
  const name = object.metadata.name ?? '';
  if (protectedNames.includes(name)) throw forbidden(namespaceNames, name, { message: 'this namespace may not be deleted' });
  if (object.metadata['deletionTimestamp'] !== undefined) return object;
  return {
    ...object,
    metadata: { ...object.metadata, deletionTimestamp: time },
    status: { ...section(object, 'status'), phase: 'Terminating' },
  };
}

const namespaceNames = { group: '', plural: 'namespaces', kind: 'Namespace' };

export const namespace = builtInType({
  group: '',
  version: 'v1',
  kind: 'Namespace',
  plural: 'namespaces',
  shortNames: ['ns'],
  namespaced: false,
  verbs: ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'],
  nameRule: 'dns-label',
  hasStatus: true,
  subresources: [{ name: 'finalize', verbs: ['update'], apply: (object, body) => ({ ...object, spec: section(body, 'spec') }) }],
  holdsItself: (object) => ((section(object, 'spec')['finalizers'] ?? []) as readonly string[]).length > 0,
  markForDeletion,
  fields: {
    spec: always(struct('NamespaceSpec', { finalizers: list(text) })),
    status: always(
      struct('NamespaceStatus', {
        phase: text,
        conditions: list(
          struct('NamespaceCondition', {
            type: always(text),
            status: always(text),
            lastTransitionTime: time,
            reason: text,
            message: text,
          }),
        ),
      }),
    ),
  },
  columns: [column('Status', 'string', (object) => section(object, 'status')['phase'] ?? '')],
  selectableFields: {
    name: (object) => object.metadata.name ?? '',
    'status.phase': (object) => textOf(section(object, 'status')['phase']),
  },
  deletionAnswersObject: true,
  strategy: {
    applyDefaults: withNameLabel,
    prepareForCreate,
    prepareForUpdate: (object, old) => ({ ...object, spec: { ...section(old, 'spec') }, status: { ...section(old, 'status') } }),
  },
});
