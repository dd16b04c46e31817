import type { Cause } from '../../api-error.js';
import type { ApiObject } from '../../api-object.js';
import { section, wordOf } from '../../json-parts.js';
import { builtInType, column } from '../built-in-type.js';
import { always, anything, int32, int64, intOrString, list, map, pointer, struct, text, time } from '../go-type.js';
import { labelSelector } from '../object-meta.js';

/** Nothing evicts Pods here: a budget is stored, and limits nothing. */
export const podDisruptionBudget = builtInType({
  group: 'policy',
  version: 'v1',
  kind: 'PodDisruptionBudget',
  plural: 'poddisruptionbudgets',
  shortNames: ['pdb'],
  namespaced: true,
  hasStatus: true,
  hasGeneration: true,
  fields: {
    spec: always(
      struct('PodDisruptionBudgetSpec', {
        minAvailable: intOrString,
        selector: labelSelector,
        maxUnavailable: intOrString,
        unhealthyPodEvictionPolicy: pointer(text),
      }),
    ),
    status: always(
      struct('PodDisruptionBudgetStatus', {
        observedGeneration: int64,
        disruptedPods: map(time),
        disruptionsAllowed: always(int32),
        currentHealthy: always(int32),
        desiredHealthy: always(int32),
        expectedPods: always(int32),
        conditions: list(anything),
      }),
    ),
  },
  columns: [
    column('Min Available', 'string', (object) => numberOrNone(object, 'minAvailable')),
    column('Max Unavailable', 'string', (object) => numberOrNone(object, 'maxUnavailable')),
    column('Allowed Disruptions', 'integer', (object) => section(object, 'status')['disruptionsAllowed'] ?? 0),
  ],
  strategy: { validate },
});

function numberOrNone(object: ApiObject, field: string): string {
  return wordOf(section(object, 'spec')[field]) || 'N/A';
}

function validate(object: ApiObject): readonly Cause[] {
  const { minAvailable, maxUnavailable } = section(object, 'spec');
  const causes: Cause[] = [];
  if (minAvailable !== undefined && maxUnavailable !== undefined) {
    const message = 'Invalid value: {}: minAvailable and maxUnavailable cannot be both set';
    causes.push({ reason: 'FieldValueInvalid', message, field: 'spec' });
  }
  for (const [field, value] of Object.entries({ minAvailable, maxUnavailable })) {
    if (value === undefined || isCountOrPercentage(value)) continue;
    const why = 'must be a non-negative number, or a percentage such as "10%"';
    causes.push({
      reason: 'FieldValueInvalid',
      message: `Invalid value: ${JSON.stringify(value)}: ${why}`,
      field: `spec.${field}`,
    });
  }
  return causes;
}

function isCountOrPercentage(value: unknown): boolean {
  return typeof value === 'number' ? value >= 0 : /^([0-9]|[1-9][0-9]|100)%$/.test(String(value));
}
