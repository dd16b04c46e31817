/** Finds errors in a PodSpec: names, images, pull policies, ports, variables, mounts, the spread of replicas. */

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
    ...spreadCauses(spec, path),
    ...mountCauses(spec, path),
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
  return [...causes, ...portCauses(container, path), ...variableCauses(container, path)];
}

function portCauses(container: JsonObject, path: string): readonly Cause[] {
  return objectsOf(container['ports']).flatMap(({ containerPort: port, name }, index): Cause[] => {
    const field = `${path}.ports[${index}]`;
    const isNamed = typeof name !== 'string' || /^(?=.{1,15}$)(?=.*[a-z])[a-z0-9]+(-[a-z0-9]+)*$/.test(name);
    return [
      ...(isPort(port) ? [] : [invalid(`${field}.containerPort`, port, 'must be between 1 and 65535, inclusive')]),
      ...(isNamed ? [] : [invalid(`${field}.name`, name, 'must be at most 15 lower case letters, digits and single dashes')]),
    ];
  });
}

function variableCauses(container: JsonObject, path: string): readonly Cause[] {
  return objectsOf(container['env']).flatMap(({ name, value, valueFrom }, index): Cause[] => {
    const field = `${path}.env[${index}]`;
    const isTwice = typeof value === 'string' && value !== '' && isObject(valueFrom);
    return [
      ...((name ?? '') === '' ? [required(`${field}.name`)] : []),
      ...(isTwice ? [invalid(`${field}.valueFrom`, '', 'may not be specified when `value` is not empty')] : []),
    ];
  });
}

function mountCauses(spec: JsonObject, path: string): readonly Cause[] {
  const volumes = new Set(objectsOf(spec['volumes']).map(({ name }) => name));
  return objectsOf(spec['containers']).flatMap((container, index) =>
    objectsOf(container['volumeMounts']).flatMap(({ name, mountPath }, position): Cause[] => {
      const field = `${path}.containers[${index}].volumeMounts[${position}]`;
      return [
        ...(volumes.has(name)
          ? []
          : [{ reason: 'FieldValueNotFound', message: `Not found: ${JSON.stringify(name ?? '')}`, field: `${field}.name` }]),
        ...((mountPath ?? '') === '' ? [required(`${field}.mountPath`)] : []),
      ];
    }),
  );
}

function spreadCauses(spec: JsonObject, path: string): readonly Cause[] {
  return objectsOf(spec['topologySpreadConstraints']).flatMap(({ maxSkew, topologyKey, whenUnsatisfiable }, index): Cause[] => {
    const field = `${path}.topologySpreadConstraints[${index}]`;
    const isKnown = whenUnsatisfiable === 'DoNotSchedule' || whenUnsatisfiable === 'ScheduleAnyway';
    return [
      ...(typeof maxSkew === 'number' && maxSkew > 0 ? [] : [invalid(`${field}.maxSkew`, maxSkew, 'must be greater than zero')]),
      ...((topologyKey ?? '') === '' ? [required(`${field}.topologyKey`)] : []),
      ...(isKnown
        ? []
        : [
            {
              reason: 'FieldValueNotSupported',
              message: `Unsupported value: ${JSON.stringify(whenUnsatisfiable ?? '')}: supported values: "DoNotSchedule", "ScheduleAnyway"`,
              field: `${field}.whenUnsatisfiable`,
            },
          ]),
    ];
  });
}

const isPort = (port: Json | undefined): boolean => typeof port === 'number' && port >= 1 && port <= 65_535;

function invalid(field: string, value: Json | undefined, why: string): Cause {
  return { reason: 'FieldValueInvalid', message: `Invalid value: ${JSON.stringify(value ?? null)}: ${why}`, field };
}

function probeCauses(probe: Json | undefined, path: string): readonly Cause[] {
  if (!isObject(probe)) return [];
  return ['httpGet', 'tcpSocket'].flatMap((kind) => {
    const action = probe[kind];
    const port = isObject(action) ? action['port'] : undefined;
    if (typeof port !== 'number' || isPort(port)) return [];
    return [invalid(`${path}.${kind}.port`, port, 'must be between 1 and 65535, inclusive')];
  });
}
