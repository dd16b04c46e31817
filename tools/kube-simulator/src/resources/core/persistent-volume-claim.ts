import type { Cause } from '../../api-error.js';
import type { ApiObject } from '../../api-object.js';
import { jsonEqual } from '../../json-equal.js';
import { section, textOf } from '../../json-parts.js';
import { builtInType, column, withField } from '../built-in-type.js';
import { always, anything, list, map, pointer, quantity, struct, text } from '../go-type.js';

/** There is no provisioner: a claim stays Pending. */
export const persistentVolumeClaim = builtInType({
  group: '',
  version: 'v1',
  kind: 'PersistentVolumeClaim',
  plural: 'persistentvolumeclaims',
  shortNames: ['pvc'],
  namespaced: true,
  hasStatus: true,
  fields: {
    spec: always(
      struct('PersistentVolumeClaimSpec', {
        accessModes: list(text),
        selector: anything,
        resources: always(struct('VolumeResourceRequirements', { limits: map(quantity), requests: map(quantity) })),
        volumeName: text,
        storageClassName: pointer(text),
        volumeMode: pointer(text),
        dataSource: anything,
        dataSourceRef: anything,
      }),
    ),
    status: always(
      struct('PersistentVolumeClaimStatus', {
        phase: text,
        accessModes: list(text),
        capacity: map(quantity),
        conditions: list(anything),
      }),
    ),
  },
  columns: [
    column('Status', 'string', (object) => textOf(section(object, 'status')['phase'])),
    column('Volume', 'string', (object) => textOf(section(object, 'spec')['volumeName'])),
    column('StorageClass', 'string', (object) => textOf(section(object, 'spec')['storageClassName'])),
  ],
  strategy: {
    applyDefaults: (object) => withField(object, 'spec', { volumeMode: 'Filesystem', ...section(object, 'spec') }),
    prepareForCreate: (object) => withField(object, 'status', { phase: 'Pending' }),
    validate: claimCauses,
  },
});

/** Source: Kubernetes, pkg/apis/core/validation `ValidatePersistentVolumeClaimUpdate`, without resizing. */
function claimCauses(object: ApiObject, old: ApiObject | undefined): readonly Cause[] {
  const field = 'spec';
  if (old === undefined || jsonEqual(section(object, field), section(old, field))) return [];
  const message =
    'Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims';
  return [{ reason: 'FieldValueForbidden', message, field }];
}
