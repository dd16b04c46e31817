/** Kinds that are stored much as they are sent. */

import type { Cause } from '../../api-error.js';
import type { ApiObject, JsonObject } from '../../api-object.js';
import { objectsOf, section, textOf } from '../../json-parts.js';
import { builtInType, column, withField } from '../built-in-type.js';
import { always, anything, flag, int32, list, map, pointer, quantity, struct, text, time } from '../go-type.js';
import { checkWebhooks } from './check-webhook-configuration.js';
import { completeWebhooks, type Webhook } from './webhook-configuration.js';

export const node = builtInType({
  group: '',
  version: 'v1',
  kind: 'Node',
  plural: 'nodes',
  shortNames: ['no'],
  namespaced: false,
  hasStatus: true,
  fields: {
    spec: always(
      struct('NodeSpec', {
        podCIDR: text,
        podCIDRs: list(text),
        providerID: text,
        unschedulable: flag,
        taints: list(anything),
      }),
    ),
    status: always(
      struct('NodeStatus', {
        capacity: map(quantity),
        allocatable: map(quantity),
        phase: text,
        conditions: list(
          struct('NodeCondition', {
            type: always(text),
            status: always(text),
            lastHeartbeatTime: always(time),
            lastTransitionTime: always(time),
            reason: text,
            message: text,
          }),
        ),
        addresses: list(anything),
        daemonEndpoints: always(
          struct('NodeDaemonEndpoints', { kubeletEndpoint: always(struct('DaemonEndpoint', { Port: always(int32) })) }),
        ),
        nodeInfo: always(
          struct('NodeSystemInfo', {
            machineID: always(text),
            systemUUID: always(text),
            bootID: always(text),
            kernelVersion: always(text),
            osImage: always(text),
            containerRuntimeVersion: always(text),
            kubeletVersion: always(text),
            kubeProxyVersion: always(text),
            operatingSystem: always(text),
            architecture: always(text),
          }),
        ),
        images: list(anything),
        volumesInUse: list(text),
        volumesAttached: list(anything),
        config: anything,
        runtimeHandlers: list(anything),
        features: anything,
      }),
    ),
  },
  columns: [
    column('Status', 'string', (object) => nodeReadiness(object)),
    column('Roles', 'string', (object) => nodeRoles(object)),
  ],
  selectableFields: { 'spec.unschedulable': (object) => String(section(object, 'spec')['unschedulable'] === true) },
  strategy: { prepareForCreate: withNotReadyTaint },
});

/** A Node runs no Pods before its kubelet has reported that it is ready. */
function withNotReadyTaint(object: ApiObject): ApiObject {
  const spec = section(object, 'spec');
  const taint = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' };
  return withField(object, 'spec', { ...spec, taints: [...objectsOf(spec['taints']), taint] });
}

function nodeReadiness(object: ApiObject): string {
  const ready = objectsOf(section(object, 'status')['conditions']).find((condition) => condition['type'] === 'Ready');
  const state = ready === undefined ? 'Unknown' : ready['status'] === 'True' ? 'Ready' : 'NotReady';
  return section(object, 'spec')['unschedulable'] === true ? `${state},SchedulingDisabled` : state;
}

function nodeRoles(object: ApiObject): string {
  const prefix = 'node-role.kubernetes.io/';
  const roles = Object.keys(section(object.metadata, 'labels')).filter((label) => label.startsWith(prefix));
  return roles.length === 0 ? '<none>' : roles.map((label) => label.slice(prefix.length)).join(',');
}

const rule = struct('PolicyRule', {
  verbs: always(list(text)),
  apiGroups: list(text),
  resources: list(text),
  resourceNames: list(text),
  nonResourceURLs: list(text),
});
const subject = struct('Subject', { kind: always(text), apiGroup: text, name: always(text), namespace: text });
const roleRef = struct('RoleRef', { apiGroup: always(text), kind: always(text), name: always(text) });
const rbac = { group: 'rbac.authorization.k8s.io', version: 'v1', nameRule: 'path-segment' as const };
const rbacGroup = rbac.group;

function withSubjectGroups(object: ApiObject): ApiObject {
  const subjects = objectsOf(object['subjects']).map((one) =>
    one['kind'] === 'ServiceAccount' ? one : { ...one, apiGroup: one['apiGroup'] ?? rbacGroup },
  );
  const reference = { ...section(object, 'roleRef') };
  const withRef = withField(object, 'roleRef', { ...reference, apiGroup: reference['apiGroup'] || rbacGroup });
  return subjects.length === 0 ? withRef : withField(withRef, 'subjects', subjects);
}

function roleRefCauses(object: ApiObject, old: ApiObject | undefined): readonly Cause[] {
  const reference = section(object, 'roleRef');
  const before = old === undefined ? reference : section(old, 'roleRef');
  if (reference['kind'] === before['kind'] && reference['name'] === before['name']) return [];
  return [
    {
      reason: 'FieldValueInvalid',
      message: `Invalid value: ${JSON.stringify(inGo(reference))}: cannot change roleRef`,
      field: 'roleRef',
    },
  ];
}

/** Messages show values with Go's names of the fields. */
const inGo = ({ apiGroup, kind, name }: JsonObject) => ({ APIGroup: apiGroup, Kind: kind, Name: name });

