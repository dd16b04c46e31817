/**
 * Which Leases are of agents. A label and an annotation are no proof: each user who may write a Lease could give a pool a leader, and the answer of a pod of that
 * user would count. The status of an IPPool has the namespace of its agents, and the controller alone writes it.
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

  /** @param pool - `namespace/name` of the IPPool; undefined: of any. */
  hasAgents(namespace: string, pool?: string): boolean {
    return pool === undefined ? this.#all.has(namespace) : this.#namespaces.get(pool) === namespace;
  }
}

/** The namespace of the agents that serve a pool, by its status; undefined: none do. */
export function agentsNamespaceOf({ status }: KubernetesObject): string | undefined {
  return readText(status, 'agentDeploymentRef', 'namespace');
}
