/**
 * What has to be done so that every pool is served by the agents of its group, and by no others at any time.
 *
 * Replicas of a group agree by its Lease. Groups agree by their Leases too: a pool that another group may still serve is suspended
 * from its new one, by an annotation of the Lease. A leader has written that Lease at the version that it read, so no leader
 * can have missed it. A pool moves like this, each step waiting for the one before to be seen:
 *
 * 1. the new group's Lease suspends the pool; 2. the new group's Deployment is configured with it; 3. its leader reports that it could serve
 * the pool; 4. the old group's Lease suspends it; 5. the old leader reports that it has released it, or its Lease has expired; 6. the new
 * group's Lease suspends it no more; 7. it is removed from the old group's Deployment, which is deleted when that was its last pool.
 *
 * A bare pod of upstream is an old group that knows no Lease: in step 4 it is deleted, in step 5 it is gone.
 */
import {
  AGENT_LOG_ANNOTATION,
  AGENT_NETWORK_CONFIGS_VARIABLE,
  type AgentLogSettings,
  DRAINING,
  formatAgentLogSettings,
  SUSPENDED,
} from '@vmdhcp/ippool-api';
import {
  compareText,
  describeCount,
  isBeingDeleted,
  isRolledOut,
  type KubernetesObject,
  type MergePatch,
  readText,
} from '@vmdhcp/kube-runtime';

import { AGENT_CONTAINER, type AgentPodSettings, toAgentDeployment } from './agent-deployment.js';
import { findContainer, isConfigured } from './configured-pools.js';
import { fitAgentConfigs, MOST_ENVIRONMENT_STRING_OCTETS } from './fit-agent-configs.js';
import { type GroupLease, readGroupLease } from './group-lease.js';
import { accountNamespacesOf } from './group-rights.js';
import { isGoneForGood } from './legacy-pod.js';
import { type GroupRightsPlan, planGroupRights, planRightsRemoval, type RightsAction } from './plan-group-rights.js';
import { planOwnedDeployment } from './plan-owned-deployment.js';
import { planUnifiedDeployment } from './plan-unified-deployment.js';
import type { PoolForAgents } from './pool-for-agents.js';
import { type GroupingSettings, groupPools, UNIFIED_GROUP } from './topology.js';

/** A pool that is to be served. */
export interface ActivePool extends PoolForAgents {
  readonly clusterNetwork: string | undefined;
  /** RFC 3339: if agents cannot be configured with all pools, the newest are left out. */
  readonly createdAt?: string;
  /** True: its agents keep the image they have. */
  readonly holdsImage: boolean;
  /** By the pool's status: what has served it so far. */
  readonly recorded: { readonly group: string | undefined; readonly image: string | undefined };
}

export interface ObservedGroup {
  readonly deployment: KubernetesObject | undefined;
  /** The configured pools: those that its template names. */
  readonly configured: ReadonlyMap<string, PoolForAgents>;
  readonly lease: GroupLease;
}

export interface AgentsObservation {
  readonly pools: readonly ActivePool[];
  /** By name; those of the namespace where agents ran before by `namespace/name`. */
  readonly groups: ReadonlyMap<string, ObservedGroup>;
  /** Groups that have pods, on their way out or not. */
  readonly groupsWithPods: ReadonlySet<string>;
  /** Bare pods of upstream, by pool. */
  readonly legacyPods: ReadonlyMap<string, readonly KubernetesObject[]>;
  /** ServiceAccounts, Roles and RoleBindings of groups, by group. */
  readonly rights?: ReadonlyMap<string, readonly KubernetesObject[]>;
  readonly nowMs: number;
}

