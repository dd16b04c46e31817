/** apps/v1: Deployment, ReplicaSet, DaemonSet. */

import type { Cause } from '../../api-error.js';
import type { ApiObject, Json, JsonObject } from '../../api-object.js';
import { jsonEqual } from '../../json-equal.js';
import { numberOf, section, textOf } from '../../json-parts.js';
import { annotationCauses } from '../annotation-causes.js';
import { builtInType, column, withField } from '../built-in-type.js';
import { always, anything, int32, int64, intOrString, list, pointer, struct, text, time } from '../go-type.js';
import { labelSelector } from '../object-meta.js';
import type { Subresource } from '../resource-type.js';
import { defaultPodSpec } from './pod-defaults.js';
import { podTemplateSpec } from './pod-spec.js';
import { podSpecCauses } from './pod-validation.js';

const specOf = (object: ApiObject): JsonObject => section(object, 'spec');
const statusOf = (object: ApiObject): JsonObject => section(object, 'status');

const condition = (name: string) =>
  struct(name, {
    type: always(text),
    status: always(text),
    lastUpdateTime: time,
    lastTransitionTime: time,
    reason: text,
    message: text,
  });

const rollingUpdate = struct('RollingUpdate', { maxUnavailable: intOrString, maxSurge: intOrString });
const strategyShape = (name: string) => always(struct(name, { type: text, rollingUpdate }));

const scale: Subresource = {
  name: 'scale',
  verbs: ['get', 'patch', 'update'],
  kind: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
  project: (object) => ({
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: scaleMetadata(object.metadata),
    spec: { replicas: numberOf(specOf(object)['replicas']) },
    status: { replicas: numberOf(statusOf(object)['replicas']), selector: selectorText(section(specOf(object), 'selector')) },
  }),
  apply: (object, body) =>
    withField(object, 'spec', { ...specOf(object), replicas: numberOf(section(body, 'spec')['replicas']) }),
};

function scaleMetadata({
  name,
  namespace,
  uid,
  resourceVersion,
  creationTimestamp,
}: ApiObject['metadata']): ApiObject['metadata'] {
  return {
    name: name ?? '',
    namespace: namespace ?? '',
    uid: uid ?? '',
    resourceVersion: resourceVersion ?? '',
    creationTimestamp,
  };
}

function selectorText(selector: JsonObject): string {
  return Object.entries(section(selector, 'matchLabels'))
    .map(([key, value]) => `${key}=${textOf(value)}`)
    .join(',');
}

function defaultTemplate(spec: JsonObject): JsonObject {
  const template = section(spec, 'template');
  return {
    ...spec,
    template: { ...template, metadata: section(template, 'metadata'), spec: defaultPodSpec(section(template, 'spec')) },
  };
}

function defaultStrategy(value: Json | undefined, defaults: JsonObject): JsonObject {
  const strategy = typeof value === 'object' && value !== null ? (value as JsonObject) : {};
  const type = strategy['type'] ?? 'RollingUpdate';
  if (type !== 'RollingUpdate') return { ...strategy, type };
  return { ...strategy, type, rollingUpdate: { ...defaults, ...section(strategy, 'rollingUpdate') } };
}

const invalid = (field: string, value: Json, why: string): Cause => ({
  reason: 'FieldValueInvalid',
  message: `Invalid value: ${JSON.stringify(value)}: ${why}`,
  field,
});

/** The checks of all workloads: replicas, selector, template. */
function workloadCauses(object: ApiObject, old: ApiObject | undefined): readonly Cause[] {
  const spec = specOf(object);
  const { replicas, selector } = spec;
  const causes: Cause[] = [];
  if (typeof replicas === 'number' && replicas < 0) {
    causes.push(invalid('spec.replicas', replicas, 'must be greater than or equal to 0'));
  }
  if (selector === undefined) causes.push({ reason: 'FieldValueRequired', message: 'Required value', field: 'spec.selector' });
  const metadata = section(section(spec, 'template'), 'metadata');
  const labels = section(metadata, 'labels');
  if (!matches(section(spec, 'selector'), labels)) {
    causes.push(invalid('spec.template.metadata.labels', labels, '`selector` does not match template `labels`'));
  }
  causes.push(...annotationCauses(section(metadata, 'annotations'), 'spec.template.annotations'));
  causes.push(...podSpecCauses(section(section(spec, 'template'), 'spec'), 'spec.template.spec'));
  if (causes.length === 0 && old !== undefined && !jsonEqual(selector, specOf(old)['selector'])) {
    causes.push(invalid('spec.selector', selector ?? null, 'field is immutable'));
  }
  return [...causes, ...statusCauses(object)];
}

