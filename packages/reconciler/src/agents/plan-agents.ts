/**
 * Plans the changes after which every pool is served by the agents of its group, and never by others.
 *
 * Replicas of a group agree by its Lease. Groups agree by their Leases too: a pool that another group may still serve is suspended
 * for its new one, by an annotation of the Lease. A leader has written that Lease at the version it read, so no leader
 * can have missed it. A pool moves like this, and each step waits until the one before is observed:
 *
 * 1. the new group's Lease suspends the pool; 2. the new group's Deployment is configured with it; 3. its leader reports that it could serve the
 * pool; 4. the old group's Lease suspends it; 5. the old leader reports that it has released it, or its Lease has expired; 6. the new group's Lease
 * no longer suspends it; 7. the old group's Deployment is no longer configured with it, and is deleted if it was its last pool.
 *
 * A bare pod of upstream is an old group that knows no Lease: in step 4 it is deleted, in step 5 it is gone.
 */
import { compareText, isBeingDeleted, isRolledOut, type KubernetesObject } from '@vmdhcp/kube-runtime';
import { type AgentsObservation, observedGroup } from './agents-observation.js';
import type { AgentAction, AgentsPlan, AgentsSettings, GroupProblem } from './agents-plan.js';
import { type FittedGroup, fitGroup } from './fit-group.js';
import type { GroupContext } from './group-context.js';
import { accountNamespacesOf } from './group-rights.js';
import { neededRenewPeriodMs } from './lease-pace.js';
import { type GroupDeploymentPlan, planChartDeployment, planGroupDeployment } from './plan-group-deployment.js';
import { planLeaseSettings, planSuspension, poolsToSuspend } from './plan-group-lease.js';
import { type GroupRightsPlan, planGroupRights, planRightsRemoval } from './plan-group-rights.js';
import type { PoolForAgents } from './pool-for-agents.js';
import { PoolHandover } from './pool-handover.js';
import { groupPools, isPrevious, isUnified, UNIFIED_GROUP } from './topology.js';
import { UpgradeBudget } from './upgrade-budget.js';

/** The changes after which every pool is served by the agents of its group, and never by others; empty if nothing is to be done. */
export function planAgents(observed: AgentsObservation, settings: AgentsSettings): AgentsPlan {
  return new AgentsPlanning(observed, settings).plan();
}

const NOTHING: FittedGroup = { own: [], pools: [], leftOut: new Map() };

class AgentsPlanning {
  readonly #context: GroupContext;
  readonly #upgrades: UpgradeBudget;
  readonly #names: readonly string[];
  readonly #fitted: ReadonlyMap<string, FittedGroup>;
  readonly #leftOut: ReadonlyMap<string, GroupProblem>;
  readonly #problems = new Map<string, GroupProblem>();

  constructor(observed: AgentsObservation, settings: AgentsSettings) {
    const groups = groupPools(observed.pools, memberships(observed), settings);
    const groupOf = new Map([...groups.values()].flatMap(({ name, poolKeys }) => poolKeys.map((key) => [key, name])));
    const pools = new Map(observed.pools.map((pool) => [pool.key, pool]));
    const handover = new PoolHandover(observed, groupOf, settings.groupRights === true);
    const leases = new Set([...groups.keys(), ...observed.groups.keys()]).size;
    const { leaseWritesPerSecond } = settings;
    const context = {
      ...{ observed, settings, pools, groups, groupOf, handover },
      neededRenewPeriodMs: leaseWritesPerSecond === undefined ? 0 : neededRenewPeriodMs(leases, leaseWritesPerSecond),
    };
    this.#context = context;
    this.#upgrades = new UpgradeBudget(observed.groups, settings.maxGroupsUpgrading);
    this.#names = [...new Set([...groups.keys(), ...observed.groups.keys(), ...(observed.rights?.keys() ?? [])])];
    this.#fitted = new Map(this.#names.map((name) => [name, fitGroup(name, context)]));
    this.#leftOut = new Map([...this.#fitted.values()].flatMap(({ leftOut }) => [...leftOut]));
  }

