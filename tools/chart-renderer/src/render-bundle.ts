/**
 * The bundle for Operator Lifecycle Manager: the chart with its default values, in the words of a ClusterServiceVersion. OLM installs everything into one
 * namespace, so agents run in that of the controller, and it creates the ServiceAccounts itself. It owns the definitions, so the controller applies none.
 * Webhooks stay registered by the program: a `webhookdefinition` has no `matchConditions`, without which a webhook that is gone would stop finalizers.
 *
 * Source: github.com/operator-framework/api, pkg/operators/v1alpha1/clusterserviceversion_types.go (commit 3048ccd); of the annotations:
 * github.com/operator-framework/operator-registry, pkg/lib/bundle/generate.go (commit 4f9d6f2).
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { toOwnedDefinitions } from './owned-definitions.js';
import { CHART, renderChart } from './render-chart.js';
import { MANIFEST_NAMESPACE } from './render-manifest.js';

export const BUNDLE_PACKAGE = 'vmdhcp';
const CHANNEL = 'stable';
const ROOT = join(CHART, '../..');
const SET = [
  `agent.namespace=${MANIFEST_NAMESPACE}`,
  'agent.createNamespace=false',
  'crds.managedBy=none',
  // The right to use constraints; OLM cannot carry these themselves.
  'openshift.enabled=true',
];
const CONTROLLER = 'vm-dhcp-controller';
/** Owns the registrations of the webhook: they go with it. OLM does not delete it, because a ClusterRole that is a file of the bundle gets no owner. */
const REGISTRATION_OWNER = 'vm-dhcp-webhook';
const LABELS_OF_HELM = ['helm.sh/chart', 'app.kubernetes.io/managed-by'];
const DEFINITIONS = ['ippools', 'virtualmachinenetworkconfigs'];

export interface BundleObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec?: unknown;
  readonly rules?: readonly object[];
  readonly roleRef?: { readonly kind: string; readonly name: string };
  readonly subjects?: readonly { readonly kind: string; readonly name: string }[];
}

interface Chart {
  readonly version: string;
  readonly description: string;
  readonly kubeVersion: string;
  readonly home: string;
  readonly keywords: readonly string[];
}

/** The files of `bundle/` by path. @throws Error if the chart has an object that OLM cannot install. */
export function renderBundle(): ReadonlyMap<string, string> {
  const objects = (renderChart({ namespace: MANIFEST_NAMESPACE, set: SET }) as unknown as readonly BundleObject[]).filter(
    ({ metadata }) => metadata.annotations?.['helm.sh/hook'] === undefined,
  );
  const annotations = toAnnotations();
  return new Map([
    [`manifests/${BUNDLE_PACKAGE}.clusterserviceversion.yaml`, toText(toClusterServiceVersion(objects))],
    ...definitions().map((one) => [`manifests/${fileOfDefinition(one)}`, toText(one)] as const),
    ...objects.flatMap(toFurtherObject).map((one) => [`manifests/${fileOf(one)}`, toText(one)] as const),
    ['metadata/annotations.yaml', toText({ annotations })],
    ['bundle.Dockerfile', toDockerfile(annotations)],
  ]);
}

function toText(value: unknown): string {
  const head = '# Written by `npm run generate` from charts/vmdhcp: change that, not this file.\n';
  return head + stringify(value, { lineWidth: 0, aliasDuplicateObjects: false });
}

function readRoot(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

function definitions(): readonly BundleObject[] {
  return DEFINITIONS.map((plural) => parse(readRoot(`charts/vmdhcp/files/crds/${plural}.yaml`)) as BundleObject);
}

function fileOfDefinition({ metadata }: BundleObject): string {
  const [plural = '', ...group] = metadata.name.split('.');
  return `${group.join('.')}_${plural}.yaml`;
}

function fileOf({ apiVersion, kind, metadata }: BundleObject): string {
  return `${metadata.name}_${apiVersion.replace('/', '_')}_${kind.toLowerCase()}.yaml`;
}

/** Kinds whose content is in the ClusterServiceVersion, and the one that an administrator applies. */
const IN_VERSION = ['Deployment', 'Role', 'RoleBinding', 'ServiceAccount', 'SecurityContextConstraints'];

/** What stands beside the ClusterServiceVersion; nothing for what it has itself. */
function toFurtherObject(object: BundleObject): BundleObject[] {
  const { kind, metadata } = object;
  if (kind === 'RoleBinding' && isForGroup(object)) return [toUseOfConstraints(object)];
  if (IN_VERSION.includes(kind)) return [];
  if (kind === 'Service' || kind === 'PodDisruptionBudget') return [inItsNamespace(object)];
  // Its rules are in the ClusterServiceVersion.
  if (kind === 'ClusterRole') return metadata.name === REGISTRATION_OWNER ? [{ ...inItsNamespace(object), rules: [] }] : [];
  if (kind === 'ClusterRoleBinding' && !isForGroup(object)) return [];
  throw new Error(
    `the bundle for OLM has no place for ${kind} ${metadata.name}: add it to render-bundle.ts, or leave it out of the chart's default`,
  );
}

function isForGroup({ subjects = [] }: BundleObject): boolean {
  return subjects.some(({ kind }) => kind === 'Group');
}

/** OLM sets the namespace. */
function inItsNamespace({ metadata: { name, labels = {} }, ...object }: BundleObject): BundleObject {
  return { ...object, metadata: { name, labels: withoutHelm(labels) } };
}

function withoutHelm(labels: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(labels).filter(([key]) => !LABELS_OF_HELM.includes(key)));
}

