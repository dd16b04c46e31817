/** The mistakes in a PodSpec that are found: names, images, pull policies, probe ports. */

import type { Cause } from '../../api-error.js';
import type { Json, JsonObject } from '../../api-object.js';
import { objectsOf } from '../../json-parts.js';
import { isObject } from '../go-type.js';

const required = (field: string): Cause => ({ reason: 'FieldValueRequired', message: 'Required value', field });

export function podSpecCauses(spec: JsonObject, path: string): readonly Cause[] {
  const containers = objectsOf(spec['containers']);
  const missing = containers.length === 0 ? [required(`${path}.containers`)] : [];
  return [
    ...missing,
    ...containers.flatMap((container, index) => containerCauses(container, `${path}.containers[${index}]`)),
    ...objectsOf(spec['initContainers']).flatMap((container, index) =>
      containerCauses(container, `${path}.initContainers[${index}]`),
    ),
  ];
}

function containerCauses(container: JsonObject, path: string): readonly Cause[] {
  const causes: Cause[] = [];
  if ((container['name'] ?? '') === '') causes.push(required(`${path}.name`));
  if ((container['image'] ?? '') === '') causes.push(required(`${path}.image`));
  const policy = container['imagePullPolicy'];
  if (typeof policy === 'string' && !['Always', 'IfNotPresent', 'Never'].includes(policy)) {
    causes.push({
      reason: 'FieldValueNotSupported',
      message: `Unsupported value: ${JSON.stringify(policy)}: supported values: "Always", "IfNotPresent", "Never"`,
      field: `${path}.imagePullPolicy`,
    });
  }
  for (const probe of ['livenessProbe', 'readinessProbe', 'startupProbe'])
    causes.push(...probeCauses(container[probe], `${path}.${probe}`));
  return causes;
}

function probeCauses(probe: Json | undefined, path: string): readonly Cause[] {
  if (!isObject(probe)) return [];
  return ['httpGet', 'tcpSocket'].flatMap((kind) => {
    const action = probe[kind];
    const port = isObject(action) ? action['port'] : undefined;
    if (typeof port !== 'number' || (port >= 1 && port <= 65_535)) return [];
    const message = `Invalid value: ${port}: must be between 1 and 65535, inclusive`;
    return [{ reason: 'FieldValueInvalid', message, field: `${path}.${kind}.port` }];
  });
}
