/** What the API server must know about the webhook: which requests to send, where to, and what happens without a response. */
import { GROUP, VERSION, WOL_GROUP, WOL_VERSION } from '@vmdhcp/ippool-api';
import { BARE_METAL_GROUP, BARE_METAL_VERSION } from '@vmdhcp/ippool-api/bare-metal';
import type { ApiResource, KubernetesObject, OwnerReference } from '@vmdhcp/kube-runtime';
import { ADMISSION_PATHS, type AdmissionPath } from './admission-server.js';

/** Parts of the product whose kinds the cluster has. */
export interface WebhookFeatures {
  readonly wakeOnLan: boolean;
  readonly bareMetal: boolean;
}

export interface RegistrationSettings extends WebhookFeatures {
  /** The name of both configurations, and of the Service. */
  readonly name: string;
  /** The namespace of the Service. */
  readonly namespace: string;
  /** PEM; undefined if cert-manager writes it. */
  readonly trusted: string | undefined;
  /** `namespace/name` of a Certificate of cert-manager. */
  readonly injectFrom: string | undefined;
  /** The owner, with which they are deleted; undefined if not known. */
  readonly owner?: OwnerReference | undefined;
}

/** The labels of everything that the webhook writes into the cluster. */
export const WEBHOOK_LABELS = { 'app.kubernetes.io/managed-by': 'vmdhcp-controller', 'app.kubernetes.io/component': 'webhook' };
const INJECT_ANNOTATION = 'cert-manager.io/inject-ca-from';
const REGISTRATION = { group: 'admissionregistration.k8s.io', version: 'v1', namespaced: false } as const;

/** The prefix of user names of ServiceAccounts in this namespace. */
export function serviceAccountsOf(namespace: string): string {
  return `system:serviceaccount:${namespace}:`;
}

/** The API paths of the configurations. */
export const RegistrationResource = {
  MutatingWebhookConfiguration: { ...REGISTRATION, plural: 'mutatingwebhookconfigurations' },
  ValidatingWebhookConfiguration: { ...REGISTRATION, plural: 'validatingwebhookconfigurations' },
} as const satisfies Readonly<Record<string, ApiResource>>;

const CLUSTER_ROLE = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole' } as const;
/**
 * The only object of the chart's webhook that is cluster-scoped, so it can own the configurations: they are deleted with the
 * release.
 */
export const OwnerResource: ApiResource = {
  ...{ group: 'rbac.authorization.k8s.io', version: 'v1', plural: 'clusterroles' },
  namespaced: false,
};

/** The reference to a ClusterRole that was read; undefined if there is none. */
export function toRegistrationOwner(role: KubernetesObject | undefined): OwnerReference | undefined {
  const { name, uid } = role?.metadata ?? {};
  return name === undefined || uid === undefined ? undefined : { ...CLUSTER_ROLE, name, uid };
}

export type RegistrationKind = keyof typeof RegistrationResource;

/** How long a user's request may wait for the webhook. */
const TIMEOUT_SECONDS = 5;

interface Rule {
  readonly name: string;
  readonly path: AdmissionPath;
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly scope: 'Namespaced' | 'Cluster';
  readonly operations: readonly string[];
  /**
   * What happens without a response. `Fail`: a wrong IPPool is immutable, and harms all machines on its network. `Ignore`:
   * virtual machines are created and started whatever happens to the webhook, and their problems are reported by conditions and
   * Events.
   */
  readonly failurePolicy: 'Fail' | 'Ignore';
  /**
   * CEL expressions, all of which must be true. Requests that do not concern us are not even sent. `NAMESPACE` is that of the
   * webhook.
   */
  readonly conditions: Readonly<Record<string, string>>;
}

const CHANGED = 'request.operation != "UPDATE" || object.spec != oldObject.spec';
const POOLS = { group: GROUP, version: VERSION, plural: 'ippools', scope: 'Namespaced' } as const;

const DEFAULTING: Rule = {
  name: 'defaults.ippools.network.harvesterhci.io',
  path: 'defaulting',
  ...POOLS,
  operations: ['CREATE', 'UPDATE'],
  failurePolicy: 'Fail',
  // Finalizers and labels can be changed whether or not the webhook works.
  conditions: { 'spec-is-new': CHANGED },
};