export interface AgentsSettings extends GroupingSettings {
  readonly namespace: string;
  /** How Deployments are made; undefined only where the topology makes none. */
  readonly pods: AgentPodSettings | undefined;
  /** How many groups are upgraded at a time; pools that come and go do not wait. */
  readonly maxGroupsUpgrading: number;
  /** What the agents log; what is left out is as on their command line. */
  readonly log?: AgentLogSettings;
  /** True: each group has a ServiceAccount with rights to its own Lease and pools, and its Lease is made for it. */
  readonly groupRights?: boolean;
  /** Where agents ran before: those that are still there hand over their pools, and are removed. */
  readonly previousNamespace?: string | undefined;
  /** The Deployment of the topology `unified`. */
  readonly unified: {
    readonly deploymentName: string;
    readonly containerName: string;
    /** True: its agents serve nothing. */
    readonly dryRun?: boolean;
  };
}

export type AgentAction =
  | { readonly kind: 'create-deployment'; readonly group: string; readonly deployment: KubernetesObject }
  | {
      readonly kind: 'patch-deployment';
      readonly group: string;
      readonly deployment: KubernetesObject;
      readonly patch: MergePatch;
      /** True: the configured pools change. */
      readonly changesPools: boolean;
    }
  | { readonly kind: 'delete-deployment'; readonly group: string; readonly deployment: KubernetesObject }
  | {
      readonly kind: 'create-lease';
      readonly group: string;
      /** Pools that are suspended for the group. */
      readonly poolKeys: readonly string[];
      /** True: an agent may still lead by an earlier Lease of this name, so that no agent may take this one at once. */
      readonly isGuarded: boolean;
    }
  | {
      readonly kind: 'suspend';
      readonly group: string;
      readonly lease: KubernetesObject;
      readonly poolKeys: readonly string[];
    }
  /** `text` undefined: the agents log as on their command line. */
  | { readonly kind: 'set-log'; readonly group: string; readonly lease: KubernetesObject; readonly text: string | undefined }
  | { readonly kind: 'delete-lease'; readonly group: string; readonly lease: KubernetesObject }
  | { readonly kind: 'delete-pod'; readonly pod: KubernetesObject }
  | RightsAction;

/** What keeps a group's Deployment from being as it should be, or a pool from being served by it. */
export interface GroupProblem {
  readonly reason:
    | 'AgentSelectorMismatch'
    | 'AgentDeploymentConflict'
    | 'AgentDeploymentMissing'
    | 'AgentContainerMissing'
    | 'AgentRightsMissing'
    | 'AgentConfigTooLarge';
  readonly message: string;
}

export interface AgentsPlan {
  readonly actions: readonly AgentAction[];
  /** Each pool's group, by pool. */
  readonly groupOf: ReadonlyMap<string, string>;
  /** The group that may serve the pool now, where that is another one. */
  readonly servedBy: ReadonlyMap<string, string>;
  readonly problems: ReadonlyMap<string, GroupProblem>;
  /** Pools that their group's agents cannot be configured with, by pool. Agents that serve such a pool now continue. */
  readonly leftOut: ReadonlyMap<string, GroupProblem>;
}

/** What a group's Deployment follows from. */
interface GroupToPlan {
  readonly own: readonly ActivePool[];
  readonly pools: readonly PoolForAgents[];
  readonly rights: GroupRightsPlan | undefined;
}

const NO_GROUP: ObservedGroup = {
  deployment: undefined,
  configured: new Map(),
  lease: readGroupLease(undefined, true),
};

export function planAgents(observed: AgentsObservation, settings: AgentsSettings): AgentsPlan {
  return new AgentsPlanning(observed, settings).plan();
}

class AgentsPlanning {
  readonly #observed: AgentsObservation;
  readonly #settings: AgentsSettings;
  readonly #pools: ReadonlyMap<string, ActivePool>;
  readonly #groups: ReturnType<typeof groupPools>;
  readonly #groupOf: ReadonlyMap<string, string>;
  /** Groups that may serve a pool and are not its own, by pool. */
  readonly #servingGroups: ReadonlyMap<string, readonly string[]>;
  readonly #fitting: ReadonlyMap<string, FittingGroup>;
  readonly #leftOut = new Map<string, GroupProblem>();
  readonly #actions: AgentAction[] = [];
  readonly #problems = new Map<string, GroupProblem>();
  /** Groups whose pods are not all of the newest template yet. */
  readonly #rolling: Set<string>;

