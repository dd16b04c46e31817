/**
 * What Operator Lifecycle Manager creates of a bundle: everything in one namespace, the rights of each ServiceAccount from the ClusterServiceVersion.
 *
 * Source: github.com/operator-framework/operator-lifecycle-manager at 992bb09, pkg/controller/registry/resolver/rbac.go (Roles and their names),
 * pkg/controller/operators/catalog/operator.go (further objects), pkg/controller/install/deployment.go (Deployments); of what it deletes:
 * pkg/controller/operators/olm/operator.go (the finalizer of ClusterServiceVersions).
 */
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type KubernetesObject, readField, readList, readText } from '@vmdhcp/kube-runtime';
import { readYaml } from './cluster-access.js';

const MANIFESTS_OF_BUNDLE = fileURLToPath(new URL('../../../bundle/manifests/', import.meta.url));
const WITHOUT_NAMESPACE = ['ClusterRole', 'ClusterRoleBinding', 'CustomResourceDefinition', 'PriorityClass'];
const RBAC = { apiVersion: 'rbac.authorization.k8s.io/v1' } as const;

/** The objects, in the order in which they can be created; the ClusterServiceVersion comes first. */
export function installedByOlm(namespace: string): readonly KubernetesObject[] {
  const objects = globSync('*.yaml', { cwd: MANIFESTS_OF_BUNDLE }).flatMap((file) => readYaml(join(MANIFESTS_OF_BUNDLE, file)));
  const version = objects.find(({ kind }) => kind === 'ClusterServiceVersion');
  if (version === undefined) throw new Error('the bundle has no ClusterServiceVersion');
  const further = objects.filter((one) => one !== version).map((one) => inNamespace(one, namespace));
  return [inNamespace(version, namespace), ...further, ...accountsOf(version, namespace), ...deploymentsOf(version, namespace)];
}

const RIGHTS = ['ClusterRole', 'ClusterRoleBinding', 'Role', 'RoleBinding'];

/** What stays when the ClusterServiceVersion is deleted: definitions, and the rights that are a file of the bundle, which get no owner, unlike its other objects. */
export function keptByOlm(objects: readonly KubernetesObject[]): readonly KubernetesObject[] {
  const version = objects.find(({ kind }) => kind === 'ClusterServiceVersion')?.metadata.name ?? '';
  return objects.filter(
    ({ kind = '', metadata: { name } }) =>
      kind === 'CustomResourceDefinition' || (RIGHTS.includes(kind) && !name.startsWith(`${version}-`)),
  );
}

function inNamespace(object: KubernetesObject, namespace: string): KubernetesObject {
  if (WITHOUT_NAMESPACE.includes(object.kind ?? '')) return object;
  return { ...object, metadata: { ...object.metadata, namespace } };
}

function accountsOf(version: KubernetesObject, namespace: string): KubernetesObject[] {
  const install = readField(version.spec, 'install', 'spec');
  const [own, everywhere] = [readList(install, 'permissions'), readList(install, 'clusterPermissions')];
  const accounts = new Set([...own, ...everywhere].map((one) => readText(one, 'serviceAccountName') ?? ''));
  return [
    ...[...accounts].map(
      (name): KubernetesObject => ({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { namespace, name } }),
    ),
    ...own.flatMap((permissions, at) => rolesOf(permissions, { prefix: '', name: `${version.metadata.name}-${at}`, namespace })),
    ...everywhere.flatMap((permissions, at) =>
      rolesOf(permissions, { prefix: 'Cluster', name: `${version.metadata.name}-cluster-${at}`, namespace }),
    ),
  ];
}

interface RoleNames {
  readonly prefix: '' | 'Cluster';
  readonly name: string;
  readonly namespace: string;
}

function rolesOf(permissions: unknown, { prefix, name, namespace }: RoleNames): KubernetesObject[] {
  const metadata = { name, ...(prefix === '' && { namespace }) };
  const subject = { kind: 'ServiceAccount', name: readText(permissions, 'serviceAccountName'), namespace };
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: `${prefix}Role`, name };
  const role = { ...RBAC, kind: `${prefix}Role`, metadata, rules: readList(permissions, 'rules') };
  return [role, { ...RBAC, kind: `${prefix}RoleBinding`, metadata, roleRef, subjects: [subject] }] as KubernetesObject[];
}

function deploymentsOf(version: KubernetesObject, namespace: string): KubernetesObject[] {
  return readList(version.spec, 'install', 'spec', 'deployments').map((one) => ({
    ...{ apiVersion: 'apps/v1', kind: 'Deployment' },
    metadata: {
      ...{ namespace, name: readText(one, 'name') ?? '' },
      labels: readField(one, 'label') as Readonly<Record<string, string>>,
    },
    spec: readField(one, 'spec') as Readonly<Record<string, unknown>>,
  }));
}
