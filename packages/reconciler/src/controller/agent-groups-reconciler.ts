/**
 * The agents of all pools, whatever the topology: a plan follows from what is observed of them, it is carried out, and every pool is
 * informed about its agents.
 */
import { formatIpv4Address, formatIpv4Cidr } from '@vmdhcp/dhcp-allocator';
import { AGENT_LABEL, AGENT_LABEL_VALUE, CLUSTER_NETWORK_LABEL, HOLD_AGENT_UPGRADE_ANNOTATION } from '@vmdhcp/ippool-api';
import {
  isBeingDeleted,
  KeyedQueue,
  type KubernetesObject,
  keyOf,
  parseTime,
  type ReconcileResult,
  readField,
  readText,
} from '@vmdhcp/kube-runtime';
import { readReportedConflicts } from '../agents/address-conflict.js';
import {
  agentConditions,
  conditionsOfKeptPod,
  conditionsWithoutAgents,
  NOT_SERVED,
  type NotToBeServed,
} from '../agents/agent-conditions.js';
import type { ActivePool, ObservedGroup } from '../agents/agents-observation.js';
import type { AgentsPlan, AgentsSettings, GroupProblem } from '../agents/agents-plan.js';
import { believedGroups } from '../agents/believed-groups.js';
import { findContainer } from '../agents/configured-pools.js';
import { isGoneForGood } from '../agents/legacy-pod.js';
import { planAgents } from '../agents/plan-agents.js';
import { type AgentsPort, NOTHING_KNOWN_OF_AGENTS, type PoolAgents } from '../agents/pool-agents.js';
import type { PoolForAgents } from '../agents/pool-for-agents.js';
import { isPrevious, isUnified, UNIFIED_GROUP } from '../agents/topology.js';
import { AgentsView, type AgentsViewSettings } from '../view/agents-view.js';
import type { ClusterView, ObjectSource, PoolView } from '../view/cluster-view.js';
import { LagWatch } from '../view/lag-watch.js';
import { AgentWriter, type AgentWriterSettings } from './agent-writer.js';
import { CONFLICT } from './controller-context.js';
import { ChangeGathering } from './gather-changes.js';

/** Objects with the agents' label, in the agents' namespace. */
export const AGENT_SELECTOR = `${AGENT_LABEL}=${AGENT_LABEL_VALUE}`;

export interface AgentGroupsReconcilerSettings
  extends AgentsSettings,
    Omit<AgentsViewSettings, 'onNews'>,
    Pick<AgentWriterSettings, 'onAction'> {
  /** RFC 3339, now. */
  readonly now: () => string;
  /** What is known of pools and networks. */
  readonly cluster: () => {
    readonly view: ClusterView;
    readonly networks: ObjectSource;
    /** False: it is not known which pools there are; nothing is written. */
    readonly isKnown: boolean;
  };
  /** The state of this pool's agents has changed. */
  readonly onChange: (poolKey: string) => void;
}

const WORK_KEY = 'agents';
const RIGHTS = ['ServiceAccount', 'Role', 'RoleBinding'];
/** What no watch reports: pods on nodes that are gone, Deployments in the way, leaders that lag. */
const RECHECK_MS = 15_000;

export class AgentGroupsReconciler implements AgentsPort {
  readonly #settings: AgentGroupsReconcilerSettings;
  readonly #observer: AgentsView;
  readonly #writer: AgentWriter;
  readonly #queue: KeyedQueue;
  readonly #lag: LagWatch;
  readonly #gathering: ChangeGathering;
  readonly #reported = new Map<string, string>();
  /** Deployments of other owners that have the name of a group. */
  readonly #conflicts = new Map<string, GroupProblem>();
  /** Rights that could not be given, by kind, namespace and group. */
  readonly #rightsProblems = new Map<string, GroupProblem>();
  #plan: AgentsPlan = { actions: [], groupOf: new Map(), servedBy: new Map(), problems: new Map(), leftOut: new Map() };
  #groups: ReadonlyMap<string, ObservedGroup> = new Map();
  #podsOf: ReadonlyMap<string, readonly KubernetesObject[]> = new Map();
  #leading = false;
  #callOffGathered: () => void = () => undefined;