/** An absent selector matches nothing. */
function matches(selector: JsonObject, labels: JsonObject): boolean {
  const wanted = Object.entries(section(selector, 'matchLabels'));
  if (wanted.length === 0 && selector['matchExpressions'] === undefined) return false;
  return wanted.every(([key, value]) => labels[key] === value);
}

/** Counters of a status are checked against each other. */
function statusCauses(object: ApiObject): readonly Cause[] {
  const status = statusOf(object);
  if (status['replicas'] === undefined && object.kind !== 'Deployment') return [];
  const replicas = numberOf(status['replicas']);
  const ready = numberOf(status['readyReplicas']);
  const causes: Cause[] = [];
  const atMost = (field: string, limit: number, than: string): void => {
    const value = numberOf(status[field]);
    if (value > limit) causes.push(invalid(`status.${field}`, value, `cannot be greater than ${than}`));
  };
  atMost('updatedReplicas', replicas, 'status.replicas');
  atMost('readyReplicas', replicas, 'status.replicas');
  atMost('availableReplicas', replicas, 'status.replicas');
  atMost('availableReplicas', ready, 'readyReplicas');
  return causes;
}

export const deployment = builtInType({
  group: 'apps',
  version: 'v1',
  kind: 'Deployment',
  plural: 'deployments',
  shortNames: ['deploy'],
  categories: ['all'],
  namespaced: true,
  hasStatus: true,
  hasGeneration: true,
  subresources: [scale],
  fields: {
    spec: always(
      struct('DeploymentSpec', {
        replicas: pointer(int32),
        selector: labelSelector,
        template: always(podTemplateSpec),
        strategy: strategyShape('DeploymentStrategy'),
        minReadySeconds: int32,
        revisionHistoryLimit: pointer(int32),
        paused: anything,
        progressDeadlineSeconds: pointer(int32),
      }),
    ),
    status: always(
      struct('DeploymentStatus', {
        observedGeneration: int64,
        replicas: int32,
        updatedReplicas: int32,
        readyReplicas: int32,
        availableReplicas: int32,
        unavailableReplicas: int32,
        terminatingReplicas: pointer(int32),
        conditions: list(condition('DeploymentCondition')),
        collisionCount: pointer(int32),
      }),
    ),
  },
  columns: [
    column(
      'Ready',
      'string',
      (object) => `${numberOf(statusOf(object)['readyReplicas'])}/${numberOf(specOf(object)['replicas'])}`,
    ),
    column('Up-to-date', 'string', (object) => String(numberOf(statusOf(object)['updatedReplicas']))),
    column('Available', 'string', (object) => String(numberOf(statusOf(object)['availableReplicas']))),
  ],
  strategy: {
    applyDefaults: (object) => {
      const spec = { replicas: 1, revisionHistoryLimit: 10, progressDeadlineSeconds: 600, ...defaultTemplate(specOf(object)) };
      const rolling = { maxUnavailable: '25%', maxSurge: '25%' };
      return withField(object, 'spec', { ...spec, strategy: defaultStrategy(specOf(object)['strategy'], rolling) });
    },
    validate: workloadCauses,
  },
});