const createdAt = column('Created At', 'date', (object) => object.metadata['creationTimestamp'] ?? '');
const roleName = column('Role', 'string', (object) => {
  const reference = section(object, 'roleRef');
  return `${textOf(reference['kind'])}/${textOf(reference['name'])}`;
});

export const role = builtInType({
  ...rbac,
  kind: 'Role',
  plural: 'roles',
  namespaced: true,
  fields: { rules: always(list(rule)) },
  isAgeless: true,
  columns: [createdAt],
});
export const clusterRole = builtInType({
  ...rbac,
  kind: 'ClusterRole',
  plural: 'clusterroles',
  namespaced: false,
  fields: { rules: always(list(rule)), aggregationRule: anything },
  isAgeless: true,
  columns: [createdAt],
});
const binding = { fields: { subjects: list(subject), roleRef: always(roleRef) }, columns: [roleName] };
const bindingStrategy = { applyDefaults: withSubjectGroups, validate: roleRefCauses };
export const roleBinding = builtInType({
  ...rbac,
  ...binding,
  kind: 'RoleBinding',
  plural: 'rolebindings',
  namespaced: true,
  strategy: bindingStrategy,
});
export const clusterRoleBinding = builtInType({
  ...rbac,
  ...binding,
  kind: 'ClusterRoleBinding',
  plural: 'clusterrolebindings',
  namespaced: false,
  strategy: bindingStrategy,
});

const webhookShape = (kind: string) =>
  struct(kind, {
    name: always(text),
    clientConfig: always(struct('WebhookClientConfig', { url: pointer(text), service: anything, caBundle: anything })),
    rules: list(anything),
    failurePolicy: pointer(text),
    matchPolicy: pointer(text),
    namespaceSelector: anything,
    objectSelector: anything,
    sideEffects: pointer(text),
    timeoutSeconds: pointer(int32),
    admissionReviewVersions: always(list(text)),
    ...(kind === 'MutatingWebhook' ? { reinvocationPolicy: pointer(text) } : {}),
    matchConditions: list(anything),
  });

const webhooksOf = (object: ApiObject): readonly Webhook[] => objectsOf(object['webhooks']) as readonly Webhook[];

const webhookStrategy = {
  applyDefaults: (object: ApiObject) => withField(object, 'webhooks', completeWebhooks(object.kind, webhooksOf(object))),
  validate: (object: ApiObject) => checkWebhooks(webhooksOf(object)),
  movesGeneration: (object: ApiObject, old: ApiObject) => JSON.stringify(object['webhooks']) !== JSON.stringify(old['webhooks']),
};

const webhooksCell = column('Webhooks', 'integer', (object) => objectsOf(object['webhooks']).length);
const admissionGroup = { group: 'admissionregistration.k8s.io', version: 'v1', namespaced: false, hasGeneration: true };

export const mutatingWebhookConfiguration = builtInType({
  ...admissionGroup,
  kind: 'MutatingWebhookConfiguration',
  plural: 'mutatingwebhookconfigurations',
  categories: ['api-extensions'],
  fields: { webhooks: list(webhookShape('MutatingWebhook')) },
  columns: [webhooksCell],
  strategy: webhookStrategy,
});
export const validatingWebhookConfiguration = builtInType({
  ...admissionGroup,
  kind: 'ValidatingWebhookConfiguration',
  plural: 'validatingwebhookconfigurations',
  categories: ['api-extensions'],
  fields: { webhooks: list(webhookShape('ValidatingWebhook')) },
  columns: [webhooksCell],
  strategy: webhookStrategy,
});

export const validatingAdmissionPolicy = builtInType({
  ...admissionGroup,
  kind: 'ValidatingAdmissionPolicy',
  plural: 'validatingadmissionpolicies',
  categories: ['api-extensions'],
  fields: { spec: always(anything), status: anything },
});
export const validatingAdmissionPolicyBinding = builtInType({
  ...admissionGroup,
  kind: 'ValidatingAdmissionPolicyBinding',
  plural: 'validatingadmissionpolicybindings',
  categories: ['api-extensions'],
  fields: { spec: anything },
});

export const priorityClass = builtInType({
  group: 'scheduling.k8s.io',
  version: 'v1',
  kind: 'PriorityClass',
  plural: 'priorityclasses',
  shortNames: ['pc'],
  namespaced: false,
  hasGeneration: true,
  fields: { value: always(int32), globalDefault: flag, description: text, preemptionPolicy: pointer(text) },
  columns: [
    column('Value', 'integer', (object) => object['value'] ?? 0),
    column('Global-Default', 'boolean', (object) => object['globalDefault'] ?? false),
  ],
  strategy: {
    applyDefaults: (object) => ({ preemptionPolicy: 'PreemptLowerPriority', ...object }),
    movesGeneration: () => false,
  },
});

export const controllerRevision = builtInType({
  group: 'apps',
  version: 'v1',
  kind: 'ControllerRevision',
  plural: 'controllerrevisions',
  namespaced: true,
  fields: { data: anything, revision: always(int32) },
  columns: [column('Revision', 'integer', (object) => object['revision'] ?? 0)],
});