  constructor(observed: AgentsObservation, settings: AgentsSettings) {
    this.#observed = observed;
    this.#settings = settings;
    this.#pools = new Map(observed.pools.map((pool) => [pool.key, pool]));
    this.#groups = groupPools(observed.pools, this.#memberships(), settings);
    this.#groupOf = new Map([...this.#groups.values()].flatMap(({ name, poolKeys }) => poolKeys.map((key) => [key, name])));
    this.#servingGroups = this.#findServingGroups();
    this.#fitting = new Map(this.#names().map((name) => [name, this.#fit(name)]));
    const rolling = [...observed.groups].filter(([, { deployment }]) => deployment !== undefined && !isRolledOut(deployment));
    this.#rolling = new Set(rolling.map(([name]) => name));
  }

  plan(): AgentsPlan {
    for (const name of this.#names()) this.#planGroup(name);
    this.#planLegacyPods();
    const servedBy = [...this.#servingGroups].flatMap(([key, [holder]]) =>
      holder === undefined ? [] : [[key, holder] as const],
    );
    const [actions, groupOf, problems, leftOut] = [this.#actions, this.#groupOf, this.#problems, this.#leftOut];
    return { actions, groupOf, servedBy: new Map(servedBy), problems, leftOut };
  }

  #names(): string[] {
    const { groups, rights = new Map() } = this.#observed;
    return [...new Set([...this.#groups.keys(), ...groups.keys(), ...rights.keys()])];
  }

  /** Configured pools stay, and so do pools that are not released yet; then come the others by age. */
  #fit(name: string): FittingGroup {
    const { configured } = this.#group(name);
    const own = (this.#groups.get(name)?.poolKeys ?? []).flatMap((key) => this.#pools.get(key) ?? []).toSorted(byAge);
    const leaving = this.#leaving(name);
    const ordered = [
      ...leaving,
      ...own.filter(({ key }) => configured.has(key)),
      ...own.filter(({ key }) => !configured.has(key)),
    ];
    const { fitting, leftOut } = fitAgentConfigs<PoolForAgents>(ordered);
    for (const { key } of leftOut)
      if (this.#groupOf.get(key) === name) this.#leftOut.set(key, this.#tooLarge(name, fitting.length));
    const kept = new Set(fitting);
    return { own: own.filter((pool) => kept.has(pool)), pools: fitting };
  }

  #tooLarge(group: string, others: number): GroupProblem {
    const remedy =
      this.#settings.topology === 'unified' ? 'use --agent-topology per-network' : 'set a smaller --max-pools-per-agent';
    const message = `${AGENT_NETWORK_CONFIGS_VARIABLE} of the agents ${group} has no room for the pool beside ${describeCount(others, 'other pool')}: Linux takes ${MOST_ENVIRONMENT_STRING_OCTETS} octets; ${remedy}`;
    return { reason: 'AgentConfigTooLarge', message };
  }

  /** The configured pools, else what the pool's status remembers: a Deployment that was deleted by hand comes back with the same pools. */
  #memberships(): Map<string, string[]> {
    const current = new Map<string, string[]>();
    const names = [...this.#observed.groups.keys()].toSorted();
    for (const name of names) {
      for (const key of this.#group(name).configured.keys()) current.set(key, [...(current.get(key) ?? []), name]);
    }
    for (const { key, recorded } of this.#observed.pools) {
      if (recorded.group !== undefined) current.set(key, [...(current.get(key) ?? []), recorded.group]);
    }
    return current;
  }

  #group(name: string): ObservedGroup {
    return this.#observed.groups.get(name) ?? NO_GROUP;
  }

  #findServingGroups(): Map<string, string[]> {
    const groups = new Map<string, string[]>();
    for (const [name, { configured, lease }] of this.#observed.groups) {
      // A pod that was configured with a pool may come to serve it, whatever later pods are configured with.
      for (const key of new Set([...configured.keys(), ...lease.known])) {
        const own = this.#groupOf.get(key);
        if (own === undefined || own === name || this.#hasReleased(name, key) || this.#hasGivenUp(name, key)) continue;
        groups.set(key, [...(groups.get(key) ?? []), name]);
      }
    }
    return groups;
  }

  /** True if no agent of the group serves the pool, or ever will before the group's Lease allows it. */
  #hasReleased(name: string, poolKey: string): boolean {
    const { lease } = this.#group(name);
    const isSuspended = lease.suspended.has(poolKey);
    if (!lease.isLive) return isSuspended || this.#isGone(name);
    if (!lease.seen.has(poolKey)) return false;
    const reported = lease.report.get(poolKey);
    return reported === undefined || (!reported.serving && reported.reason !== DRAINING);
  }

  /** A pool that its own group serves was released before; a Lease that was deleted since does not show it any more, and the next one will. */
  #hasGivenUp(name: string, poolKey: string): boolean {
    const { lease } = this.#group(this.#groupOf.get(poolKey) ?? '');
    return this.#hasLostItsLease(name) && lease.report.get(poolKey)?.serving === true && !lease.suspended.has(poolKey);
  }

  /** True if no pod could acquire the group's Lease. The pods of a chart are not known. */
  #isGone(name: string): boolean {
    const { deployment, lease } = this.#group(name);
    if (deployment !== undefined) return false;
    return lease.object === undefined || (!isUnified(name) && !this.#observed.groupsWithPods.has(name));
  }

  #isBlocked(poolKey: string): boolean {
    return (this.#servingGroups.get(poolKey) ?? []).length > 0 || this.#legacyPods(poolKey).length > 0;
  }

  #legacyPods(poolKey: string): readonly KubernetesObject[] {
    return (this.#observed.legacyPods.get(poolKey) ?? []).filter((pod) => !isGoneForGood(pod, this.#observed.nowMs));
  }

  /** True if the pool's own group could serve it at once. */
  #isAwaited(poolKey: string): boolean {
    const { lease } = this.#group(this.#groupOf.get(poolKey) ?? '');
    // Agents of an earlier template may report it for a pool that the next ones are not configured with.
    return !this.#leftOut.has(poolKey) && lease.isLive && lease.report.get(poolKey)?.reason === SUSPENDED;
  }

  /**
   * Draining pools: the group has them and shall not have them. Until all are released, its template still names those that it has
   * released, which are suspended for it: each change of the template replaces its pods, and interrupts what they still serve.
   */
  #leaving(name: string): PoolForAgents[] {
    // Only configured pools stay: one that a pod of an earlier template still knows is suspended for it, and goes with it.
    const others = [...this.#group(name).configured].filter(([key]) => (this.#groupOf.get(key) ?? name) !== name);
    const isDraining = others.some(([key]) => (this.#servingGroups.get(key) ?? []).includes(name));
    return isDraining ? others.map(([, pool]) => pool) : [];
  }

  #planGroup(name: string): void {
    const { own = [], pools = [] } = this.#fitting.get(name) ?? {};
    const suspended = this.#suspendedFrom(name, own, pools);
    if (pools.length === 0 && name !== UNIFIED_GROUP) {
      this.#planRemoval(name, suspended);
      return;
    }
    this.#suspend(name, suspended);
    this.#setLog(name);
    // The configured pools change only once the Lease suspends those that the agents must not serve.
    const { lease } = this.#group(name);
    const rights = this.#planRights(name, pools);
    if ([...suspended].some((key) => !lease.suspended.has(key))) return;
    if (name === UNIFIED_GROUP) this.#planUnified(pools);
    // Agents that may not create their Lease start when it is there.
    else if (rights === undefined || lease.object !== undefined) this.#planOwned(name, { own, pools, rights });
  }

  /** Undefined: the rights of the group's agents are not the controller's to give. */
  #planRights(group: string, pools: readonly PoolForAgents[]): GroupRightsPlan | undefined {
    const { groupRights, namespace } = this.#settings;
    if (!groupRights || group === UNIFIED_GROUP || isPrevious(group)) return undefined;
    const { configured, deployment } = this.#group(group);
    const previousNamespace = this.#previousNamespaceOf(group);
    const previous = previousNamespace === undefined ? undefined : this.#group(`${previousNamespace}/${group}`);
    const mayRun = deployment === undefined ? this.#observed.groupsWithPods.has(group) : !isRolledOut(deployment);
    const isKept = (key: string) =>
      configured.has(key) ||
      mayRun ||
      (previous !== undefined && (previous.configured.has(key) || !isRolledOut(previous.deployment)));
    const poolKeys = pools.map(({ key }) => key);
    const wanted = { group, namespace, previousNamespace, poolKeys, isKept, knownNamespaces: this.#knownNamespaces() };
    const plan = planGroupRights(wanted, this.#observed.rights?.get(group) ?? []);
    this.#actions.push(...plan.actions);
    return plan;
  }

  /** Where agents of the group run that were there before, under rights of that group. */
  #previousNamespaceOf(group: string): string | undefined {
    const { groups, groupsWithPods, rights } = this.#observed;
    const name = `${this.#settings.previousNamespace}/${group}`;
    if (groups.get(name)?.deployment === undefined && !groupsWithPods.has(name)) return undefined;
    const bindings = (rights?.get(group) ?? []).filter(({ kind }) => kind === 'RoleBinding');
    return bindings.flatMap(accountNamespacesOf).find((namespace) => namespace === this.#settings.previousNamespace);
  }

  #knownNamespaces(): string[] {
    const { namespace, previousNamespace } = this.#settings;
    return previousNamespace === undefined ? [namespace] : [namespace, previousNamespace];
  }

  #suspend(name: string, suspended: ReadonlySet<string>): void {
    const { lease, deployment } = this.#group(name);
    const poolKeys = [...suspended].toSorted();
    if (lease.object !== undefined) {
      if (!isSame(suspended, lease.suspended))
        this.#actions.push({ kind: 'suspend', group: name, lease: lease.object, poolKeys });
    } else if (suspended.size > 0 || this.#hasLostItsLease(name) || (this.#settings.groupRights && this.#groups.has(name))) {
      // Pods may still believe in a Lease that was deleted; the pods of a chart are not known.
      const isGuarded = deployment !== undefined || this.#observed.groupsWithPods.has(name) || isUnified(name);
      this.#actions.push({ kind: 'create-lease', group: name, poolKeys, isGuarded });
    }
  }

  /** Agents watch their Lease: what they log changes without a restart. */
  #setLog(name: string): void {
    const { object: lease } = this.#group(name).lease;
    const text = formatAgentLogSettings(this.#settings.log ?? {});
    if (lease === undefined || lease.metadata.annotations?.[AGENT_LOG_ANNOTATION] === text) return;
    this.#actions.push({ kind: 'set-log', group: name, lease, text });
  }

  #suspendedFrom(name: string, own: readonly PoolForAgents[], pools: readonly PoolForAgents[]): Set<string> {
    const { configured, lease, deployment } = this.#group(name);
    const ownKeys = new Set(own.map(({ key }) => key));
    const keys = new Set(pools.map(({ key }) => key));
    return new Set([
      ...[...ownKeys].filter((key) => this.#isBlocked(key)),
      // Its own agents could serve it: time to release it.
      ...[...keys].filter((key) => !ownKeys.has(key) && this.#isAwaited(key)),
      // The next template does not name it, and pods of this one may still become leader.
      ...[...configured.keys()].filter((key) => !keys.has(key)),
      // Pods on their way out are counted nowhere, and may go on for long: what others serve stays suspended.
      ...[...lease.suspended].filter(
        (key) => !ownKeys.has(key) && (this.#groupOf.has(key) || configured.has(key) || !isRolledOut(deployment)),
      ),
      // No agent is configured with anything any more, and pods may still run.
      ...(deployment === undefined ? [...lease.known].filter((key) => !ownKeys.has(key) && this.#groupOf.has(key)) : []),
      // What a deleted Lease suspended is not known any more: pods of earlier templates may know any pool. What no other group may serve goes on.
      ...(this.#hasLostItsLease(name)
        ? [...this.#groupOf.keys()].filter((key) => !ownKeys.has(key) && !this.#servesAlone(name, key))
        : []),
    ]);
  }

  /** True if no other agents serve the pool, its own group's included, and none may begin to. */
  #servesAlone(name: string, poolKey: string): boolean {
    const groups = this.#servingGroups.get(poolKey) ?? [];
    const isOnly = groups.length === 1 && groups[0] === name && this.#legacyPods(poolKey).length === 0;
    return isOnly && this.#hasReleased(this.#groupOf.get(poolKey) ?? '', poolKey);
  }

  #hasLostItsLease(name: string): boolean {
    const { deployment, lease } = this.#group(name);
    return this.#settings.groupRights === true && deployment !== undefined && lease.object === undefined;
  }

  #planUnified(pools: readonly PoolForAgents[]): void {
    const { unified, namespace } = this.#settings;
    const { deployment } = this.#group(UNIFIED_GROUP);
    if (deployment === undefined) {
      const message = `there is no Deployment ${namespace}/${unified.deploymentName}; install it, or set AGENT_DEPLOYMENT_NAME`;
      this.#problems.set(UNIFIED_GROUP, { reason: 'AgentDeploymentMissing', message });
      return;
    }
    if (isBeingDeleted(deployment)) return;
    const plan = planUnifiedDeployment(deployment, unified.containerName, { pools, dryRun: unified.dryRun === true });
    if (!plan.ok) this.#problems.set(UNIFIED_GROUP, { reason: 'AgentContainerMissing', message: plan.message });
    else if (plan.patch !== undefined) {
      const changesPools = this.#tellsOthers(UNIFIED_GROUP, pools);
      this.#actions.push({ kind: 'patch-deployment', group: UNIFIED_GROUP, deployment, patch: plan.patch, changesPools });
    }
  }

  #planOwned(name: string, of: GroupToPlan): void {
    const { deployment, configured } = this.#group(name);
    const { rights } = of;
    // Agents are configured with a pool once they may read it. A pool whose right is lost stays configured: the right is granted again.
    const pools = rights === undefined ? of.pools : of.pools.filter(({ key }) => rights.granted.has(key) || configured.has(key));
    if (deployment === undefined && rights !== undefined && (!rights.isReady || pools.length === 0)) return;
    const wanted = this.#wantedDeployment(name, { ...of, pools });
    if (wanted === undefined) return;
    if (deployment === undefined) this.#actions.push({ kind: 'create-deployment', group: name, deployment: wanted });
    else if (!isBeingDeleted(deployment)) this.#planChange(name, { wanted, deployment, pools });
  }

  /** Undefined for a group that only has pools on their way out: it stays as it is until it has none. */
  #wantedDeployment(name: string, { own, pools, rights }: GroupToPlan): KubernetesObject | undefined {
    const settings = this.#settings.pods;
    if (settings === undefined || own.length === 0) return undefined;
    const { deployment } = this.#group(name);
    const image = this.#keptImage(own, deployment) ?? settings.image;
    const clusterNetwork = this.#groups.get(name)?.clusterNetwork;
    const serviceAccountName = settings.serviceAccountName ?? this.#ownAccount(name, pools, rights);
    return toAgentDeployment({ group: name, clusterNetwork, pools, image }, { ...settings, serviceAccountName });
  }

  /** Agents that run under another ServiceAccount keep it until the group's own has all of their rights. */
  #ownAccount(name: string, pools: readonly PoolForAgents[], rights: GroupRightsPlan | undefined): string {
    const isComplete = rights?.isReady !== false && pools.every(({ key }) => rights?.granted.has(key) !== false);
    const { deployment } = this.#group(name);
    return (isComplete ? undefined : readText(deployment?.spec, 'template', 'spec', 'serviceAccountName')) ?? name;
  }

