import type { Cause } from '../../api-error.js';
import type { ApiObject } from '../../api-object.js';
import { section } from '../../json-parts.js';
import { builtInType, column } from '../built-in-type.js';
import { always, int32, microTime, pointer, struct, text } from '../go-type.js';

function validate(object: ApiObject): readonly Cause[] {
  const { leaseDurationSeconds, leaseTransitions } = section(object, 'spec');
  const causes: Cause[] = [];
  const invalid = (field: string, value: number, why: string): void => {
    causes.push({ reason: 'FieldValueInvalid', message: `Invalid value: ${value}: ${why}`, field: `spec.${field}` });
  };
  if (typeof leaseDurationSeconds === 'number' && leaseDurationSeconds <= 0) {
    invalid('leaseDurationSeconds', leaseDurationSeconds, 'must be greater than 0');
  }
  if (typeof leaseTransitions === 'number' && leaseTransitions < 0) {
    invalid('leaseTransitions', leaseTransitions, 'must be greater than or equal to 0');
  }
  return causes;
}

export const lease = builtInType({
  group: 'coordination.k8s.io',
  version: 'v1',
  kind: 'Lease',
  plural: 'leases',
  namespaced: true,
  allowsUnconditionalUpdate: false,
  allowsCreateOnUpdate: true,
  fields: {
    spec: always(
      struct('LeaseSpec', {
        holderIdentity: pointer(text),
        leaseDurationSeconds: pointer(int32),
        acquireTime: microTime,
        renewTime: microTime,
        leaseTransitions: pointer(int32),
        strategy: pointer(text),
        preferredHolder: pointer(text),
      }),
    ),
  },
  columns: [column('Holder', 'string', (object) => section(object, 'spec')['holderIdentity'] ?? '')],
  strategy: { validate },
});