/**
 * The namespace of the operator is not known here, and whoever may create a pod in it may name any of its ServiceAccounts. So every ServiceAccount may
 * use the constraints in this namespace, and in no other.
 */
function toUseOfConstraints(binding: BundleObject): BundleObject {
  const subjects = [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'system:serviceaccounts' }];
  return { ...inItsNamespace(binding), subjects };
}

function toClusterServiceVersion(objects: readonly BundleObject[]): object {
  const chart = parse(readRoot('charts/vmdhcp/Chart.yaml')) as Chart;
  const images = imagesOf(objects);
  const [containerImage = ''] = Object.values(images);
  return {
    apiVersion: 'operators.coreos.com/v1alpha1',
    kind: 'ClusterServiceVersion',
    metadata: {
      name: `${BUNDLE_PACKAGE}.v${chart.version}`,
      namespace: 'placeholder',
      annotations: {
        'alm-examples': JSON.stringify(toExamples(), undefined, 2),
        capabilities: 'Seamless Upgrades',
        categories: 'Networking',
        containerImage,
        description: chart.description,
        'olm.skipRange': `<${chart.version}`,
        'operatorframework.io/suggested-namespace-template': JSON.stringify(suggestedNamespace()),
        'operators.operatorframework.io/internal-objects': '["virtualmachinenetworkconfigs.network.harvesterhci.io"]',
        repository: chart.home,
        support: 'The vmdhcp authors',
      },
    },
    spec: {
      displayName: 'DHCP for virtual machines',
      description: toDescription(chart),
      version: chart.version,
      maturity: chart.version.startsWith('0.') ? 'alpha' : 'stable',
      minKubeVersion: /\d+\.\d+\.\d+/.exec(chart.kubeVersion)?.[0],
      keywords: chart.keywords,
      links: [
        { name: 'Documentation', url: `${chart.home}/blob/main/docs/README.md` },
        { name: 'Source', url: chart.home },
      ],
      provider: { name: 'The vmdhcp authors', url: chart.home },
      icon: [
        {
          base64data: Buffer.from(readRoot('packages/status-page/page/icon.svg')).toString('base64'),
          mediatype: 'image/svg+xml',
        },
      ],
      // For all namespaces OLM would turn the permissions in this one into permissions everywhere (operatorgroup.go, ensureSingletonRBAC). What the
      // programs do in other namespaces, they do by clusterPermissions.
      installModes: ['OwnNamespace', 'SingleNamespace', 'MultiNamespace', 'AllNamespaces'].map((type) => ({
        type,
        supported: type === 'OwnNamespace',
      })),
      customresourcedefinitions: { owned: toOwnedDefinitions(definitions()) },
      install: { strategy: 'deployment', spec: toInstallation(objects) },
      relatedImages: Object.entries(images).map(([name, image]) => ({ name, image })),
    },
  };
}

function toDescription({ description, home }: Chart): string {
  return `${description}. Virtual machines get the address that their IPPool gives them, and keep it.

Each IPPool serves the network of a NetworkAttachmentDefinition, which has no IPAM of its own. [Install](${home}/blob/main/docs/install.md) has the steps
for OpenShift, where administrators apply \`manifests/vmdhcp-openshift-olm.yaml\` too, and which parts need the chart: Wake-on-LAN, bare-metal hosts, the page.
`;
}

/** Agents need capabilities that only this level admits. */
function suggestedNamespace(): object {
  const labels = { 'pod-security.kubernetes.io/enforce': 'privileged' };
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name: MANIFEST_NAMESPACE, labels } };
}

