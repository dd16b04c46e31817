/**
 * The knowledge about the agents of each pool, from observed Deployments, Leases and pods, and from the last plan of the agent groups. The reconciler
 * of agent groups stores its plan here; the reconciler of pools reads it.
 */
import { parseMacAddress } from '@vmdhcp/dhcp-allocator';
import { type KubernetesObject, keyOf, ObjectIndex, parseTime, readField, readText } from '@vmdhcp/kube-runtime';
import { agentConditions, conditionsOfKeptPod, conditionsWithoutAgents } from '../agents/agent-conditions.js';
import type { ObservedGroup } from '../agents/agents-observation.js';
import type { AgentsPlan, AgentsSettings, GroupProblem } from '../agents/agents-plan.js';
import { believedGroups } from '../agents/believed-groups.js';
import { findContainer } from '../agents/configured-pools.js';
import { NOTHING_KNOWN_OF_AGENTS, type PoolAgents } from '../agents/pool-agents.js';
import type { PoolForAgents } from '../agents/pool-for-agents.js';
import type { ExpectedRouters } from '../agents/router-conditions.js';
import { isPrevious, isUnified } from '../agents/topology.js';
import { readReportedConflicts } from '../pool/address-conflict.js';
import { readReportedUses } from '../pool/observed-use.js';
import type { AgentsChange, AgentsView } from './agents-view.js';
import type { ClusterView } from './cluster-view.js';
import type { LagWatch } from './lag-watch.js';
import type { PoolView } from './pool-views.js';
import { type PoolsForAgents, toPoolForAgents } from './pools-for-agents.js';

export interface PoolAgentsSources {
  readonly settings: Pick<AgentsSettings, 'namespace' | 'groupRights'>;
  readonly agents: AgentsView;
  readonly eligible: PoolsForAgents;
  readonly view: ClusterView;
  readonly lag: LagWatch;
  /** RFC 3339, now. */
  readonly now: () => string;
}

/** A machine that was started later may not have requested its address yet. */
const STARTED_MS = 180_000;

const RIGHTS = ['ServiceAccount', 'Role', 'RoleBinding'];

export class PoolAgentsView {
  readonly #sources: PoolAgentsSources;
  /** Deployments of other owners that have the name of a group, by group. */
  readonly #conflicts = new Map<string, GroupProblem>();
  /** Rights that could not be written, by kind, namespace and group. */
  readonly #rightsProblems = new Map<string, GroupProblem>();
  /** Pools by their groups in the plan. */
  readonly #planned = new ObjectIndex<readonly string[]>((groups) => groups);
  #plan: Omit<AgentsPlan, 'actions'> = { groupOf: new Map(), servedBy: new Map(), problems: new Map(), leftOut: new Map() };
  /** By pool: the last result of `changed` or `ofPoolForStatus`. */
  readonly #reported = new Map<string, string>();

  constructor(sources: PoolAgentsSources) {
    this.#sources = sources;
  }

