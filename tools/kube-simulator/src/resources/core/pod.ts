import { randomInt } from 'node:crypto';
import type { Cause } from '../../api-error.js';
import type { ApiObject, Json, JsonObject } from '../../api-object.js';
import { jsonEqual } from '../../json-equal.js';
import { objectsOf, section, textOf } from '../../json-parts.js';
import { builtInType, column, wideColumn, withField } from '../built-in-type.js';
import { formatTime } from '../go-time.js';
import { always, anything, flag, int32, int64, list, struct, text, time } from '../go-type.js';
import { defaultPodSpec } from './pod-defaults.js';
import { podSpec } from './pod-spec.js';
import { podSpecCauses } from './pod-validation.js';

const condition = struct('PodCondition', {
  type: always(text),
  observedGeneration: int64,
  status: always(text),
  lastProbeTime: always(time),
  lastTransitionTime: time,
  reason: text,
  message: text,
});
const containerStatus = struct('ContainerStatus', {
  name: always(text),
  state: anything,
  lastState: anything,
  ready: always(flag),
  restartCount: always(int32),
  image: always(text),
  imageID: always(text),
  containerID: text,
  started: anything,
  allocatedResources: anything,
  resources: anything,
  volumeMounts: list(anything),
  user: anything,
});

const podStatus = struct('PodStatus', {
  observedGeneration: int64,
  phase: text,
  conditions: list(condition),
  message: text,
  reason: text,
  nominatedNodeName: text,
  hostIP: text,
  hostIPs: list(anything),
  podIP: text,
  podIPs: list(anything),
  startTime: time,
  initContainerStatuses: list(containerStatus),
  containerStatuses: list(containerStatus),
  qosClass: text,
  ephemeralContainerStatuses: list(containerStatus),
  resize: text,
});

const specOf = (pod: ApiObject): JsonObject => section(pod, 'spec');
const statusOf = (pod: ApiObject): JsonObject => section(pod, 'status');

/** The fields that admission adds to every Pod: a priority, tolerations, and the token of its ServiceAccount. */
function prepareForCreate(pod: ApiObject): ApiObject {
  const account = textOf(specOf(pod)['serviceAccountName']) || 'default';
  const spec: JsonObject = {
    enableServiceLinks: true,
    priority: 0,
    preemptionPolicy: 'PreemptLowerPriority',
    ...specOf(pod),
    serviceAccountName: account,
    serviceAccount: account,
    tolerations: withDefaultTolerations(specOf(pod)['tolerations']),
  };
  const mounted = spec['automountServiceAccountToken'] === false ? spec : withToken(spec);
  return { ...pod, spec: defaultPodSpec(mounted), status: { phase: 'Pending', qosClass: qosClassOf(mounted) } };
}

const outOfReach = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable'];

function withDefaultTolerations(value: Json | undefined): Json {
  const tolerations = objectsOf(value);
  const missing = outOfReach.filter(
    (key) => !tolerations.some((toleration) => toleration['key'] === key && toleration['effect'] !== 'NoSchedule'),
  );
  return [...tolerations, ...missing.map((key) => ({ key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 }))];
}

const tokenPath = '/var/run/secrets/kubernetes.io/serviceaccount';
const suffixAlphabet = 'bcdfghjklmnpqrstvwxz2456789';

export function randomSuffix(): string {
  return Array.from({ length: 5 }, () => suffixAlphabet[randomInt(suffixAlphabet.length)]).join('');
}

function withToken(spec: JsonObject): JsonObject {
  const name = `kube-api-access-${randomSuffix()}`;
  const mount = (container: JsonObject): JsonObject => {
    const mounts = objectsOf(container['volumeMounts']);
    if (mounts.some((own) => own['mountPath'] === tokenPath)) return container;
    return { ...container, volumeMounts: [...mounts, { name, readOnly: true, mountPath: tokenPath }] };
  };
  const sources = [
    { serviceAccountToken: { expirationSeconds: 3607, path: 'token' } },
    { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
    { downwardAPI: { items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }] } },
  ];
  return {
    ...spec,
    volumes: [...objectsOf(spec['volumes']), { name, projected: { sources, defaultMode: 420 } }],
    containers: objectsOf(spec['containers']).map(mount),
    ...(spec['initContainers'] === undefined ? {} : { initContainers: objectsOf(spec['initContainers']).map(mount) }),
  };
}

function qosClassOf(spec: JsonObject): string {
  const resources = [...objectsOf(spec['containers']), ...objectsOf(spec['initContainers'])].map((container) =>
    section(container, 'resources'),
  );
  const amounts = (kind: string): readonly JsonObject[] => resources.map((resource) => section(resource, kind));
  if ([...amounts('limits'), ...amounts('requests')].every((amount) => Object.keys(amount).length === 0)) return 'BestEffort';
  const guaranteed = resources.every((resource) => {
    const limits = section(resource, 'limits');
    return limits['cpu'] !== undefined && limits['memory'] !== undefined && jsonEqual(limits, section(resource, 'requests'));
  });
  return guaranteed ? 'Guaranteed' : 'Burstable';
}

const withoutNode = (pod: ApiObject): JsonObject => ({ ...specOf(pod), nodeName: '' });
const mutable = ['activeDeadlineSeconds', 'tolerations', 'schedulingGates'];

