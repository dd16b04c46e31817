import type { Cause } from '../../api-error.js';
import type { ApiObject, JsonObject } from '../../api-object.js';
import { section } from '../../json-parts.js';
import {
  checkCustomResourceDefinition,
  checkCustomResourceDefinitionUpdate,
} from '../../schema/check-custom-resource-definition.js';
import { completeCustomResourceDefinition } from '../../schema/complete-custom-resource-definition.js';
import { builtInType, column, withField } from '../built-in-type.js';
import { always, anything, flag, list, pointer, struct, text, time } from '../go-type.js';

const names = (kind: string) =>
  struct(kind, {
    plural: always(text),
    singular: text,
    shortNames: list(text),
    kind: always(text),
    listKind: text,
    categories: list(text),
  });

const version = struct('CustomResourceDefinitionVersion', {
  name: always(text),
  served: always(flag),
  storage: always(flag),
  deprecated: flag,
  deprecationWarning: pointer(text),
  schema: anything,
  subresources: anything,
  additionalPrinterColumns: list(anything),
  selectableFields: list(anything),
});

const condition = struct('CustomResourceDefinitionCondition', {
  type: always(text),
  status: always(text),
  lastTransitionTime: time,
  reason: text,
  message: text,
  observedGeneration: anything,
});

function validate(object: ApiObject, old: ApiObject | undefined, subresource: string): readonly Cause[] {
  if (subresource === 'status') return [];
  const { causes } = checkCustomResourceDefinition(object);
  return old === undefined ? causes : [...checkCustomResourceDefinitionUpdate(object, old), ...causes];
}

const cleanup = 'customresourcecleanup.apiextensions.k8s.io';

/** The instances are deleted first: the finalizer is removed when none is left. */
function markForDeletion(object: ApiObject, time: string): ApiObject | undefined {
  const finalizers = (object.metadata['finalizers'] ?? []) as readonly string[];
  if (object.metadata['deletionTimestamp'] !== undefined) return finalizers.length === 0 ? undefined : object;
  const status = section(object, 'status');
  const terminating = {
    type: 'Terminating',
    status: 'True',
    lastTransitionTime: time,
    reason: 'InstanceDeletionPending',
    message: 'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon',
  };
  return {
    ...object,
    metadata: {
      ...object.metadata,
      deletionTimestamp: time,
      finalizers: [...finalizers.filter((one) => one !== cleanup), cleanup],
    },
    status: { ...status, conditions: [...((status['conditions'] ?? []) as readonly JsonObject[]), terminating] },
  };
}

export const customResourceDefinition = builtInType({
  group: 'apiextensions.k8s.io',
  version: 'v1',
  kind: 'CustomResourceDefinition',
  plural: 'customresourcedefinitions',
  shortNames: ['crd', 'crds'],
  categories: ['api-extensions'],
  namespaced: false,
  hasStatus: true,
  hasGeneration: true,
  allowsUnconditionalUpdate: false,
  markForDeletion,
  fields: {
    spec: always(
      struct('CustomResourceDefinitionSpec', {
        group: always(text),
        names: always(names('CustomResourceDefinitionNames')),
        scope: always(text),
        versions: always(list(version)),
        conversion: anything,
        preserveUnknownFields: flag,
      }),
    ),
    status: always(
      struct('CustomResourceDefinitionStatus', {
        conditions: always(list(condition)),
        acceptedNames: always(names('CustomResourceDefinitionNames')),
        storedVersions: always(list(text)),
        observedGeneration: anything,
      }),
    ),
  },
  isAgeless: true,
  columns: [column('Created At', 'date', (object) => object.metadata['creationTimestamp'] ?? '')],
  strategy: {
    applyDefaults: (object) => completeCustomResourceDefinition(object),
    prepareForCreate: (object) => completeCustomResourceDefinition(withField(object, 'status', {})),
    prepareForUpdate: (object, old) => completeCustomResourceDefinition(withField(object, 'status', old['status'])),
    warnings: (object) => checkCustomResourceDefinition(object).warnings,
    validate,
  },
});