/** An object of each owned kind. */
function toExamples(): readonly object[] {
  const apiVersion = 'network.harvesterhci.io/v1alpha1';
  const networkName = 'default/net-48';
  return [
    {
      ...{ apiVersion, kind: 'IPPool' },
      metadata: { name: 'net-48', namespace: 'default' },
      spec: { networkName, ipv4Config: { cidr: '192.168.48.0/24', router: '192.168.48.1' } },
    },
    {
      ...{ apiVersion, kind: 'VirtualMachineNetworkConfig' },
      metadata: { name: 'web', namespace: 'default' },
      spec: { vmName: 'web', networkConfigs: [{ networkName, macAddress: '02:00:5e:00:48:01' }] },
    },
  ];
}

interface Container {
  readonly image: string;
  readonly env?: readonly { readonly name: string; readonly value?: string }[];
}
interface DeploymentSpec {
  readonly template: { readonly spec: { readonly containers: readonly Container[] } };
}

const containersOf = (spec: unknown) => (spec as DeploymentSpec).template.spec.containers;

/** By name; that of the controller is the first one. */
function imagesOf(objects: readonly BundleObject[]): Readonly<Record<string, string>> {
  const [controller] = objects
    .filter(({ kind, metadata }) => kind === 'Deployment' && metadata.name === CONTROLLER)
    .flatMap(({ spec }) => containersOf(spec));
  const agent = controller?.env?.find(({ name }) => name === 'AGENT_IMAGE')?.value;
  if (controller === undefined || agent === undefined)
    throw new Error('the chart names no image of the controller, or none of the agents');
  return { controller: controller.image, agent };
}

function toInstallation(objects: readonly BundleObject[]): object {
  return {
    deployments: objects
      .filter(({ kind }) => kind === 'Deployment')
      .map(({ metadata, spec }) => ({
        name: metadata.name,
        label: withoutHelm(metadata.labels ?? {}),
        spec: inOwnNamespace(spec),
      })),
    permissions: toPermissions(objects, (role) => role.kind === 'Role' && role.metadata.namespace === MANIFEST_NAMESPACE),
    // The Lease of the controllers is in kube-system, where OLM creates no Roles.
    clusterPermissions: toPermissions(
      objects,
      (role) => role.kind === 'ClusterRole' || role.metadata.namespace !== MANIFEST_NAMESPACE,
    ),
  };
}

/** Without the variable, agents run in the namespace of the controller, whatever its name is. */
function inOwnNamespace(spec: unknown): object {
  const deployment = spec as DeploymentSpec;
  const containers = containersOf(spec).map((container) => ({
    ...container,
    env: (container.env ?? []).filter(({ name }) => name !== 'AGENT_NAMESPACE'),
  }));
  const { template } = deployment;
  return { ...deployment, template: { ...template, spec: { ...template.spec, containers } } };
}

/** The rules of the Roles that are wanted, for each ServiceAccount that they are bound to. */
function toPermissions(objects: readonly BundleObject[], isWanted: (role: BundleObject) => boolean): readonly object[] {
  const rules = new Map<string, object[]>();
  const roles = objects.filter((one) => ['Role', 'ClusterRole'].includes(one.kind) && isWanted(one));
  for (const role of roles) {
    const bindings = objects.filter(
      ({ kind, metadata, roleRef }) =>
        kind === `${role.kind}Binding` && metadata.namespace === role.metadata.namespace && roleRef?.name === role.metadata.name,
    );
    const subjects = bindings.flatMap((binding) => binding.subjects ?? []).filter(({ kind }) => kind === 'ServiceAccount');
    for (const { name } of subjects) rules.set(name, [...(rules.get(name) ?? []), ...(role.rules ?? [])]);
  }
  return [...rules].map(([serviceAccountName, one]) => ({ serviceAccountName, rules: one }));
}

function toAnnotations(): Readonly<Record<string, string>> {
  const prefix = 'operators.operatorframework.io.bundle';
  return {
    [`${prefix}.mediatype.v1`]: 'registry+v1',
    [`${prefix}.manifests.v1`]: 'manifests/',
    [`${prefix}.metadata.v1`]: 'metadata/',
    [`${prefix}.package.v1`]: BUNDLE_PACKAGE,
    [`${prefix}.channels.v1`]: CHANNEL,
    [`${prefix}.channel.default.v1`]: CHANNEL,
  };
}

function toDockerfile(annotations: Readonly<Record<string, string>>): string {
  const labels = Object.entries(annotations).map(([key, value]) => `LABEL ${key}=${value}`);
  return `# Written by \`npm run generate\`: docker build -f bundle/bundle.Dockerfile bundle
FROM scratch
${labels.join('\n')}
COPY manifests /manifests/
COPY metadata /metadata/
`;
}