export const replicaSet = builtInType({
  group: 'apps',
  version: 'v1',
  kind: 'ReplicaSet',
  plural: 'replicasets',
  shortNames: ['rs'],
  categories: ['all'],
  namespaced: true,
  hasStatus: true,
  hasGeneration: true,
  subresources: [scale],
  fields: {
    spec: always(
      struct('ReplicaSetSpec', {
        replicas: pointer(int32),
        minReadySeconds: int32,
        selector: labelSelector,
        template: podTemplateSpec,
      }),
    ),
    status: always(
      struct('ReplicaSetStatus', {
        replicas: always(int32),
        fullyLabeledReplicas: int32,
        readyReplicas: int32,
        availableReplicas: int32,
        terminatingReplicas: pointer(int32),
        observedGeneration: int64,
        conditions: list(condition('ReplicaSetCondition')),
      }),
    ),
  },
  columns: [
    column('Desired', 'integer', (object) => numberOf(specOf(object)['replicas'])),
    column('Current', 'integer', (object) => numberOf(statusOf(object)['replicas'])),
    column('Ready', 'integer', (object) => numberOf(statusOf(object)['readyReplicas'])),
  ],
  selectableFields: { 'status.replicas': (object) => String(numberOf(statusOf(object)['replicas'])) },
  strategy: {
    applyDefaults: (object) => withField(object, 'spec', { replicas: 1, ...defaultTemplate(specOf(object)) }),
    validate: workloadCauses,
  },
});

const templateGeneration = 'deprecated.daemonset.template.generation';

/** The annotation that counts the versions of the template; it changes with the generation. */
function withTemplateGeneration(object: ApiObject, generation: number): ApiObject {
  const annotations = { ...section(object.metadata, 'annotations'), [templateGeneration]: String(generation) };
  return { ...object, metadata: { ...object.metadata, annotations } };
}

export const daemonSet = builtInType({
  group: 'apps',
  version: 'v1',
  kind: 'DaemonSet',
  plural: 'daemonsets',
  shortNames: ['ds'],
  categories: ['all'],
  namespaced: true,
  hasStatus: true,
  hasGeneration: true,
  fields: {
    spec: always(
      struct('DaemonSetSpec', {
        selector: labelSelector,
        template: always(podTemplateSpec),
        updateStrategy: strategyShape('DaemonSetUpdateStrategy'),
        minReadySeconds: int32,
        revisionHistoryLimit: pointer(int32),
      }),
    ),
    status: always(
      struct('DaemonSetStatus', {
        currentNumberScheduled: always(int32),
        numberMisscheduled: always(int32),
        desiredNumberScheduled: always(int32),
        numberReady: always(int32),
        observedGeneration: int64,
        updatedNumberScheduled: int32,
        numberAvailable: int32,
        numberUnavailable: int32,
        collisionCount: pointer(int32),
        conditions: list(condition('DaemonSetCondition')),
      }),
    ),
  },
  columns: [
    column('Desired', 'integer', (object) => numberOf(statusOf(object)['desiredNumberScheduled'])),
    column('Current', 'integer', (object) => numberOf(statusOf(object)['currentNumberScheduled'])),
    column('Ready', 'integer', (object) => numberOf(statusOf(object)['numberReady'])),
    column('Up-to-date', 'integer', (object) => numberOf(statusOf(object)['updatedNumberScheduled'])),
    column('Available', 'integer', (object) => numberOf(statusOf(object)['numberAvailable'])),
    column('Node Selector', 'string', (object) => {
      const selector = Object.entries(section(section(section(specOf(object), 'template'), 'spec'), 'nodeSelector'));
      return selector.length === 0 ? '<none>' : selector.map(([key, value]) => `${key}=${textOf(value)}`).join(',');
    }),
  ],
  strategy: {
    applyDefaults: (object) => {
      const spec = { revisionHistoryLimit: 10, ...defaultTemplate(specOf(object)) };
      const rolling = { maxUnavailable: 1, maxSurge: 0 };
      return withField(object, 'spec', { ...spec, updateStrategy: defaultStrategy(specOf(object)['updateStrategy'], rolling) });
    },
    prepareForCreate: (object) => withTemplateGeneration(withField(object, 'status', {}), 1),
    prepareForUpdate: (object, old) => {
      const generation = numberOf(old.metadata['generation']);
      const moved = jsonEqual(specOf(object), specOf(old)) ? 0 : 1;
      return withTemplateGeneration(withField(object, 'status', old['status']), generation + moved);
    },
    validate: workloadCauses,
  },
});
