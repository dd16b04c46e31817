/** What Harvester's vm-dhcp-controller is in a cluster: its chart's objects, its webhook's registration, its agents' pods. */
import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { readField, readText } from '@vmdhcp/kube-runtime';

export const UPSTREAM_NAMESPACE = 'harvester-system';
/** The name of its Deployment, its Helm release and its add-on. */
export const UPSTREAM_NAME = 'harvester-vm-dhcp-controller';
const ACCOUNT = `${UPSTREAM_NAME}-agent`;
const AGENT_LABEL = 'network.harvesterhci.io/vm-dhcp-controller';

/** The Deployment of a component, with the labels of the chart. */
function deployment(component: 'controller' | 'webhook'): KubernetesObject {
  const name = component === 'controller' ? UPSTREAM_NAME : `${UPSTREAM_NAME}-webhook`;
  const selected = { 'app.kubernetes.io/name': name, 'app.kubernetes.io/instance': UPSTREAM_NAME };
  const labels = {
    ...selected,
    'helm.sh/chart': `${UPSTREAM_NAME}-1.6.0`,
    'app.kubernetes.io/managed-by': 'Helm',
    'app.kubernetes.io/component': component,
  };
  const args = component === 'controller' ? ['--name', name, '--namespace', UPSTREAM_NAMESPACE, '--image', 'agent:v1.6'] : [];
  const containers = [{ name, image: `rancher/${name}:v1.6`, args }];
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { namespace: UPSTREAM_NAMESPACE, name, labels },
    spec: { replicas: 1, selector: { matchLabels: selected }, template: { metadata: { labels }, spec: { containers } } },
  };
}

/** Everything that its chart installs, as far as a migration meets it. */
export function upstreamChart(): KubernetesObject[] {
  const account: KubernetesObject = {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { namespace: UPSTREAM_NAMESPACE, name: ACCOUNT },
  };
  return [account, deployment('controller'), deployment('webhook')];
}

/** What its webhook registers: nothing answers there. */
export function upstreamRegistration(): KubernetesObject[] {
  const rules = [
    {
      operations: ['CREATE', 'UPDATE', 'DELETE'],
      apiGroups: ['network.harvesterhci.io'],
      apiVersions: ['v1alpha1'],
      resources: ['ippools', 'virtualmachinenetworkconfigs'],
      scope: '*',
    },
  ];
  const webhook = (path: string, failurePolicy: string) => ({
    name: `${path}.network.harvesterhci.io`,
    clientConfig: { service: { namespace: UPSTREAM_NAMESPACE, name: `${UPSTREAM_NAME}-webhook`, path: `/v1/webhook/${path}` } },
    rules,
    failurePolicy,
    sideEffects: 'None',
    admissionReviewVersions: ['v1', 'v1beta1'],
    timeoutSeconds: 1,
  });
  const apiVersion = 'admissionregistration.k8s.io/v1';
  const metadata = { name: `${UPSTREAM_NAME}-webhook` };
  return [
    { apiVersion, kind: 'ValidatingWebhookConfiguration', metadata, ...{ webhooks: [webhook('validation', 'Fail')] } },
    { apiVersion, kind: 'MutatingWebhookConfiguration', metadata, ...{ webhooks: [webhook('mutation', 'Ignore')] } },
  ];
}

/** The add-on by which Harvester installs the chart, and its kind. */
export function addOnDefinition(): KubernetesObject {
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'addons.harvesterhci.io' },
    spec: {
      group: 'harvesterhci.io',
      scope: 'Namespaced',
      names: { kind: 'Addon', listKind: 'AddonList', plural: 'addons', singular: 'addon' },
      versions: [{ name: 'v1beta1', served: true, storage: true, schema }],
    },
  };
}

export function upstreamAddOn(): KubernetesObject {
  return {
    apiVersion: 'harvesterhci.io/v1beta1',
    kind: 'Addon',
    metadata: { namespace: UPSTREAM_NAMESPACE, name: UPSTREAM_NAME },
    spec: { enabled: true, repo: 'https://charts.example.com', chart: UPSTREAM_NAME, version: '1.6.0', valuesContent: '' },
  };
}

/** The pod by which its controller serves a pool: bare, and with the interface eth1. */
export function upstreamAgentPod(pool: KubernetesObject): KubernetesObject {
  const { namespace = '', name } = pool.metadata;
  const [networkNamespace = '', networkName = ''] = (readText(pool.spec, 'networkName') ?? '').split('/', 2);
  const networks = [{ namespace: networkNamespace, name: networkName, interface: 'eth1' }];
  const labels = {
    [AGENT_LABEL]: 'agent',
    'network.harvesterhci.io/ippool-namespace': namespace,
    'network.harvesterhci.io/ippool-name': name,
  };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      namespace: UPSTREAM_NAMESPACE,
      name: `${namespace}-${name}-agent`,
      labels,
      annotations: { 'k8s.v1.cni.cncf.io/networks': JSON.stringify(networks) },
    },
    spec: {
      serviceAccountName: ACCOUNT,
      terminationGracePeriodSeconds: 30,
      containers: [{ name: 'agent', image: 'agent:v1.6', args: ['--ippool-ref', `${namespace}/${name}`] }],
    },
  };
}

/** The pool that such a pod serves; undefined for any other pod. */
export function poolOfUpstreamPod({ metadata }: Pick<KubernetesObject, 'metadata'>): string | undefined {
  const labels: Readonly<Record<string, string>> = metadata.labels ?? {};
  const [namespace, name] = ['namespace', 'name'].map((part) => labels[`network.harvesterhci.io/ippool-${part}`]);
  const isBare = readField(metadata, 'ownerReferences') === undefined;
  return isBare && namespace !== undefined && name !== undefined ? `${namespace}/${name}` : undefined;
}
