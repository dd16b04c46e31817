/**
 * What the tools of OLM refuse or warn of in a bundle, as far as this one can break it.
 *
 * Sources: github.com/operator-framework/api at 3048ccd, pkg/validation/internal: bundle.go, csv.go, good_practices.go, object.go, operatorhubv2.go,
 * standardcapabilities.go, standardcategories.go; github.com/operator-framework/operator-registry at 4f9d6f2, pkg/lib/bundle: supported_resources.go,
 * validate.go; github.com/operator-framework/operator-lifecycle-manager at 992bb09, pkg/controller/operators/olm/operatorgroup.go.
 */
import { gzipSync } from 'node:zlib';
import { parse } from 'yaml';

const CAPABILITIES = ['Basic Install', 'Seamless Upgrades', 'Full Lifecycle', 'Deep Insights', 'Auto Pilot'];
const CATEGORIES =
  'AI/Machine Learning,Application Runtime,Big Data,Cloud Provider,Developer Tools,Database,Integration & Delivery,Logging & Tracing,Monitoring,Modernization & Migration,Networking,OpenShift Optional,Security,Storage,Streaming & Messaging,Observability'.split(
    ',',
  );
const KINDS =
  'ClusterServiceVersion,CustomResourceDefinition,Secret,ClusterRole,ClusterRoleBinding,ConfigMap,ServiceAccount,Service,Role,RoleBinding,PrometheusRule,ServiceMonitor,PodDisruptionBudget,PriorityClass,VerticalPodAutoscaler,ConsoleYAMLSample,ConsoleQuickStart,ConsoleCLIDownload,ConsoleLink,ConsolePlugin,NetworkPolicy,PodMonitor'.split(
    ',',
  );
const ICONS = ['image/gif', 'image/jpeg', 'image/png', 'image/svg+xml'];
const INSTALL_MODES = ['OwnNamespace', 'SingleNamespace', 'MultiNamespace', 'AllNamespaces'];
/** Modes in which OLM keeps the permissions of a namespace in that namespace. */
const OF_NAMESPACES = ['OwnNamespace', 'SingleNamespace', 'MultiNamespace'];
const SEMVER = /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z-.]+)?(\+[0-9A-Za-z-.]+)?$/;
const NAME = /^[a-z0-9]([-a-z0-9.]{0,61}[a-z0-9])?$/;
const PREFIX = 'operators.operatorframework.io.bundle.';
const MOST_BYTES = 2 ** 20;

interface Rule {
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly verbs: readonly string[];
}
interface Permissions {
  readonly serviceAccountName: string;
  readonly rules: readonly Rule[];
}
interface Described {
  readonly name: string;
  readonly version: string;
  readonly kind: string;
  readonly description?: string;
}
interface DeploymentOfVersion {
  readonly name: string;
  readonly spec: {
    readonly template: {
      readonly spec: {
        readonly serviceAccountName?: string;
        readonly containers: readonly { readonly image: string; readonly resources?: { readonly requests?: object } }[];
      };
    };
  };
}
interface Version {
  readonly metadata: { readonly name: string; readonly annotations?: Readonly<Record<string, string>> };
  readonly spec: {
    readonly version: string;
    readonly minKubeVersion?: string;
    readonly provider?: { readonly name?: string };
    readonly links?: readonly { readonly name?: string; readonly url?: string }[];
    readonly icon?: readonly { readonly base64data?: string; readonly mediatype?: string }[];
    readonly installModes?: readonly { readonly type: string; readonly supported: boolean }[];
    readonly customresourcedefinitions?: { readonly owned?: readonly Described[] };
    readonly relatedImages?: readonly { readonly name: string; readonly image: string }[];
    readonly install: {
      readonly strategy: string;
      readonly spec: {
        readonly deployments: readonly DeploymentOfVersion[];
        readonly permissions?: readonly Permissions[];
        readonly clusterPermissions?: readonly Permissions[];
      };
    };
  };
}
interface BundledObject {
  readonly apiVersion?: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly spec?: {
    readonly group?: string;
    readonly names?: { readonly kind: string };
    readonly versions?: readonly { readonly name: string }[];
    readonly maxUnavailable?: unknown;
  };
}

/** One sentence for each rule that the files break. @param files - by path inside the bundle. */
export function bundleProblems(files: ReadonlyMap<string, string>): readonly string[] {
  const objects = [...files].filter(([path]) => path.startsWith('manifests/')).map(([, text]) => parse(text) as BundledObject);
  const versions = objects.filter(({ kind }) => kind === 'ClusterServiceVersion');
  const [version] = versions as unknown as readonly Version[];
  if (version === undefined || versions.length > 1)
    return [`manifests: ${versions.length} ClusterServiceVersions; there must be one`];
  return [
    ...annotationProblems(files),
    ...objectProblems(objects, version),
    ...definitionProblems(objects, version),
    ...metadataProblems(version),
    ...presentationProblems(version),
    ...installationProblems(version),
    ...imageProblems(version),
  ];
}