  /** The agents have been planned anew. */
  planned(plan: AgentsPlan): void {
    const { view, agents } = this.#sources;
    for (const pool of this.#plan.groupOf.keys()) if (!plan.groupOf.has(pool)) this.#planned.update(pool, undefined);
    for (const [pool, group] of plan.groupOf) this.#planned.update(pool, [group, plan.servedBy.get(pool) ?? group]);
    this.#plan = plan;
    for (const group of [...this.#conflicts.keys()])
      if (agents.group(group).deployment !== undefined) this.#conflicts.delete(group);
    for (const pool of view.pools()) this.notePool(pool);
  }

  /** A Deployment of another owner has the name of a group. */
  noteConflict(group: string, problem: GroupProblem): void {
    this.#conflicts.set(group, problem);
  }

  /** A ServiceAccount, Role or RoleBinding of a group was written, or could not be. */
  noteRights(right: KubernetesObject, problem: GroupProblem | undefined): void {
    const key = `${right.kind} ${keyOf(right)}`;
    if (problem === undefined) this.#rightsProblems.delete(key);
    else this.#rightsProblems.set(key, problem);
  }

  /** Notes a new version of the pool. */
  notePool(pool: PoolView): void {
    const group = this.#plan.groupOf.get(pool.key);
    this.#sources.lag.note(pool, group === undefined ? undefined : this.#versionReported(group, pool.key));
  }

  /** The pool does not exist any more. */
  forgetPool(poolKey: string): void {
    this.#sources.lag.forget(poolKey);
    this.#reported.delete(poolKey);
  }

  /** Keys of the pools that this change may affect. */
  concernedBy({ group, pools }: AgentsChange): ReadonlySet<string> {
    return new Set([...pools, ...this.#planned.keysOf(group)]);
  }

  /** The pools whose knowledge has changed since the last call. */
  changed(poolKeys: Iterable<string>): string[] {
    if (!this.#sources.agents.synced) return [];
    return [...poolKeys].filter((key) => {
      const pool = this.#sources.view.pool(key);
      if (pool === undefined) return false;
      const now = JSON.stringify(this.ofPool(pool));
      const isOther = this.#reported.get(key) !== now;
      this.#reported.set(key, now);
      return isOther;
    });
  }

  /** True while agents may serve the pool, or are configured to serve it. */
  isInUse(poolKey: string): boolean {
    const { agents } = this.#sources;
    if (!agents.synced) return true;
    const isServed = agents.groupsNaming(poolKey).some((name) => {
      const { configured, lease } = this.group(name);
      return configured.has(poolKey) || lease.report.get(poolKey)?.serving === true;
    });
    return isServed || agents.legacyPodsOf(poolKey).length > 0;
  }

  /** The same as `ofPool`, for the status of the pool: `changed` will not report it again. */
  ofPoolForStatus(view: PoolView): PoolAgents {
    const agents = this.ofPool(view);
    if (this.#sources.agents.synced) this.#reported.set(view.key, JSON.stringify(agents));
    return agents;
  }

  ofPool(view: PoolView): PoolAgents {
    const { agents, eligible } = this.#sources;
    if (!agents.synced) return NOTHING_KNOWN_OF_AGENTS;
    const why = eligible.whyNotServed(view);
    if (why !== undefined) {
      // The status names agents as long as they may exist.
      const deploymentRef = why.reason === 'AgentsElsewhere' ? undefined : null;
      const isMigrated = why.reason === 'Paused' && hasPodRef(view) && agents.legacyPodsOf(view.key).length === 0;
      return { ...NOTHING_KNOWN_OF_AGENTS, conditions: conditionsWithoutAgents(why), deploymentRef, servedBy: null, isMigrated };
    }
    const kept = eligible.keptPod(view);
    if (kept !== undefined) {
      return { ...NOTHING_KNOWN_OF_AGENTS, conditions: conditionsOfKeptPod(kept), servedBy: kept.metadata.name };
    }
    const [pool] = toPoolForAgents(view);
    const group = this.#plan.groupOf.get(view.key);
    // Without a plan nothing is known; there will be one a moment later.
    return pool === undefined || group === undefined ? NOTHING_KNOWN_OF_AGENTS : this.#ofGroup(view, pool, group);
  }

  /** The trusted part of all groups. */
  groups(): Map<string, ObservedGroup> {
    return this.#believed(this.#sources.agents.groups());
  }

  /** The trusted part of one group. */
  group(name: string): ObservedGroup {
    const group = this.#sources.agents.group(name);
    return this.#believed(new Map([[name, group]])).get(name) ?? group;
  }

  /** Agents with rights from another client may write every Lease, so only their reports are available. */
  #believed(groups: ReadonlyMap<string, ObservedGroup>): Map<string, ObservedGroup> {
    const { settings, agents, eligible, view } = this.#sources;
    const { groupRights = false } = settings;
    const given = {
      rightsOf: (group: string) => agents.rightsOf(group),
      recordedGroupOf: (key: string) => eligible.groupRecordedIn(view.pool(key)?.object.status),
    };
    return believedGroups(groups, given, (name) => !groupRights || isUnified(name) || isPrevious(name));
  }

  #ofGroup(view: PoolView, pool: PoolForAgents, group: string): PoolAgents {
    const { agents, lag } = this.#sources;
    const observed = this.group(group);
    const formerName = this.#plan.servedBy.get(view.key);
    const formerGroup = formerName === undefined ? undefined : this.group(formerName);
    const groups = formerGroup === undefined ? [observed] : [observed, formerGroup];
    const reports = groups.map((one) => ({ one, report: one.lease.report.get(view.key) }));
    const serving = reports.find(({ report }) => report?.serving === true)?.one;
    return {
      conditions: agentConditions({
        pool,
        group,
        observed,
        formerGroup,
        problem: this.#problemOf(view.key, observed, group),
        pods: agents.podsOf(group),
        isLagging: lag.isLagging(view.key, this.#versionReported(group, view.key)),
        hasRunningMachines: () => this.#hasRunningMachines(view.network),
        routers: expectedRouters(view),
      }),
      deploymentRef: this.#deploymentRef(view.key, formerGroup, observed),
      servedBy: serving?.lease.leader ?? null,
      isMigrated: serving === observed && hasPodRef(view),
      conflicts: reports.flatMap(({ report }) => readReportedConflicts(report?.conflicts ?? [])),
      observedUses: reports.flatMap(({ report }) => readReportedUses(report?.observedUses ?? [])),
      declinedIpv6: reports.flatMap(({ report }) => report?.declinedIpv6 ?? []),
    };
  }

  #hasRunningMachines(network: string): boolean {
    const { view, now } = this.#sources;
    return view.hasMachineRunningSince(network, parseTime(now()) - STARTED_MS);
  }

  #versionReported(group: string, poolKey: string): string | undefined {
    return this.#sources.agents.group(group).lease.report.get(poolKey)?.version;
  }

  #problemOf(poolKey: string, observed: ObservedGroup, group: string): GroupProblem | undefined {
    const ofGroup = this.#conflicts.get(group) ?? this.#plan.problems.get(group);
    return ofGroup ?? this.#plan.leftOut.get(poolKey) ?? this.#rightsProblem(poolKey, observed, group);
  }

  /** A pool that the agents are already configured with lacks nothing. */
  #rightsProblem(poolKey: string, { configured }: ObservedGroup, group: string): GroupProblem | undefined {
    if (configured.has(poolKey)) return undefined;
    const [namespace] = poolKey.split('/', 1);
    const keys = [namespace, this.#sources.settings.namespace].flatMap((one) => RIGHTS.map((kind) => `${kind} ${one}/${group}`));
    return keys.flatMap((key) => this.#rightsProblems.get(key) ?? [])[0];
  }

  #deploymentRef(poolKey: string, formerGroup: ObservedGroup | undefined, own: ObservedGroup): PoolAgents['deploymentRef'] {
    // A pool that its group has no room for has no place in it either: it takes the first free one.
    if (formerGroup === undefined && this.#plan.leftOut.has(poolKey)) return null;
    const { deployment } = formerGroup ?? own;
    if (deployment === undefined) return undefined;
    const { namespace = '', name, uid = '' } = deployment.metadata;
    const container = findContainer(deployment, this.#sources.agents.containerOf(name));
    return { namespace, name, image: readText(container, 'image') ?? '', uid };
  }
}

function expectedRouters({ reading, addressOf }: PoolView): ExpectedRouters | undefined {
  const config = reading.ok ? reading.object.spec.ipv6Config : undefined;
  if (config === undefined) return undefined;
  const isMachine = (text: string): boolean => {
    const macAddress = parseMacAddress(text);
    return macAddress !== undefined && addressOf.has(macAddress);
  };
  return { addresses: config.routers, areSilent: config.routerAdvertisements === 'DefaultRoute', isMachine };
}

/** True if the status names the pod of an earlier version. */
function hasPodRef({ object }: PoolView): boolean {
  return readField(object.status, 'agentPodRef') !== undefined;
}
