/**
 * Which pods OpenShift admits, as far as our pods can break its rules: the pod's ServiceAccount must have the right to use constraints in the namespace of
 * the pod, and one of these must allow the whole pod.
 *
 * Source: github.com/openshift/apiserver-library-go at a8019f3, pkg/securitycontextconstraints: sccmatching/provider.go and matcher.go,
 * capabilities/mustrunas.go, user/nonroot.go, group/mustrunas.go; the order: util/sort/bypriority.go and byrestrictions.go.
 */
import { type KubernetesObject, readField, readList, readText } from '@vmdhcp/kube-runtime';
import { type Account, rightsIn } from './rights.js';

/** What OpenShift's own constraints have in common. Source: github.com/openshift/cluster-kube-apiserver-operator, bindata/bootkube/scc-manifests. */
const OF_OPENSHIFT = {
  allowedCapabilities: ['NET_BIND_SERVICE'],
  requiredDropCapabilities: ['ALL'],
  seLinuxContext: { type: 'MustRunAs' },
  allowPrivilegeEscalation: false,
  seccompProfiles: ['runtime/default'],
  volumes: ['configMap', 'csi', 'downwardAPI', 'emptyDir', 'ephemeral', 'image', 'persistentVolumeClaim', 'projected', 'secret'],
};

/** Everyone may use the first one. */
const STANDARD = [
  named('restricted-v2', { runAsUser: { type: 'MustRunAsRange' }, fsGroup: { type: 'MustRunAs' } }),
  named('nonroot-v2', { runAsUser: { type: 'MustRunAsNonRoot' }, fsGroup: { type: 'RunAsAny' } }),
];
const FOR_EVERYONE = 'restricted-v2';
/** The numbers of users of a namespace: an annotation, which OpenShift sets. */
const USERS = { first: 1_000_700_000, count: 10_000 };

function named(name: string, fields: object): KubernetesObject {
  return {
    apiVersion: 'security.openshift.io/v1',
    kind: 'SecurityContextConstraints',
    metadata: { name },
    ...OF_OPENSHIFT,
    ...fields,
  };
}

/** Admits the pods of a Deployment or DaemonSet, with the rights in these objects. @returns the constraints, or why there are none. */
export function admitOnOpenShift(
  workload: KubernetesObject,
  objects: readonly KubernetesObject[],
): { readonly by: string } | { readonly refusals: readonly string[] } {
  const pod = readField(workload.spec, 'template', 'spec');
  const { namespace = '' } = workload.metadata;
  const usable = constraintsFor(objects, { namespace, name: readText(pod, 'serviceAccountName') ?? 'default' });
  const tried = usable.map((one) => ({ name: one.metadata.name, refusals: findRefusals(pod, one) }));
  const found = tried.find(({ refusals }) => refusals.length === 0);
  if (found !== undefined) return { by: found.name };
  return { refusals: tried.flatMap(({ name, refusals }) => refusals.map((one) => `${name}: ${one}`)) };
}

/** The constraints that the ServiceAccount may use, in the order in which OpenShift tries them: the first that allows the pod wins, also if it changes the pod. */
function constraintsFor(objects: readonly KubernetesObject[], account: Account): readonly KubernetesObject[] {
  const rights = rightsIn(objects, account).filter(
    ({ verb, resource, namespace }) =>
      verb === 'use' && resource === 'securitycontextconstraints' && ['', account.namespace].includes(namespace),
  );
  const names = [FOR_EVERYONE, ...rights.map(({ name }) => name)];
  const known = [...STANDARD, ...objects.filter(({ kind }) => kind === 'SecurityContextConstraints')];
  return known.filter(({ metadata }) => names.includes(metadata.name)).toSorted(byOrderOfTrial);
}

function byOrderOfTrial(a: KubernetesObject, b: KubernetesObject): number {
  const priorityOf = (one: KubernetesObject) => Number(readField(one, 'priority') ?? 0);
  const byName = a.metadata.name < b.metadata.name ? -1 : 1;
  return priorityOf(b) - priorityOf(a) || restrictionPoints(a) - restrictionPoints(b) || byName;
}

/** More for what is less restrictive. */
const POINTS_OF_PERMISSIONS = { allowPrivilegedContainer: 1_600_000, allowHostPorts: 800_000, allowHostNetwork: 400_000 };
const POINTS_OF_STRATEGIES: Readonly<Record<string, number>> = {
  ...{ RunAsAny: 40_000, MustRunAsNonRoot: 30_000 },
  ...{ MustRunAsRange: 20_000, MustRunAs: 10_000 },
};
const TRIVIAL_VOLUMES = ['secret', 'configMap', 'emptyDir', 'downwardAPI', 'projected', 'none'];

/** How little constraints restrict, in the points of OpenShift: those with fewer are tried first. */
export function restrictionPoints(constraints: KubernetesObject): number {
  const permissions = Object.entries(POINTS_OF_PERMISSIONS).map(([field, points]) => (isTrue(constraints, field) ? points : 0));
  const strategies = ['seLinuxContext', 'runAsUser'].map(
    (field) => POINTS_OF_STRATEGIES[readText(constraints, field, 'type') ?? ''] ?? 0,
  );
  const points = [...permissions, ...strategies, pointsOfVolumes(constraints), pointsOfCapabilities(constraints)];
  return points.reduce((sum, one) => sum + one, 0);
}