const VALIDATION: readonly Rule[] = [
  {
    name: 'ippools.network.harvesterhci.io',
    path: 'validation',
    ...POOLS,
    operations: ['CREATE', 'UPDATE', 'DELETE'],
    failurePolicy: 'Fail',
    conditions: { 'spec-is-new': CHANGED },
  },
  {
    name: 'virtualmachinenetworkconfigs.network.harvesterhci.io',
    path: 'validation',
    ...POOLS,
    plural: 'virtualmachinenetworkconfigs',
    operations: ['CREATE', 'UPDATE'],
    failurePolicy: 'Ignore',
    conditions: {
      'spec-is-new': CHANGED,
      // Anyone can write that a virtual machine owns a config: only the controller does so for those that it keeps.
      'not-of-the-controller': `!request.userInfo.username.startsWith("${serviceAccountsOf('NAMESPACE')}") || !has(object.metadata.ownerReferences) || !object.metadata.ownerReferences.exists(owner, owner.kind == "VirtualMachine")`,
    },
  },
  {
    name: 'virtualmachines.network.harvesterhci.io',
    path: 'validation',
    group: 'kubevirt.io',
    version: 'v1',
    plural: 'virtualmachines',
    scope: 'Namespaced',
    operations: ['CREATE', 'UPDATE'],
    failurePolicy: 'Ignore',
    conditions: {
      'spec-or-annotations-are-new':
        'request.operation != "UPDATE" || object.spec != oldObject.spec || (has(object.metadata.annotations) ? object.metadata.annotations : {}) != (has(oldObject.metadata.annotations) ? oldObject.metadata.annotations : {})',
      'has-a-multus-network':
        'has(object.spec.template.spec.networks) && object.spec.template.spec.networks.exists(network, has(network.multus))',
    },
  },
];

/** Without a response, their conditions and Events report problems. */
function featureRule(group: string, version: string, plural: string): Rule {
  const specs = 'has(object.spec) != has(oldObject.spec) || (has(object.spec) && object.spec != oldObject.spec)';
  return {
    name: `${plural}.${group}`,
    path: 'validation',
    ...{ group, version, plural, scope: 'Cluster' },
    operations: ['CREATE', 'UPDATE'],
    failurePolicy: 'Ignore',
    conditions: { 'spec-is-new': `request.operation != "UPDATE" || ${specs}` },
  };
}

const WAKE_ON_LAN = [featureRule(WOL_GROUP, WOL_VERSION, 'wolconfigs')];
const BARE_METAL = ['clusteragents', 'hostendpoints', 'hostoperations'].map((plural) =>
  featureRule(BARE_METAL_GROUP, BARE_METAL_VERSION, plural),
);

/** Both configurations. They list all fields of each webhook, because a list is replaced as a whole. */
export function toWebhookConfigurations(settings: RegistrationSettings): readonly KubernetesObject[] {
  const { name, injectFrom, owner, wakeOnLan, bareMetal } = settings;
  const metadata = {
    ...{ name, labels: WEBHOOK_LABELS },
    ...(injectFrom && { annotations: { [INJECT_ANNOTATION]: injectFrom } }),
    ...(owner && { ownerReferences: [owner] }),
  };
  const apiVersion = 'admissionregistration.k8s.io/v1';
  const defaulting = { ...toWebhook(DEFAULTING, settings), reinvocationPolicy: 'IfNeeded' };
  const rules = [...VALIDATION, ...(wakeOnLan ? WAKE_ON_LAN : []), ...(bareMetal ? BARE_METAL : [])];
  const validating = rules.map((rule) => toWebhook(rule, settings));
  return [
    { apiVersion, kind: 'MutatingWebhookConfiguration', metadata, webhooks: [defaulting] },
    { apiVersion, kind: 'ValidatingWebhookConfiguration', metadata, webhooks: validating },
  ] as unknown as readonly KubernetesObject[];
}

function toWebhook(rule: Rule, { name, namespace, trusted }: RegistrationSettings): Readonly<Record<string, unknown>> {
  const { group, version, plural, scope, operations, failurePolicy, conditions } = rule;
  return {
    name: rule.name,
    clientConfig: {
      service: { namespace, name, path: ADMISSION_PATHS[rule.path], port: 443 },
      ...(trusted !== undefined && { caBundle: Buffer.from(trusted).toString('base64') }),
    },
    rules: [{ operations, apiGroups: [group], apiVersions: [version], resources: [plural], scope }],
    failurePolicy,
    matchPolicy: 'Equivalent',
    namespaceSelector: {},
    objectSelector: {},
    sideEffects: 'None',
    timeoutSeconds: TIMEOUT_SECONDS,
    admissionReviewVersions: ['v1'],
    matchConditions: Object.entries(conditions).map(([key, expression]) => ({
      name: key,
      expression: expression.replaceAll('NAMESPACE', namespace),
    })),
  };
}