/** Sentences whose condition is true. */
function broken(...rules: readonly (readonly [isBroken: boolean, sentence: string])[]): string[] {
  return rules.flatMap(([isBroken, sentence]) => (isBroken ? [sentence] : []));
}

function annotationProblems(files: ReadonlyMap<string, string>): string[] {
  const { annotations = {} } = (parse(files.get('metadata/annotations.yaml') ?? '') ?? {}) as {
    readonly annotations?: Readonly<Record<string, string>>;
  };
  const annotation = (key: string) => annotations[`${PREFIX}${key}.v1`] ?? '';
  const channels = annotation('channels').split(',');
  const labels = Object.entries(annotations).filter(
    ([key, value]) => !(files.get('bundle.Dockerfile') ?? '').includes(`LABEL ${key}=${value}\n`),
  );
  const size = gzipSync([...files.values()].join('')).length;
  return broken(
    [annotation('mediatype') !== 'registry+v1', 'annotations: mediatype must be registry+v1'],
    [annotation('manifests') !== 'manifests/', 'annotations: manifests must be manifests/'],
    [annotation('metadata') !== 'metadata/', 'annotations: metadata must be metadata/'],
    [annotation('package') === '', 'annotations: package is missing'],
    [
      !channels.every((one) => /^(candidate|fast|stable)/.test(one)),
      'annotations: channels begin with candidate, fast or stable',
    ],
    [!channels.includes(annotation('channel.default')), 'annotations: the default channel is none of the channels'],
    [labels.length > 0, 'bundle.Dockerfile: its labels are not the annotations'],
    [size > MOST_BYTES, `the bundle has ${size} octets when it is compressed; ${MOST_BYTES} are the most`],
  );
}

function objectProblems(objects: readonly BundledObject[], { spec }: Version): string[] {
  const accounts = spec.install.spec.deployments.map((one) => one.spec.template.spec.serviceAccountName);
  return objects.flatMap(({ kind, metadata, spec: fields, ...more }) =>
    broken(
      [!KINDS.includes(kind), `${kind} ${metadata.name}: OLM installs no objects of this kind`],
      [
        kind === 'ServiceAccount' && accounts.includes(metadata.name),
        `ServiceAccount ${metadata.name}: OLM creates it, because a Deployment names it`,
      ],
      [
        kind === 'PodDisruptionBudget' && [0, '0%'].includes(fields?.maxUnavailable as number),
        `PodDisruptionBudget ${metadata.name}: maxUnavailable must not be 0`,
      ],
      [
        kind !== 'ClusterServiceVersion' && metadata.namespace !== undefined,
        `${kind} ${metadata.name}: its namespace is the one that OLM installs into`,
      ],
      ...rulesOf(more).map((rule) => [changesConstraints(rule), `${kind} ${metadata.name}: it may change constraints`] as const),
    ),
  );
}

const rulesOf = (object: object) => ('rules' in object ? (object.rules as readonly Rule[]) : []);

function changesConstraints({ apiGroups = [], verbs }: Rule): boolean {
  return apiGroups.includes('security.openshift.io') && verbs.some((verb) => verb !== 'use');
}

function definitionProblems(objects: readonly BundledObject[], { metadata, spec }: Version): string[] {
  const { owned = [] } = spec.customresourcedefinitions ?? {};
  const bundled = objects
    .filter(({ kind }) => kind === 'CustomResourceDefinition')
    .flatMap((one) => (one.spec?.versions ?? []).map(({ name }) => `${one.metadata.name} ${name} ${one.spec?.names?.kind}`));
  const described = owned.map(({ name, version, kind }) => `${name} ${version} ${kind}`);
  const provided = owned.map(({ name, version, kind }) => `${name.slice(name.indexOf('.') + 1)}/${version} ${kind}`);
  const examples = readExamples(metadata.annotations?.['alm-examples']);
  return [
    ...described.filter((one) => !bundled.includes(one)).map((one) => `owned ${one}: the bundle has no such definition`),
    ...bundled.filter((one) => !described.includes(one)).map((one) => `definition ${one}: the version does not own it`),
    ...owned.filter((one) => (one.description ?? '') === '').map(({ name }) => `owned ${name}: the description is empty`),
    ...provided.filter((one) => !examples.includes(one)).map((one) => `alm-examples: there is no ${one}`),
    ...examples.filter((one) => !provided.includes(one)).map((one) => `alm-examples: ${one} is not owned`),
  ];
}