  #planChange(
    name: string,
    change: {
      readonly wanted: KubernetesObject;
      readonly deployment: KubernetesObject;
      readonly pools: readonly PoolForAgents[];
    },
  ): void {
    const { wanted, deployment, pools } = change;
    const plan = planOwnedDeployment(wanted, deployment);
    if (!plan.ok) this.#problems.set(name, { reason: 'AgentSelectorMismatch', message: plan.message });
    else if (plan.patch !== undefined) {
      const changesPools = this.#tellsOthers(name, pools);
      if (changesPools || this.#mayUpgrade(name))
        this.#actions.push({ kind: 'patch-deployment', group: name, deployment, patch: plan.patch, changesPools });
    }
  }

  #tellsOthers(name: string, pools: readonly PoolForAgents[]): boolean {
    const { configured } = this.#group(name);
    return pools.length !== configured.size || !pools.every((pool) => isConfigured(configured.get(pool.key), pool));
  }

  /** An upgrade that goes wrong stops at the first groups, and none takes the processors of all nodes at once. */
  #mayUpgrade(name: string): boolean {
    if (!this.#rolling.has(name) && this.#rolling.size >= this.#settings.maxGroupsUpgrading) return false;
    this.#rolling.add(name);
    return true;
  }

  /** The image of agents that shall keep theirs, for all pools of a group whichever of them asks for it. */
  #keptImage(own: readonly ActivePool[], deployment: KubernetesObject | undefined): string | undefined {
    const keeping = own.filter(({ holdsImage }) => holdsImage);
    if (keeping.length === 0) return undefined;
    const recorded = keeping.flatMap(({ recorded: { image } }) => image ?? [])[0];
    const running = deployment === undefined ? undefined : readText(findContainer(deployment, AGENT_CONTAINER), 'image');
    return recorded ?? running;
  }

  /** Pods may be left when the Deployment is gone: as long as there are, they must not serve what others do. */
  #planRemoval(name: string, suspended: ReadonlySet<string>): void {
    const { deployment, lease } = this.#group(name);
    if (lease.object !== undefined && suspended.size > 0 && !this.#isGone(name)) this.#suspend(name, suspended);
    if (deployment !== undefined) {
      // What a chart installed is its own to delete.
      if (!isUnified(name) && !isBeingDeleted(deployment))
        this.#actions.push({ kind: 'delete-deployment', group: name, deployment });
      return;
    }
    this.#planLeaseRemoval(name);
    this.#planRightsRemoval(name);
  }

  #planRightsRemoval(name: string): void {
    if (this.#observed.groupsWithPods.has(name) || this.#previousNamespaceOf(name) !== undefined) return;
    this.#actions.push(...planRightsRemoval(name, this.#observed.rights?.get(name) ?? [], this.#knownNamespaces()));
  }

  #planLeaseRemoval(name: string): void {
    const { object, isLive } = this.#group(name).lease;
    if (object === undefined || isBeingDeleted(object) || isLive || !this.#isGone(name)) return;
    this.#actions.push({ kind: 'delete-lease', group: name, lease: object });
  }

  #planLegacyPods(): void {
    for (const [key, pods] of this.#observed.legacyPods) {
      const isWanted = this.#groupOf.has(key) && !this.#isAwaited(key);
      for (const pod of pods) {
        if (!isWanted && !isBeingDeleted(pod)) this.#actions.push({ kind: 'delete-pod', pod });
      }
    }
  }
}

interface FittingGroup {
  /** Pools that the group is to serve. */
  readonly own: readonly ActivePool[];
  /** Those, and pools that it has not released. */
  readonly pools: readonly PoolForAgents[];
}

function byAge(one: ActivePool, other: ActivePool): number {
  return compareText(one.createdAt ?? '', other.createdAt ?? '') || compareText(one.key, other.key);
}

/** True for a group of the namespace where agents ran before: its name is `namespace/name`. */
export function isPrevious(group: string): boolean {
  return group.includes('/');
}

/** True for the group whose Deployment a chart installed, in whatever namespace. */
export function isUnified(group: string): boolean {
  return group === UNIFIED_GROUP || group.endsWith(`/${UNIFIED_GROUP}`);
}

function isSame(one: ReadonlySet<string>, other: ReadonlySet<string>): boolean {
  return one.size === other.size && [...one].every((key) => other.has(key));
}