/** A Pod gets its node by a binding, and keeps it. */
function validate(pod: ApiObject, old: ApiObject | undefined, subresource: string): readonly Cause[] {
  if (subresource === 'binding') return [];
  if (old === undefined) return podSpecCauses(specOf(pod), 'spec');
  return jsonEqual(fixedPart(specOf(pod)), fixedPart(specOf(old))) ? [] : [specChanged];
}

const specChanged: Cause = {
  reason: 'FieldValueForbidden',
  message:
    'Forbidden: pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)',
  field: 'spec',
};

function fixedPart(spec: JsonObject): JsonObject {
  const imageless = (value: Json | undefined): Json => objectsOf(value).map(({ image: _image, ...rest }) => rest);
  const { containers, initContainers, ...rest } = spec;
  const fixed = Object.fromEntries(Object.entries(rest).filter(([field]) => !mutable.includes(field)));
  return { ...fixed, containers: imageless(containers), initContainers: imageless(initContainers) };
}

/** A Pod without a node is removed at once; any other waits for its kubelet. */
function gracePeriodSeconds(pod: ApiObject, requested: number | undefined): number {
  const phase = statusOf(pod)['phase'];
  if ((specOf(pod)['nodeName'] ?? '') === '' || phase === 'Failed' || phase === 'Succeeded') return 0;
  const grace = requested ?? specOf(pod)['terminationGracePeriodSeconds'];
  if (typeof grace !== 'number') return 30;
  return grace < 0 ? 1 : grace;
}

/** Binds the Pod to a node, as the scheduler does. */
function bind(pod: ApiObject, binding: JsonObject): ApiObject {
  const node = section(binding, 'target')['name'];
  const now = formatTime(Date.now());
  const conditions = objectsOf(statusOf(pod)['conditions']).filter((one) => one['type'] !== 'PodScheduled');
  const scheduled = { type: 'PodScheduled', status: 'True', lastProbeTime: null, lastTransitionTime: now };
  const bound = withField(pod, 'spec', { ...specOf(pod), nodeName: node ?? '' });
  return withField(bound, 'status', { ...statusOf(pod), conditions: [...conditions, scheduled] });
}

const containerStates = (pod: ApiObject): readonly JsonObject[] => objectsOf(statusOf(pod)['containerStatuses']);

function readyCell(pod: ApiObject): string {
  const ready = containerStates(pod).filter((status) => status['ready'] === true).length;
  return `${ready}/${objectsOf(specOf(pod)['containers']).length}`;
}

function statusCell(pod: ApiObject): string {
  if (pod.metadata['deletionTimestamp'] !== undefined) return 'Terminating';
  const waiting = containerStates(pod)
    .map(
      (status) =>
        section(section(status, 'state'), 'waiting')['reason'] ?? section(section(status, 'state'), 'terminated')['reason'],
    )
    .find((reason) => reason !== undefined);
  return textOf(waiting ?? statusOf(pod)['reason'] ?? statusOf(pod)['phase']);
}

function restarts(pod: ApiObject): string {
  return String(containerStates(pod).reduce((total, status) => total + Number(status['restartCount'] ?? 0), 0));
}

const orNone = (value: Json | undefined): string => (typeof value === 'string' && value !== '' ? value : '<none>');

export const pod = builtInType({
  group: '',
  version: 'v1',
  kind: 'Pod',
  plural: 'pods',
  shortNames: ['po'],
  categories: ['all'],
  namespaced: true,
  hasStatus: true,
  hasGeneration: true,
  subresources: [
    { name: 'binding', verbs: ['create'], kind: { group: '', version: 'v1', kind: 'Binding' }, apply: bind },
    // Answered as an upgrade of the connection.
    { name: 'exec', verbs: ['create', 'get'], kind: { group: '', version: 'v1', kind: 'PodExecOptions' } },
  ],
  fields: { spec: always(podSpec), status: always(podStatus) },
  columns: [column('Ready', 'string', readyCell), column('Status', 'string', statusCell), column('Restarts', 'string', restarts)],
  wideColumns: [
    wideColumn('IP', 'string', (object) => orNone(statusOf(object)['podIP'])),
    wideColumn('Node', 'string', (object) => orNone(specOf(object)['nodeName'])),
  ],
  selectableFields: {
    'spec.nodeName': (object) => textOf(specOf(object)['nodeName']),
    'spec.restartPolicy': (object) => textOf(specOf(object)['restartPolicy']),
    'spec.schedulerName': (object) => textOf(specOf(object)['schedulerName']),
    'spec.serviceAccountName': (object) => textOf(specOf(object)['serviceAccountName']),
    'spec.hostNetwork': (object) => String(specOf(object)['hostNetwork'] === true),
    'status.phase': (object) => textOf(statusOf(object)['phase']),
    'status.podIP': (object) => textOf(statusOf(object)['podIP']),
    'status.nominatedNodeName': (object) => textOf(statusOf(object)['nominatedNodeName']),
  },
  gracePeriodSeconds,
  deletionAnswersObject: true,
  strategy: {
    applyDefaults: (object) => withField(object, 'spec', defaultPodSpec(specOf(object))),
    movesGeneration: (object, old) => !jsonEqual(withoutNode(object), withoutNode(old)),
    prepareForCreate,
    validate,
  },
});
