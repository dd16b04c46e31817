/** Remembers writes of DaemonSets that the API server refused, by WolConfig: its condition shows them until they succeed. */
import type { OwnedObjectWrite, ReconcileResult, WriteResult } from '@vmdhcp/kube-runtime';
import type { WakeAgentsPlan } from '../agents/plan-wake-agents.js';

export interface AgentFailure {
  readonly reason: 'AgentsRefused' | 'AgentFailed';
  readonly message: string;
}

type Refusal = Extract<WriteResult<unknown>, { readonly ok: false }>;

/** Retry after this time: the obstacle may be gone by then. */
const RECHECK_MS = 30_000;

export class AgentFailures {
  /** By the name of the DaemonSet. */
  readonly #failures = new Map<string, AgentFailure>();
  #plan: WakeAgentsPlan | undefined;

  /** Forgets failures of objects that are no longer written. */
  keepOnly(plan: WakeAgentsPlan): void {
    this.#plan = plan;
    const written = new Set(plan.writes.map(({ object }) => object.metadata.name));
    for (const name of [...this.#failures.keys()]) if (!written.has(name)) this.#failures.delete(name);
  }

  /** The first failure of the agents of a WolConfig, its own or shared ones; undefined if no failure concerns people. */
  of(config: string): AgentFailure | undefined {
    const agents = this.#plan?.agents.get(config);
    const names = [agents, ...(agents?.others ?? [])].map((one) => one?.daemonSetName ?? '');
    return names.map((name) => this.#failures.get(name)).find((failure) => failure !== undefined);
  }

  /** Records a refusal. @returns when to try again; undefined if a newer state is on its way, and explains it. */
  note({ kind, object }: OwnedObjectWrite, { reason, message }: Refusal): ReconcileResult | undefined {
    const { namespace, name } = object.metadata;
    if (kind === 'create' && reason === 'already-exists') {
      const remedy = 'delete it, or create the WolConfig again with another name';
      const text = `DaemonSet ${namespace}/${name} exists and does not belong to this controller: it lacks the label app=wol-agent; ${remedy}`;
      this.#failures.set(name, { reason: 'AgentsRefused', message: text });
      return { kind: 'terminal', reason: text, recheckAfterMs: RECHECK_MS };
    }
    if (reason !== 'invalid' && reason !== 'forbidden' && reason !== 'parent-not-found') return undefined;
    const remedy =
      reason === 'invalid' ? 'correct spec.agent of the WolConfig' : 'correct the rights or the namespace of the controller';
    const text = `DaemonSet ${namespace}/${name} was refused by the API server: ${message}; ${remedy}`;
    this.#failures.set(name, { reason: 'AgentFailed', message: text });
    return { kind: 'terminal', reason: text, recheckAfterMs: RECHECK_MS };
  }
}