function readExamples(text = '[]'): readonly string[] {
  const examples = JSON.parse(text) as readonly { readonly apiVersion: string; readonly kind: string }[];
  return examples.map(({ apiVersion, kind }) => `${apiVersion} ${kind}`);
}

function metadataProblems({ metadata: { name, annotations = {} }, spec }: Version): string[] {
  const { capabilities = '', categories = '' } = annotations;
  const skipped = annotations['olm.skipRange'];
  return broken(
    [
      !NAME.test(name) || name.split('.v').length !== 2,
      `metadata.name: ${name} must be PACKAGE.vVERSION, of 63 characters at most`,
    ],
    [!name.endsWith(`.v${spec.version}`), `metadata.name: ${name} is not that of version ${spec.version}`],
    [!SEMVER.test(spec.version), `spec.version: ${spec.version} is not a semantic version`],
    [spec.version === '0.0.0', 'spec.version: OperatorHub takes 0.0.0 for a version that is not set'],
    [!CAPABILITIES.includes(capabilities), `capabilities: ${capabilities} is not a level`],
    [!categories.split(',').every((one) => CATEGORIES.includes(one.trim())), `categories: ${categories} is not a category`],
    [skipped !== `<${spec.version}`, `olm.skipRange: ${skipped} does not let every earlier version be upgraded`],
    ['olm.properties' in annotations, 'olm.properties belongs into metadata/properties.yaml'],
    [annotations['containerImage'] === undefined, 'containerImage is missing'],
  );
}

function presentationProblems({ spec }: Version): string[] {
  const { provider, links = [], icon = [], minKubeVersion = '' } = spec;
  const [first] = icon;
  return broken(
    [(provider?.name ?? '').trim() === '', 'spec.provider.name is missing'],
    [links.some(({ name, url }) => !name || !URL.canParse(url ?? '')), 'spec.links: each needs a name and a URL'],
    [icon.length !== 1 || !first?.base64data || !ICONS.includes(first.mediatype ?? ''), 'spec.icon: one picture is needed'],
    [!SEMVER.test(minKubeVersion), `spec.minKubeVersion: ${minKubeVersion} is not a semantic version`],
  );
}

function installationProblems({ spec: { install, installModes = [] } }: Version): string[] {
  const { deployments, permissions = [], clusterPermissions = [] } = install.spec;
  const supported = installModes.filter((one) => one.supported).map(({ type }) => type);
  const pods = deployments.map((one) => one.spec.template.spec);
  const all = [...permissions, ...clusterPermissions];
  const accounts = all.map(({ serviceAccountName }) => serviceAccountName);
  const creates = all.flatMap(({ rules }) => rules).filter(isOfDefinitions);
  return broken(
    [install.strategy !== 'deployment', 'spec.install.strategy must be deployment'],
    [deployments.length === 0, 'spec.install: there is no Deployment'],
    [
      installModes
        .map(({ type }) => type)
        .toSorted()
        .join() !== INSTALL_MODES.toSorted().join(),
      'spec.installModes: each mode must be there once',
    ],
    [supported.length === 0, 'spec.installModes: no mode is supported'],
    [
      permissions.length > 0 && supported.some((type) => !OF_NAMESPACES.includes(type)),
      'spec.installModes: with AllNamespaces OLM grants the permissions of this namespace in all namespaces',
    ],
    [
      pods.some(({ serviceAccountName = '' }) => !accounts.includes(serviceAccountName)),
      'spec.install: a Deployment has a ServiceAccount without permissions',
    ],
    [
      pods.some(({ containers }) =>
        containers.some(({ resources }) => !['cpu', 'memory'].every((key) => key in (resources?.requests ?? {}))),
      ),
      'spec.install: a container requests no processor time, or no memory',
    ],
    [creates.length > 0, 'spec.install: the definitions belong to OLM, so nobody else may create or patch them'],
    [all.flatMap(({ rules }) => rules).some(changesConstraints), 'spec.install: it may change constraints'],
  );
}

function isOfDefinitions({ apiGroups = [], verbs }: Rule): boolean {
  return apiGroups.includes('apiextensions.k8s.io') && verbs.some((verb) => !['get', 'list', 'watch'].includes(verb));
}

function imageProblems({ spec }: Version): string[] {
  const related = new Set((spec.relatedImages ?? []).map(({ image }) => image));
  const used = JSON.stringify(spec.install).match(/"[a-z0-9.-]+(:\d+)?(\/[a-z0-9._-]+)+(:[\w.-]+|@sha256:[0-9a-f]{64})"/g) ?? [];
  const images = [...new Set(used.map((one) => one.slice(1, -1)))];
  return [
    ...images.filter((one) => !related.has(one)).map((one) => `spec.relatedImages: ${one} is missing`),
    ...[...related].filter((one) => !images.includes(one)).map((one) => `spec.relatedImages: ${one} is not used`),
  ];
}
