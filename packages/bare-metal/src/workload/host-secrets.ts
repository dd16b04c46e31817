/** The Secrets by which the agents of a ClusterAgent identify themselves to management controllers. */

import { compareText, isBeingDeleted, type KubernetesObject, readText } from '@vmdhcp/kube-runtime';
import { clusterAgentOf } from '../check/host-endpoint-problems.js';

export interface HostSecretReference {
  readonly namespace: string;
  readonly name: string;
  /** The object that names it: the ClusterAgent, or a HostEndpoint. */
  readonly of: KubernetesObject;
  /** The field that names it, from the object's root. */
  readonly path: readonly string[];
}

/**
 * The Secrets that each ClusterAgent and its HostEndpoints name, by ClusterAgent. An object that names half a Secret names none.
 */
export function hostSecretsOf(
  clusterAgents: readonly KubernetesObject[],
  endpoints: readonly KubernetesObject[],
): ReadonlyMap<string, readonly HostSecretReference[]> {
  const names = clusterAgents.map(({ metadata }) => metadata.name);
  const secrets = new Map(clusterAgents.map((one) => [one.metadata.name, secretAt(one, ['spec', 'endpoint'])]));
  for (const endpoint of endpoints) {
    const agent = isBeingDeleted(endpoint) ? undefined : clusterAgentOf(endpoint, names);
    if (agent !== undefined) secrets.get(agent)?.push(...secretAt(endpoint, ['spec']));
  }
  return secrets;
}

/** The Secrets that agents may read, each once, as names by namespace. @param mayRead - called with `namespace/name`. */
export function namesByNamespace(
  secrets: readonly HostSecretReference[],
  mayRead: (key: string) => boolean,
): ReadonlyMap<string, readonly string[]> {
  const names = new Map<string, Set<string>>();
  for (const { namespace, name } of secrets) {
    if (!mayRead(`${namespace}/${name}`)) continue;
    names.set(namespace, (names.get(namespace) ?? new Set()).add(name));
  }
  return new Map([...names].map(([namespace, of]) => [namespace, [...of].toSorted(compareText)]));
}

function secretAt(of: KubernetesObject, path: readonly string[]): HostSecretReference[] {
  const [name, namespace] = [readText(of, ...path, 'secretName'), readText(of, ...path, 'secretNamespace')];
  return name && namespace ? [{ namespace, name, of, path: [...path, 'secretName'] }] : [];
}
