/** The leftovers of Harvester's vm-dhcp-controller after a migration: what its chart installed. */

import { Resource } from '@vmdhcp/ippool-api/resources';
import { type ApiResource, describeCount, type KubernetesObject, keyOf } from '@vmdhcp/kube-runtime';
import { type ApiConnection, ApiObjectClient } from '@vmdhcp/kube-runtime/node';
import { CommandError, ExitCode } from '@vmdhcp/service-process';
import { listIfServed } from '../cluster/list-if-served.js';
import { isOfUpstreamChart, UPSTREAM_CHART } from '../migration-plan/upstream-objects.js';

const RBAC = { group: 'rbac.authorization.k8s.io', version: 'v1' };
const SELECTOR = `app.kubernetes.io/name in (${UPSTREAM_CHART},${UPSTREAM_CHART}-webhook)`;
/** In the order in which they are deleted. */
const RESOURCES: readonly ApiResource[] = [
  Resource.deployments,
  { group: '', version: 'v1', plural: 'services', namespaced: true },
  Resource.roleBindings,
  Resource.roles,
  { ...RBAC, plural: 'clusterrolebindings', namespaced: false },
  { ...RBAC, plural: 'clusterroles', namespaced: false },
  Resource.serviceAccounts,
];

export interface Leftovers {
  /** True for objects of a Helm release, or of an add-on, which is also one: Helm deletes them. */
  readonly ofHelm: readonly KubernetesObject[];
  readonly others: readonly LeftObject[];
}

interface LeftObject {
  readonly resource: ApiResource;
  readonly object: KubernetesObject;
}

/** Finds what an earlier migration left behind. */
export async function findLeftovers(connection: ApiConnection): Promise<Leftovers> {
  const found = await Promise.all(
    RESOURCES.map(async (resource) => {
      const client = new ApiObjectClient<KubernetesObject>(connection, { ...resource, labelSelector: SELECTOR });
      return (await listIfServed(client)).filter(isOfUpstreamChart).map((object) => ({ resource, object }));
    }),
  );
  const all = found.flat();
  return {
    ofHelm: all.filter(({ object }) => isOfHelm(object)).map(({ object }) => object),
    others: all.filter(({ object }) => !isOfHelm(object)),
  };
}

/** Deletes what Helm does not. @throws CommandError if the API server refuses. */
export async function removeLeftovers(
  connection: ApiConnection,
  { others }: Leftovers,
  onRemoved: (what: string) => void,
): Promise<void> {
  for (const { resource, object } of others) {
    const client = new ApiObjectClient<KubernetesObject>(connection, resource);
    const result = await client.delete(keyOf(object), object.metadata.uid ?? '');
    if (!result.ok && result.reason !== 'not-found')
      throw new CommandError(`${object.kind} ${keyOf(object)}: ${result.message}`, ExitCode.failed);
    onRemoved(`${object.kind} ${keyOf(object)}`);
  }
}

/** Says, for people, what is left and what removes it. */
export function describeLeftovers({ ofHelm, others }: Leftovers): string[] {
  const releases = new Set(ofHelm.map(releaseOf));
  const helm = [...releases].map(
    (command) =>
      `left of Harvester's chart: ${describeCount(ofHelm.filter((one) => releaseOf(one) === command).length, 'object')}; ${command}`,
  );
  const rest = others.map(
    ({ object }) => `left of Harvester's controller: ${object.kind} ${keyOf(object)}; --remove-leftovers deletes it`,
  );
  return [...helm, ...rest];
}

function isOfHelm({ metadata }: KubernetesObject): boolean {
  return metadata.labels?.['app.kubernetes.io/managed-by'] === 'Helm';
}

function releaseOf({ metadata }: KubernetesObject): string {
  const { annotations = {}, labels = {} } = metadata;
  const name = annotations['meta.helm.sh/release-name'] ?? labels['app.kubernetes.io/instance'] ?? UPSTREAM_CHART;
  const namespace = annotations['meta.helm.sh/release-namespace'] ?? metadata.namespace ?? 'harvester-system';
  return `Harvester removes them with the add-on; otherwise run: helm uninstall -n ${namespace} ${name}`;
}