  plan(): AgentsPlan {
    const ofGroups = this.#names.flatMap((name) => this.#planGroup(name));
    const { groupOf, handover } = this.#context;
    return {
      actions: [...ofGroups, ...this.#planLegacyPods()],
      groupOf,
      servedBy: handover.servedBy(),
      problems: this.#problems,
      leftOut: this.#leftOut,
    };
  }

  #planGroup(name: string): readonly AgentAction[] {
    const fitted = this.#fitted.get(name) ?? NOTHING;
    const isReadyToServe = (key: string) => this.#isReadyToServe(key);
    const suspended = poolsToSuspend(name, fitted, { ...this.#context, isReadyToServe });
    if (fitted.pools.length === 0 && name !== UNIFIED_GROUP) return this.#planRemoval(name, suspended);
    const rights = this.#planRights(name, fitted.pools);
    return [
      ...planSuspension(name, suspended, this.#context),
      ...planLeaseSettings(name, this.#context),
      ...(rights?.actions ?? []),
      ...this.#planDeployment(name, { fitted, suspended, rights }),
    ];
  }

  /** True if the pool's own group could serve it at once, and its next agents are configured with it too. */
  #isReadyToServe(poolKey: string): boolean {
    return !this.#leftOut.has(poolKey) && this.#context.handover.isReadyToServe(poolKey);
  }

  /** The configuration changes only once the group's Lease suspends the pools that its agents must not serve. */
  #planDeployment(
    name: string,
    {
      fitted,
      suspended,
      rights,
    }: {
      readonly fitted: FittedGroup;
      readonly suspended: ReadonlySet<string>;
      readonly rights: GroupRightsPlan | undefined;
    },
  ): readonly AgentAction[] {
    const { lease } = observedGroup(this.#context.observed, name);
    if ([...suspended].some((key) => !lease.suspended.has(key))) return [];
    if (name === UNIFIED_GROUP) return this.#actionsOf(name, planChartDeployment(fitted.pools, this.#context));
    // Agents that may not create their Lease start when it exists.
    if (rights !== undefined && lease.object === undefined) return [];
    const context = { ...this.#context, upgrades: this.#upgrades };
    return this.#actionsOf(name, planGroupDeployment({ ...fitted, name, rights }, context));
  }

  #actionsOf(name: string, plan: GroupDeploymentPlan): readonly AgentAction[] {
    if (plan.ok) return plan.actions;
    this.#problems.set(name, plan.problem);
    return [];
  }

  /** Undefined if the controller does not manage the rights of the group's agents. */
  #planRights(group: string, pools: readonly PoolForAgents[]): GroupRightsPlan | undefined {
    const { observed, settings } = this.#context;
    const { groupRights, namespace } = settings;
    if (!groupRights || group === UNIFIED_GROUP || isPrevious(group)) return undefined;
    const { configured, deployment } = observedGroup(observed, group);
    const previousNamespace = this.#previousNamespaceOf(group);
    const previous = previousNamespace === undefined ? undefined : observedGroup(observed, `${previousNamespace}/${group}`);
    const isEnding = observed.groupsWithEndingPods?.has(group) === true;
    const mayRun = deployment === undefined ? observed.groupsWithPods.has(group) : isEnding || !isRolledOut(deployment);
    const isKept = (key: string) =>
      configured.has(key) ||
      mayRun ||
      (previous !== undefined && (previous.configured.has(key) || !isRolledOut(previous.deployment)));
    const poolKeys = pools.map(({ key }) => key);
    const wanted = { group, namespace, previousNamespace, poolKeys, isKept, knownNamespaces: this.#knownNamespaces() };
    return planGroupRights(wanted, observed.rights?.get(group) ?? []);
  }

  /** The previous namespaces where agents of the group still run with its rights. */
  #previousNamespaceOf(group: string): string | undefined {
    const { observed, settings } = this.#context;
    const { groups, groupsWithPods, rights } = observed;
    const name = `${settings.previousNamespace}/${group}`;
    if (groups.get(name)?.deployment === undefined && !groupsWithPods.has(name)) return undefined;
    // Only RoleBindings have subjects.
    const namespaces = rights?.get(group)?.flatMap(accountNamespacesOf);
    return namespaces?.find((namespace) => namespace === settings.previousNamespace);
  }

  #knownNamespaces(): string[] {
    const { namespace, previousNamespace = namespace } = this.#context.settings;
    return [namespace, previousNamespace];
  }

  /** Pods may outlive the Deployment: as long as they exist, they must not serve pools of others. */
  #planRemoval(name: string, suspended: ReadonlySet<string>): readonly AgentAction[] {
    const { observed, handover } = this.#context;
    const { deployment, lease } = observedGroup(observed, name);
    const mayServe = lease.object !== undefined && suspended.size > 0 && !handover.isGone(name);
    const suspension = mayServe ? planSuspension(name, suspended, this.#context) : [];
    if (deployment === undefined) return [...suspension, ...this.#planLeaseRemoval(name), ...this.#planRightsRemoval(name)];
    // Objects of a chart are removed with the chart.
    if (isUnified(name) || isBeingDeleted(deployment)) return suspension;
    return [...suspension, { kind: 'delete-deployment', group: name, deployment }];
  }

  #planRightsRemoval(name: string): readonly AgentAction[] {
    const { groupsWithPods, rights } = this.#context.observed;
    if (groupsWithPods.has(name) || this.#previousNamespaceOf(name) !== undefined) return [];
    return planRightsRemoval(name, rights?.get(name) ?? [], this.#knownNamespaces());
  }

  #planLeaseRemoval(name: string): readonly AgentAction[] {
    const { observed, handover } = this.#context;
    const { object, isLive } = observedGroup(observed, name).lease;
    if (object === undefined || isBeingDeleted(object) || isLive || !handover.isGone(name)) return [];
    return [{ kind: 'delete-lease', group: name, lease: object }];
  }

  #planLegacyPods(): readonly AgentAction[] {
    const { observed, groupOf } = this.#context;
    const unwanted = (key: string, pods: readonly KubernetesObject[]) =>
      groupOf.has(key) && !this.#isReadyToServe(key) ? [] : pods.filter((pod) => !isBeingDeleted(pod));
    return [...observed.legacyPods].flatMap(([key, pods]) =>
      unwanted(key, pods).map((pod) => ({ kind: 'delete-pod', pod }) as const),
    );
  }
}

/**
 * The groups of each pool: those that are configured with it, otherwise the one in its status, so that a manually deleted Deployment comes back with
 * the same pools.
 */
function memberships({ groups, pools }: AgentsObservation): Map<string, string[]> {
  const current = new Map<string, string[]>();
  const note = (key: string, group: string) => current.set(key, [...(current.get(key) ?? []), group]);
  for (const [name, { configured }] of [...groups].toSorted(([one], [other]) => compareText(one, other))) {
    for (const key of configured.keys()) note(key, name);
  }
  for (const { key, recorded } of pools) if (recorded.group !== undefined) note(key, recorded.group);
  return current;
}