function pointsOfVolumes(constraints: KubernetesObject): number {
  const volumes = readList(constraints, 'volumes').map(String);
  if (volumes.some((one) => ['hostPath', '*'].includes(one))) return 200_000;
  return volumes.every((one) => TRIVIAL_VOLUMES.includes(one)) ? 0 : 100_000;
}

function pointsOfCapabilities(constraints: KubernetesObject): number {
  const [added, allowed, dropped] = ['defaultAddCapabilities', 'allowedCapabilities', 'requiredDropCapabilities'].map((field) =>
    readList(constraints, field).map(String),
  ) as [string[], string[], string[]];
  const ofAllowed = allowed.some((one) => ['*', 'ALL'].includes(one)) ? 4_000 : 10 * allowed.length;
  const ofDropped = dropped.includes('ALL') ? -3_000 : -50 * dropped.length;
  return Math.min(9_999, Math.max(0, 5_000 + 300 * added.length + ofAllowed + ofDropped));
}

function findRefusals(pod: unknown, constraints: KubernetesObject): readonly string[] {
  return [
    ...refusalsOfPod(pod, constraints),
    ...readList(pod, 'containers').flatMap((container) => refusalsOfContainer(pod, container, constraints)),
  ];
}

function refusalsOfPod(pod: unknown, constraints: KubernetesObject): string[] {
  const volumes = typesOfVolumes(pod);
  const allowed = readList(constraints, 'volumes').map(String);
  const isAllowed = (type: string) =>
    allowed.includes(type) ||
    (type === 'projected' && allowed.includes('secret')) ||
    (type === 'hostPath' && isTrue(constraints, 'allowHostDirVolumePlugin'));
  return [
    ...['hostNetwork', 'hostPID', 'hostIPC'].filter(
      (field) => isTrue(pod, field) && !isTrue(constraints, `allowH${field.slice(1)}`),
    ),
    ...volumes.filter((type) => !isAllowed(type)).map((type) => `volume ${type}`),
    ...refusalOfGroup(readField(pod, 'securityContext', 'fsGroup'), constraints),
  ];
}

function isTrue(object: unknown, field: string): boolean {
  return readField(object, field) === true;
}

/** With that of the token, which the API server adds. */
function typesOfVolumes(pod: unknown): readonly string[] {
  const own = readList(pod, 'volumes').flatMap((volume) => Object.keys(volume as object).filter((key) => key !== 'name'));
  return readField(pod, 'automountServiceAccountToken') === false ? own : [...own, 'projected'];
}

/** Without a group, the pod gets the first one that is allowed. */
function refusalOfGroup(group: unknown, constraints: KubernetesObject): string[] {
  if (group === undefined || readText(constraints, 'fsGroup', 'type') !== 'MustRunAs') return [];
  const ranges = readList(constraints, 'fsGroup', 'ranges');
  const first = { min: USERS.first, max: USERS.first + USERS.count - 1 };
  const isIn = (ranges.length > 0 ? ranges : [first]).some(
    (range) => Number(group) >= Number(readField(range, 'min')) && Number(group) <= Number(readField(range, 'max')),
  );
  return isIn ? [] : [`fsGroup ${JSON.stringify(group)}`];
}

function refusalsOfContainer(pod: unknown, container: unknown, constraints: KubernetesObject): string[] {
  const context = { ...(readField(pod, 'securityContext') as object), ...(readField(container, 'securityContext') as object) };
  const added = readList(context, 'capabilities', 'add').map(String);
  const allowed = readList(constraints, 'allowedCapabilities').map(String);
  const hasHostPort = readList(container, 'ports').some((port) => readField(port, 'hostPort') !== undefined);
  const profile = readText(context, 'seccompProfile', 'type') ?? 'RuntimeDefault';
  return [
    ...added.filter((one) => !allowed.includes(one)).map((one) => `capability ${one}`),
    ...refusalOfUser(context, constraints),
    ...(hasHostPort && !isTrue(constraints, 'allowHostPorts') ? ['hostPort'] : []),
    ...(isTrue(context, 'privileged') ? ['privileged'] : []),
    ...(isTrue(context, 'allowPrivilegeEscalation') ? ['allowPrivilegeEscalation'] : []),
    ...(isTrue(constraints, 'readOnlyRootFilesystem') && readField(context, 'readOnlyRootFilesystem') === false
      ? ['root file system']
      : []),
    ...(readField(context, 'seLinuxOptions') === undefined ? [] : ['seLinuxOptions']),
    ...(profile === 'RuntimeDefault' ? [] : [`seccompProfile ${profile}`]),
  ];
}

function refusalOfUser(context: unknown, constraints: KubernetesObject): string[] {
  const [user, isNonRoot] = [readField(context, 'runAsUser'), readField(context, 'runAsNonRoot')];
  const rule = readText(constraints, 'runAsUser', 'type');
  const isInRange = user === undefined || (Number(user) >= USERS.first && Number(user) < USERS.first + USERS.count);
  const mayBeRoot = user === 0 || isNonRoot === false || (user === undefined && isNonRoot === undefined);
  const isRefused = (rule === 'MustRunAsRange' && !isInRange) || (rule === 'MustRunAsNonRoot' && mayBeRoot);
  return isRefused ? [`runAsUser ${JSON.stringify(user)}`] : [];
}
