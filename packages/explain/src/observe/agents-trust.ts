/**
 * Decides which Leases belong to agents. A label and an annotation prove nothing: any user who may write a Lease could name a
 * leader of a pool, and the replies of that user's pod would be believed. The status of an IPPool names the namespace of its
 * agents, and only the controller writes it.
 */
import { type KubernetesObject, keyOf, readText } from '@vmdhcp/kube-runtime';

export class AgentsTrust {
  /** By `namespace/name` of the IPPool. */
  readonly #namespaces: ReadonlyMap<string, string | undefined>;
  readonly #all: ReadonlySet<string | undefined>;

  constructor(ipPools: readonly KubernetesObject[]) {
    this.#namespaces = new Map(ipPools.map((pool) => [keyOf(pool), agentsNamespaceOf(pool)]));
    this.#all = new Set(this.#namespaces.values());
  }

  /** @param pool - `namespace/name` of the IPPool; undefined: any pool. */
  hasAgents(namespace: string, pool?: string): boolean {
    return pool === undefined ? this.#all.has(namespace) : this.#namespaces.get(pool) === namespace;
  }
}

/** The namespace of the agents that serve a pool, from its status; undefined if none do. */
export function agentsNamespaceOf({ status }: KubernetesObject): string | undefined {
  return readText(status, 'agentDeploymentRef', 'namespace');
}
