/** Remembers writes of one plan that the API server refused, by ClusterAgent: its condition shows them until they succeed. */
import { CLUSTER_AGENT_LABEL } from '@vmdhcp/ippool-api/bare-metal/keys';
import { keyOf, type OwnedObjectWrite, type ReconcileResult, type WriteResult } from '@vmdhcp/kube-runtime';
import type { HostAgentFailure } from './cluster-agent-status.js';

type Refusal = Extract<WriteResult<unknown>, { readonly ok: false }>;

/** Retry after this time: the obstacle may be gone by then. */
const RECHECK_MS = 30_000;

/** Why a write of the binding of all agents failed. */
const OF_ALL = '';

export class HostAgentFailures {
  readonly #failures = new Map<string, HostAgentFailure>();

  of(clusterAgent: string): HostAgentFailure | undefined {
    return this.#failures.get(clusterAgent) ?? this.#failures.get(OF_ALL);
  }

  /** Records a refusal. @returns when to try again; undefined if a newer state is on its way, and explains it. */
  note({ kind, object }: OwnedObjectWrite, { reason, message }: Refusal): ReconcileResult | undefined {
    const what = `${object.kind} ${keyOf(object)}`;
    if (kind === 'create' && reason === 'already-exists') {
      const text = `${what} exists, and lacks the labels of this controller; delete it, or create the ClusterAgent again with another name`;
      return this.#keep(object.metadata.labels?.[CLUSTER_AGENT_LABEL], { reason: 'HostAgentsRefused', message: text });
    }
    if (reason !== 'invalid' && reason !== 'forbidden' && reason !== 'parent-not-found') return undefined;
    const remedy =
      reason === 'invalid'
        ? 'correct spec.agentYaml of the ClusterAgent'
        : 'correct the rights or the namespaces of the controller';
    const text = `${what} was refused by the API server: ${message}; ${remedy}`;
    return this.#keep(object.metadata.labels?.[CLUSTER_AGENT_LABEL], { reason: 'HostAgentsFailed', message: text });
  }

  #keep(clusterAgent = OF_ALL, failure: HostAgentFailure): ReconcileResult {
    if (!this.#failures.has(clusterAgent)) this.#failures.set(clusterAgent, failure);
    return { kind: 'terminal', reason: failure.message, recheckAfterMs: RECHECK_MS };
  }
}