  constructor(settings: AgentGroupsReconcilerSettings) {
    this.#settings = settings;
    const { clock, random, onError } = settings;
    this.#lag = new LagWatch(clock);
    this.#gathering = new ChangeGathering(clock);
    this.#observer = new AgentsView({ ...settings, onNews: () => this.poolsChanged() });
    this.#writer = new AgentWriter({
      ...settings,
      leaseSeconds: settings.pods?.leaseSeconds,
      onWritten: (kind, object) => this.#observer.wrote(kind, object),
      onDeleted: (kind, object, answer) => this.#observer.deleted(kind, object, answer),
      onConflict: (group, problem) => {
        this.#conflicts.set(group, problem);
        this.#tellPools();
      },
      onRights: (right, problem) => this.#noteRights(right, problem),
    });
    this.#queue = new KeyedQueue({
      clock,
      backOff: { firstMs: 100, mostMs: 30_000, random },
      reconcile: () => this.#work(),
      onRetry: (_, { reason, error }) => {
        if (reason !== CONFLICT) onError?.(error ?? reason);
      },
      onTerminal: (_, reason) => onError?.(reason),
    });
  }

  get synced(): boolean {
    return this.#observer.synced;
  }

  start(): void {
    this.#observer.start();
  }

  /** Begins to write. */
  lead(): void {
    this.#leading = true;
    this.poolsChanged();
  }

  /** Pools, networks or agents are others than before. */
  poolsChanged(): void {
    if (this.#mayWork()) this.#queue.add(WORK_KEY);
  }

  async stop(): Promise<void> {
    this.#leading = false;
    this.#callOffGathered();
    this.#observer.stop();
    await this.#queue.stop();
  }

  isInUse(poolKey: string): boolean {
    if (!this.synced) return true;
    // As it is now, not as it was planned by: a controller that begins has planned nothing yet.
    const isServed = [...this.#observeGroups().values()].some(
      ({ configured, lease }) => configured.has(poolKey) || lease.report.get(poolKey)?.serving === true,
    );
    return isServed || this.#observer.legacyPods().has(poolKey);
  }

  ofPool(view: PoolView): PoolAgents {
    if (!this.synced) return NOTHING_KNOWN_OF_AGENTS;
    const why = this.#whyNotServed(view);
    if (why !== undefined) {
      // The status shows where agents are, as long as they may be there.
      const deploymentRef = why.reason === 'AgentsElsewhere' ? undefined : null;
      return { ...NOTHING_KNOWN_OF_AGENTS, conditions: conditionsWithoutAgents(why), deploymentRef, servedBy: null };
    }
    const kept = this.#keptPod(view);
    if (kept !== undefined) {
      return { ...NOTHING_KNOWN_OF_AGENTS, conditions: conditionsOfKeptPod(kept), servedBy: kept.metadata.name };
    }
    const [pool] = toPoolForAgents(view);
    const group = this.#plan.groupOf.get(view.key);
    // The plan is made before anything is reported: a moment later there is one.
    return pool === undefined || group === undefined ? NOTHING_KNOWN_OF_AGENTS : this.#ofGroup(view, pool, group);
  }

  #ofGroup(view: PoolView, pool: PoolForAgents, group: string): PoolAgents {
    const observed = this.#group(group);
    const holder = this.#holderOf(view.key);
    const reports = [observed, holder].flatMap((one) =>
      one === undefined ? [] : [{ one, report: one.lease.report.get(view.key) }],
    );
    const serving = reports.find(({ report }) => report?.serving === true)?.one;
    return {
      conditions: agentConditions({
        pool,
        group,
        observed,
        formerGroup: holder,
        problem: this.#problemOf(view.key, observed, group),
        pods: this.#podsOf.get(group) ?? [],
        isLagging: this.#lag.isLagging(view, this.#observer.leaseOf(group).report.get(view.key)?.version),
      }),
      deploymentRef: this.#deploymentRef(view.key, holder, observed),
      servedBy: serving?.lease.leader ?? null,
      isMigrated: serving === observed && readField(view.object.status, 'agentPodRef') !== undefined,
      conflicts: reports.flatMap(({ report }) => readReportedConflicts(report?.conflicts ?? [])),
    };
  }

  #problemOf(poolKey: string, observed: ObservedGroup, group: string): GroupProblem | undefined {
    const ofGroup = this.#conflicts.get(group) ?? this.#plan.problems.get(group);
    return ofGroup ?? this.#plan.leftOut.get(poolKey) ?? this.#rightsProblem(poolKey, observed, group);
  }

  /** Of a pool that the agents are configured with already, nothing is missing. */
  #rightsProblem(poolKey: string, { configured }: ObservedGroup, group: string): GroupProblem | undefined {
    if (configured.has(poolKey)) return undefined;
    const [namespace] = poolKey.split('/', 1);
    const keys = [namespace, this.#settings.namespace].flatMap((one) => RIGHTS.map((kind) => `${kind} ${one}/${group}`));
    return keys.flatMap((key) => this.#rightsProblems.get(key) ?? [])[0];
  }

  #noteRights(right: KubernetesObject, problem: GroupProblem | undefined): void {
    const key = `${right.kind} ${keyOf(right)}`;
    if (problem === undefined && !this.#rightsProblems.delete(key)) return;
    if (problem !== undefined) this.#rightsProblems.set(key, problem);
    this.#tellPools();
  }

  #holderOf(poolKey: string): ObservedGroup | undefined {
    const name = this.#plan.servedBy.get(poolKey);
    return name === undefined ? undefined : this.#group(name);
  }

  #deploymentRef(poolKey: string, holder: ObservedGroup | undefined, own: ObservedGroup): PoolAgents['deploymentRef'] {
    // A pool that its group has no room for has no place in it either: it takes the first free one.
    if (holder === undefined && this.#plan.leftOut.has(poolKey)) return null;
    const { deployment } = holder ?? own;
    if (deployment === undefined) return undefined;
    const { namespace = '', name, uid = '' } = deployment.metadata;
    return { namespace, name, image: readText(findContainer(deployment, this.#observer.containerOf(name)), 'image') ?? '', uid };
  }

  #whyNotServed(view: PoolView): NotToBeServed | undefined {
    return this.#whyElsewhere(view.object) ?? this.#whyNotActive(view);
  }

  #whyNotActive({ key, network, paused, reading }: PoolView): NotToBeServed | undefined {
    if (paused) return { reason: 'Paused', message: 'the pool is paused: no agent serves it' };
    const { view, networks } = this.#settings.cluster();
    if (!reading.ok || view.servingPool(network)?.key !== key)
      return { reason: NOT_SERVED, message: 'the condition CacheReady has the cause' };
    if (networks.get(network) !== undefined) return undefined;
    const message = `there is no NetworkAttachmentDefinition ${network}; create it, or delete the IPPool and create it again with another spec.networkName`;
    return { reason: 'NetworkMissing', message };
  }

  /** Agents of a namespace that this controller does not look at would go on to serve a pool of its own agents. */
  #whyElsewhere({ status }: KubernetesObject): NotToBeServed | undefined {
    const { namespace, previousNamespace } = this.#settings;
    const recorded = ['agentDeploymentRef', 'agentPodRef'].flatMap((name) => readText(status, name, 'namespace') || []);
    const elsewhere = recorded.find((one) => one !== namespace && one !== previousNamespace);
    if (elsewhere === undefined) return undefined;
    const message = `agents in namespace ${elsewhere} served the pool and may still do so, and the controller looks at namespace ${namespace} only; start it with --previous-namespace ${elsewhere} (rights: examples/cluster/takeover.yaml), and it removes them`;
    return { reason: 'AgentsElsewhere', message };
  }

  /** Agents whose rights the controller did not grant may write every Lease: there is only their report to believe. */
  #observeGroups(): Map<string, ObservedGroup> {
    const groups = this.#observer.groups();
    const { groupRights = false, cluster } = this.#settings;
    const { view } = cluster();
    const given = {
      rights: groupRights ? this.#observer.rights() : new Map(),
      recordedGroupOf: (key: string) => this.#groupRecordedIn(view.pool(key)?.object.status),
    };
    return believedGroups(groups, given, (name) => !groupRights || isUnified(name) || isPrevious(name));
  }

  #group(name: string): ObservedGroup {
    return this.#groups.get(name) ?? { deployment: undefined, configured: new Map(), lease: this.#observer.leaseOf(name) };
  }

  #mayWork(): boolean {
    return this.#leading && this.synced && this.#settings.cluster().isKnown;
  }

  /** The pod of an earlier version that serves a pool whose agents shall stay as they are. */
  #keptPod({ key, object }: PoolView): KubernetesObject | undefined {
    if (!holdsImage(object)) return undefined;
    const nowMs = parseTime(this.#settings.now());
    const pods = this.#observer.legacyPods().get(key) ?? [];
    return pods.find((pod) => !isBeingDeleted(pod) && !isGoneForGood(pod, nowMs));
  }

  /** True if the network is there, and its namespace does not allow the pool to serve it. */
  #isForbidden(pool: PoolView): boolean {
    const { view, networks } = this.#settings.cluster();
    return networks.get(pool.network) !== undefined && !view.mayServe(pool);
  }

  /** True if a pod of an earlier version that serves the pool is left alone: its upgrade is on hold, or something else is wrong with the pool now. */
  #keepsItsPod(view: PoolView): boolean {
    if (this.#isForbidden(view)) return false;
    const why = this.#whyNotServed(view);
    return this.#keptPod(view) !== undefined || (why !== undefined && why.reason !== 'Paused' && !isBeingDeleted(view.object));
  }

  async #work(): Promise<ReconcileResult> {
    if (!this.#mayWork()) return { kind: 'settled' };
    this.#groups = this.#observeGroups();
    this.#podsOf = this.#observer.pods();
    for (const [name, { deployment }] of this.#groups) if (deployment !== undefined) this.#conflicts.delete(name);
    const views = this.#settings.cluster().view.pools();
    const kept = new Set(views.filter((view) => this.#keepsItsPod(view)).map(({ key }) => key));
    const legacyPods = new Map([...this.#observer.legacyPods()].filter(([key]) => !kept.has(key)));
    const pools = views.flatMap((view) => (kept.has(view.key) ? [] : this.#toActivePool(view)));
    const nowMs = parseTime(this.#settings.now());
    const groupsWithPods = this.#observer.groupsWithPods();
    const rights = this.#observer.rights();
    this.#plan = planAgents({ pools, groups: this.#groups, groupsWithPods, legacyPods, rights, nowMs }, this.#settings);
    this.#tellPools();
    const { actions, waitMs } = this.#gathering.take(this.#plan.actions);
    this.#callOffGathered();
    // By a timer of its own: what fails elsewhere is tried again later and later.
    if (waitMs !== undefined) this.#callOffGathered = this.#settings.clock.after(waitMs, () => this.poolsChanged());
    const result = await this.#writer.carryOut(actions);
    return result.kind === 'settled' ? { kind: 'recheck', afterMs: RECHECK_MS } : result;
  }

  /** Has those pools reconciled again whose agents have another state. */
  #tellPools(): void {
    if (!this.synced) return;
    for (const view of this.#settings.cluster().view.pools()) {
      const state = JSON.stringify(this.ofPool(view));
      if (this.#reported.get(view.key) === state) continue;
      this.#reported.set(view.key, state);
      this.#settings.onChange(view.key);
    }
  }

  #toActivePool(view: PoolView): ActivePool[] {
    if (this.#whyNotServed(view) !== undefined) return [];
    const { status, metadata } = view.object;
    const network = this.#settings.cluster().networks.get(view.network);
    const recorded = {
      group: this.#groupRecordedIn(status),
      image: readText(status, 'agentDeploymentRef', 'image') || undefined,
    };
    return toPoolForAgents(view).map((pool) => ({
      ...pool,
      clusterNetwork: network?.metadata.labels?.[CLUSTER_NETWORK_LABEL] || undefined,
      ...(metadata.creationTimestamp !== undefined && { createdAt: metadata.creationTimestamp }),
      holdsImage: holdsImage(view.object),
      recorded,
    }));
  }

  #groupRecordedIn(status: unknown): string | undefined {
    const name = readText(status, 'agentDeploymentRef', 'name');
    return name === this.#settings.unified.deploymentName ? UNIFIED_GROUP : name;
  }
}

function toPoolForAgents({ key, network, reading }: PoolView): PoolForAgents[] {
  if (!reading.ok) return [];
  const { serverAddress, cidr } = reading.pool;
  return [{ key, network, serverIP: formatIpv4Address(serverAddress), cidr: formatIpv4Cidr(cidr) }];
}

function holdsImage({ metadata }: KubernetesObject): boolean {
  return metadata.annotations?.[HOLD_AGENT_UPGRADE_ANNOTATION] !== undefined;
}
