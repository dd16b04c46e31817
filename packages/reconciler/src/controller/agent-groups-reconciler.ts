/** Reconciles the agents of all pools, whatever the topology. One key stands for all groups, because groups hand over pools to each other. */
import { parseTime, type ReconcileResult } from '@vmdhcp/kube-runtime';
import { planAgents } from '../agents/plan-agents.js';
import { AgentWriter } from './agent-writer.js';
import type { AgentsContext } from './agents-context.js';
import { ChangeGathering } from './gather-changes.js';

/** The key of all agent groups. */
export const ALL_AGENT_GROUPS = 'agents';
/** The interval for changes without an event: pods on lost nodes, deleted Deployments of other owners, lagging leaders. */
const RECHECK_MS = 15_000;

export class AgentGroupsReconciler {
  readonly #context: AgentsContext;
  readonly #writer: AgentWriter;
  readonly #gathering: ChangeGathering;
  #callOffGathered: () => void = () => undefined;

  constructor(context: AgentsContext) {
    this.#context = context;
    const { settings, clients, observed, pools, onAction } = context;
    this.#gathering = new ChangeGathering(context.clock);
    this.#writer = new AgentWriter({
      namespace: settings.namespace,
      clients,
      leaseSeconds: settings.pods?.leaseSeconds,
      onWritten: (kind, object) => observed.wrote(kind, object),
      onDeleted: (kind, object, answer) => observed.deleted(kind, object, answer),
      onConflict: (group, problem) => {
        pools.noteConflict(group, problem);
        this.#enqueueChangedPools();
      },
      onRights: (right, problem) => {
        pools.noteRights(right, problem);
        this.#enqueueChangedPools();
      },
      ...(onAction && { onAction }),
    });
  }

  readonly reconcile = async (): Promise<ReconcileResult> => {
    const { settings, observed, pools, eligible, clock, now, enqueue } = this.#context;
    if (!observed.synced) return { kind: 'settled' };
    const toPlan = eligible.toPlan();
    const plan = planAgents(
      {
        pools: toPlan.pools,
        groups: pools.groups(),
        groupsWithPods: observed.groupsWithPods(),
        groupsWithEndingPods: observed.groupsWithEndingPods(),
        legacyPods: new Map([...observed.legacyPods()].filter(([key]) => !toPlan.kept.has(key))),
        rights: observed.rights(),
        nowMs: parseTime(now()),
      },
      settings,
    );
    pools.planned(plan);
    this.#enqueueChangedPools();
    const { actions, waitMs } = this.#gathering.take(plan.actions);
    this.#callOffGathered();
    // By a separate timer, because retries after failures come later and later.
    if (waitMs !== undefined) this.#callOffGathered = clock.after(waitMs, enqueue.agentGroups);
    const result = await this.#writer.carryOut(actions);
    return result.kind === 'settled' ? { kind: 'recheck', afterMs: RECHECK_MS } : result;
  };

  /** Cancels gathered changes. */
  stop(): void {
    this.#callOffGathered();
  }

  #enqueueChangedPools(): void {
    const { view, pools, enqueue } = this.#context;
    for (const key of pools.changed(view.pools().map((pool) => pool.key))) enqueue.ipPools(key);
  }
}
