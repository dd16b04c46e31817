/**
 * The agents of all pools, whatever the topology: what is observed of their Deployments, Leases and pods, the plan that follows from
 * it, and what every pool is told about its agents.
 */
import { formatIpv4Address, formatIpv4Cidr } from '@vmdhcp/dhcp-allocator';
import {
  AGENT_GROUP_LABEL,
  AGENT_LABEL,
  AGENT_LABEL_VALUE,
  CLUSTER_NETWORK_LABEL,
  HOLD_AGENT_UPGRADE_ANNOTATION,
  WITHHELD_POOLS_ANNOTATION,
} from '@vmdhcp/ippool-api';
import type { ClusterView, ObjectSource, PoolView } from '../controller/cluster-view.js';
import { toWorkResult } from '../controller/controller-context.js';
import type { BackOffSettings } from '../machinery/back-off.js';
import type { Clock } from '../machinery/clock.js';
import { KeyedQueue, type WorkResult } from '../machinery/keyed-queue.js';
import { ObjectCache } from '../machinery/object-cache.js';
import type { ObjectClient, WriteResult } from '../machinery/object-client.js';
import { keyOf } from '../machinery/reflector.js';
import type { ConditionState } from '../object/conditions.js';
import { compareByAge, isBeingDeleted, type KubernetesObject } from '../object/kubernetes-object.js';
import { readField, readText } from '../object/read-field.js';
import { parseTime } from '../object/time.js';
import { agentConditions, conditionsWithoutAgents, type NotToBeServed } from './agent-conditions.js';
import { AGENT_CONTAINER } from './agent-deployment.js';
import type { PoolForAgents } from './agent-network-config.js';
import { type AddressConflict, describeAgentReport } from './agent-report.js';
import { formatWithheldPools, type GroupLease, readGroupLease } from './group-lease.js';
import { isGoneForGood, legacyPoolOf } from './legacy-pod.js';
import {
  type ActivePool,
  type AgentAction,
  type AgentsPlan,
  type AgentsSettings,
  type GroupProblem,
  type ObservedGroup,
  planAgents,
} from './plan-agents.js';
import { findContainer, toldPools } from './told-pools.js';
import { UNIFIED_GROUP } from './topology.js';

/** Objects with the agents' label, in the agents' namespace. */
export const AGENT_SELECTOR = `${AGENT_LABEL}=${AGENT_LABEL_VALUE}`;

export interface AgentGroupsSettings extends AgentsSettings {
  readonly clients: {
    /** Those with the agents' label. */
    readonly deployments: ObjectClient<KubernetesObject>;
    /** The one that a chart installed, whatever its labels. */
    readonly unifiedDeployment: ObjectClient<KubernetesObject>;
    /** Those with the agents' label. */
    readonly leases: ObjectClient<KubernetesObject>;
    readonly pods: ObjectClient<KubernetesObject>;
  };
  readonly clock: Clock;
  /** RFC 3339, now. */
  readonly now: () => string;
  readonly random: () => number;
  /** What is known of pools and networks. */
  readonly cluster: () => {
    readonly view: ClusterView;
    readonly networks: ObjectSource;
    /** False: nobody knows which pools there are; nothing is written. */
    readonly isKnown: boolean;
  };
  /** Pools of others are none of ours, nor are their agents; undefined: all are ours. */
  readonly onlyNamespace?: string | undefined;
  /** What is said about this pool's agents has changed. */
  readonly onChange: (poolKey: string) => void;
  readonly onError?: (error: unknown) => void;
  readonly onAction?: (action: AgentAction) => void;
}

/** What a pool's status says of its agents. */
export interface PoolAgents {
  readonly conditions: readonly ConditionState[];
  /** Undefined: nobody can tell now, so that what is there stays; null: none. */
  readonly deploymentRef: Readonly<Record<string, string>> | null | undefined;
  /** The pod that leads; null: none does. */
  readonly servedBy: string | null | undefined;
  /** True: an earlier version's pod serves it no more. */
  readonly isMigrated: boolean;
  readonly conflicts: readonly AddressConflict[];
}

/** Where the work on pools learns of agents. */
export interface AgentsPort {
  readonly ofPool: (pool: PoolView) => PoolAgents;
  /** True while agents may still serve the pool, or are told of it. */
  readonly isHeld: (poolKey: string) => boolean;
}

export const NOTHING_KNOWN_OF_AGENTS: PoolAgents = {
  conditions: [],
  deploymentRef: undefined,
  servedBy: undefined,
  isMigrated: false,
  conflicts: [],
};

/** A leader that goes by an old version of a pool for so long does not hear of changes. */
const LAGGING_AFTER_MS = 10_000;
/** Timers may be a little early. */
const MARGIN_MS = 10;
const WORK_KEY = 'agents';
/** What nobody tells us of: pods on nodes that are gone, Deployments in the way. */
const RECHECK_MS = 15_000;
const PARALLEL_WRITES = 8;

type CacheKind = keyof AgentGroupsSettings['clients'];
const KINDS: readonly CacheKind[] = ['deployments', 'unifiedDeployment', 'leases', 'pods'];

/** When a Lease was last renewed, by our own clock. */
interface Renewal {
  readonly renewTime: string | undefined;
  readonly atMs: number;
}

/** A version that the leader is expected to hear of. */
interface Expectation {
  readonly version: string;
  readonly sinceMs: number;
}

export class AgentGroups implements AgentsPort {
  readonly #settings: AgentGroupsSettings;
  readonly #caches: Readonly<Record<CacheKind, ObjectCache<KubernetesObject>>>;
  readonly #queue: KeyedQueue;
  readonly #told = new Map<string, string>();
  readonly #renewals = new Map<string, Renewal>();
  readonly #staleTimers = new Map<string, () => void>();
  /** By Lease, as it was read; read again only when it says something else. */
  readonly #readLeases = new WeakMap<KubernetesObject, GroupLease>();
  readonly #readDeployments = new WeakMap<KubernetesObject, ReadonlyMap<string, PoolForAgents>>();
  readonly #expectations = new Map<string, Expectation>();
  /** What a Lease said last, but for the time. */
  readonly #said = new Map<string, string>();
  /** Keys of Deployments that were made and are not listed yet. */
  readonly #made = new Set<string>();
  /** Deployments of somebody else that have the name of a group. */
  readonly #conflicts = new Map<string, GroupProblem>();
  #plan: AgentsPlan = { actions: [], groupOf: new Map(), servedBy: new Map(), problems: new Map() };
  #groups: ReadonlyMap<string, ObservedGroup> = new Map();
  #podsOf: ReadonlyMap<string, readonly KubernetesObject[]> = new Map();
  #leading = false;

  constructor(settings: AgentGroupsSettings) {
    this.#settings = settings;
    const { clients, clock, random, onError } = settings;
    const backOff: BackOffSettings = { firstMs: 100, mostMs: 30_000, random };
    const cache = (kind: CacheKind) =>
      new ObjectCache({
        port: clients[kind],
        clock,
        backOff,
        onChange: (key) => this.#onChange(kind, key),
        onSynced: () => this.#onNews(),
        ...(onError && { onError }),
      });
    this.#caches = {
      deployments: cache('deployments'),
      unifiedDeployment: cache('unifiedDeployment'),
      leases: cache('leases'),
      pods: cache('pods'),
    };
    this.#queue = new KeyedQueue({
      clock,
      backOff,
      work: () => this.#work(),
      onRetry: (_, { reason, error }) => {
        if (reason !== 'conflict') onError?.(error ?? new Error(reason));
      },
      onTerminal: (_, reason) => onError?.(new Error(reason)),
    });
  }

  get synced(): boolean {
    return KINDS.every((kind) => this.#caches[kind].synced);
  }

  start(): void {
    for (const kind of KINDS) this.#caches[kind].start();
  }

  /** Begins to write. */
  lead(): void {
    this.#leading = true;
    this.#onNews();
  }

  /** Pools or networks are others than before. */
  poolsChanged(): void {
    if (this.#mayWork()) this.#queue.add(WORK_KEY);
  }

  /** True while agents may still serve the pool, or are told of it. */
  isHeld(poolKey: string): boolean {
    if (!this.synced) return true;
    const isServed = [...this.#groups.values()].some(
      ({ told, lease }) => told.has(poolKey) || lease.report.get(poolKey)?.serving === true,
    );
    return isServed || this.#legacyPods().has(poolKey);
  }

  async stop(): Promise<void> {
    this.#leading = false;
    for (const callOff of this.#staleTimers.values()) callOff();
    for (const kind of KINDS) this.#caches[kind].stop();
    await this.#queue.stop();
  }

  /** What the status of a pool shall say of its agents. */
  ofPool(view: PoolView): PoolAgents {
    if (!this.synced) return NOTHING_KNOWN_OF_AGENTS;
    const why = this.#whyNotServed(view);
    if (why !== undefined)
      return { ...NOTHING_KNOWN_OF_AGENTS, conditions: conditionsWithoutAgents(why), deploymentRef: null, servedBy: null };
    const [pool] = this.#toPoolForAgents(view);
    const kept = this.#keptPod(view);
    if (kept !== undefined) return ofKeptPod(kept);
    const group = this.#plan.groupOf.get(view.key);
    // The plan is made before anything is said: a moment later there is one.
    if (pool === undefined || group === undefined) return NOTHING_KNOWN_OF_AGENTS;
    return this.#ofPool(view, pool, group);
  }

  #ofPool(view: PoolView, pool: PoolForAgents, group: string): PoolAgents {
    const observed = this.#group(group);
    const holderName = this.#plan.servedBy.get(view.key);
    const holder = holderName === undefined ? undefined : this.#group(holderName);
    const report = observed.lease.report.get(view.key);
    const serving = [observed, holder].find((one) => one?.lease.report.get(view.key)?.serving === true);
    const isMigrated = report?.serving === true && readField(view.object.status, 'agentPodRef') !== undefined;
    return {
      conditions: agentConditions({
        pool,
        group,
        observed,
        holder,
        problem: this.#conflicts.get(group) ?? this.#plan.problems.get(group),
        pods: this.#podsOf.get(group) ?? [],
        isLagging: this.#isLagging(view, this.#readLease(this.#leaseOf(group)).report.get(view.key)?.version),
      }),
      deploymentRef: this.#deploymentRef(holder ?? observed),
      servedBy: serving?.lease.leader ?? null,
      isMigrated,
      conflicts: report?.conflicts ?? [],
    };
  }

  #deploymentRef({ deployment }: ObservedGroup): PoolAgents['deploymentRef'] {
    if (deployment === undefined) return undefined;
    const { namespace = '', name, uid = '' } = deployment.metadata;
    return { namespace, name, image: readText(findContainer(deployment, this.#containerOf(name)), 'image') ?? '', uid };
  }

  #containerOf(deploymentName: string): string {
    const { unified } = this.#settings;
    return deploymentName === unified.deploymentName ? unified.containerName : AGENT_CONTAINER;
  }

  #whyNotServed({ key, network, paused, reading }: PoolView): NotToBeServed | undefined {
    if (paused) return { reason: 'Paused', message: 'the pool is paused: no agent serves it' };
    const { view, networks } = this.#settings.cluster();
    if (!reading.ok || view.servingPool(network)?.key !== key) return { reason: 'NotServed', message: 'CacheReady says why' };
    if (networks.get(network) !== undefined) return undefined;
    const message = `there is no NetworkAttachmentDefinition ${network}; create it, or correct spec.networkName`;
    return { reason: 'NetworkMissing', message };
  }

  /** True if the leader has not heard for too long of what the pool said then. */
  #isLagging({ key, object }: PoolView, reported: string | undefined): boolean {
    const nowMs = this.#settings.clock.nowMs();
    const current = object.metadata.resourceVersion ?? '';
    const expected = this.#expectations.get(key);
    if (reported === undefined || expected === undefined || isAsNew(reported, expected.version)) {
      this.#expectations.set(key, { version: current, sinceMs: nowMs });
      return false;
    }
    return nowMs - expected.sinceMs >= LAGGING_AFTER_MS;
  }

  #group(name: string): ObservedGroup {
    const lease = this.#leaseOf(name);
    return this.#groups.get(name) ?? { deployment: undefined, told: new Map(), lease: this.#readLease(lease) };
  }

  #leaseOf(group: string): KubernetesObject | undefined {
    return this.#caches.leases.get(`${this.#settings.namespace}/${group}`);
  }

  #mayWork(): boolean {
    return this.#leading && this.synced && this.#settings.cluster().isKnown;
  }

  #onChange(kind: CacheKind, key: string): void {
    if (kind === 'leases') this.#noteRenewal(key);
    if (kind !== 'leases' || this.#isNews(key)) this.#onNews();
  }

  /** Most renewals of a Lease say nothing new. */
  #isNews(leaseKey: string): boolean {
    const lease = this.#caches.leases.get(leaseKey);
    const { report, ...said } = this.#readLease(lease);
    const text = lease === undefined ? '' : JSON.stringify([said.leader, [...said.withheld], describeAgentReport(report)]);
    if (this.#said.get(leaseKey) === text) return false;
    this.#said.set(leaseKey, text);
    return true;
  }

  #onNews(): void {
    this.poolsChanged();
  }

  #noteRenewal(key: string): void {
    const { clock } = this.#settings;
    const lease = this.#caches.leases.get(key);
    this.#staleTimers.get(key)?.();
    this.#staleTimers.delete(key);
    if (lease === undefined) {
      this.#renewals.delete(key);
      this.#said.delete(key);
      return;
    }
    const renewTime = readText(lease.spec, 'renewTime');
    const before = this.#renewals.get(key);
    const renewal = before !== undefined && before.renewTime === renewTime ? before : { renewTime, atMs: clock.nowMs() };
    this.#renewals.set(key, renewal);
    const leftMs = renewal.atMs + durationMs(lease) + MARGIN_MS - clock.nowMs();
    if (leftMs > 0)
      this.#staleTimers.set(
        key,
        clock.after(leftMs, () => this.#onNews()),
      );
  }

  #isStale(lease: KubernetesObject): boolean {
    const { atMs = Number.NEGATIVE_INFINITY } = this.#renewals.get(keyOf(lease)) ?? {};
    return this.#settings.clock.nowMs() - atMs >= durationMs(lease);
  }

  #readLease(lease: KubernetesObject | undefined): GroupLease {
    if (lease === undefined) return readGroupLease(undefined, true);
    const isStale = this.#isStale(lease);
    const known = this.#readLeases.get(lease);
    if (known !== undefined && known.isLive === !isStale) return known;
    const read = readGroupLease(lease, isStale);
    this.#readLeases.set(lease, read);
    return read;
  }

  #tell(deployment: KubernetesObject): ReadonlyMap<string, PoolForAgents> {
    const known = this.#readDeployments.get(deployment);
    if (known !== undefined) return known;
    const told = toldPools(deployment, this.#containerOf(deployment.metadata.name));
    this.#readDeployments.set(deployment, told);
    return told;
  }

  #observe(): void {
    const { namespace, unified, onlyNamespace } = this.#settings;
    const groups = new Map<string, ObservedGroup>();
    const deployments = new Map<string, KubernetesObject>();
    const listed = [...this.#caches.deployments.values()];
    for (const { metadata } of listed) this.#made.delete(keyOf({ metadata }));
    // What was made a moment ago is listed when the watch has brought it.
    const made = [...this.#made].flatMap((key) => this.#caches.deployments.get(key) ?? []);
    for (const deployment of [...listed, ...made]) {
      const group = deployment.metadata.labels?.[AGENT_GROUP_LABEL];
      if (deployment.metadata.name !== unified.deploymentName && group === deployment.metadata.name)
        deployments.set(group, deployment);
    }
    const chart = this.#caches.unifiedDeployment.get(`${namespace}/${unified.deploymentName}`);
    if (chart !== undefined) deployments.set(UNIFIED_GROUP, chart);
    const leases = new Map([...this.#caches.leases.values()].map((lease) => [lease.metadata.name, lease]));
    for (const name of new Set([...deployments.keys(), ...leases.keys()])) {
      const deployment = deployments.get(name);
      if (deployment !== undefined) this.#conflicts.delete(name);
      const told = deployment === undefined ? new Map<string, PoolForAgents>() : this.#tell(deployment);
      const lease = this.#readLease(leases.get(name));
      const known = [...told.keys(), ...lease.report.keys()];
      if (onlyNamespace !== undefined && !known.every((key) => key.startsWith(`${onlyNamespace}/`))) continue;
      groups.set(name, { deployment, told, lease });
    }
    this.#groups = groups;
    this.#podsOf = Map.groupBy(
      [...this.#caches.pods.values()]
        .filter((pod) => !isBeingDeleted(pod))
        .toSorted(compareByAge)
        .toReversed(),
      ({ metadata }) => metadata.labels?.[AGENT_GROUP_LABEL] ?? '',
    );
  }

  #legacyPods(): Map<string, KubernetesObject[]> {
    const legacy = new Map<string, KubernetesObject[]>();
    for (const pod of this.#caches.pods.values()) {
      const pool = legacyPoolOf(pod);
      if (pool !== undefined) legacy.set(pool, [...(legacy.get(pool) ?? []), pod]);
    }
    return legacy;
  }

  /** The pod of an earlier version that serves a pool whose agents shall stay as they are. */
  #keptPod({ key, object }: PoolView): KubernetesObject | undefined {
    if (!holdsImage(object)) return undefined;
    const nowMs = parseTime(this.#settings.now());
    for (const pod of this.#caches.pods.values()) {
      if (legacyPoolOf(pod) === key && !isBeingDeleted(pod) && !isGoneForGood(pod, nowMs)) return pod;
    }
    return undefined;
  }

  async #work(): Promise<WorkResult> {
    if (!this.#mayWork()) return { kind: 'settled' };
    this.#observe();
    const views = this.#settings.cluster().view.pools();
    const legacyPods = this.#legacyPods();
    const kept = new Set(
      legacyPods.size === 0 ? [] : views.filter((view) => this.#keptPod(view) !== undefined).map(({ key }) => key),
    );
    for (const key of kept) legacyPods.delete(key);
    const pools = views.flatMap((view) => (kept.has(view.key) ? [] : this.#toActivePool(view)));
    const nowMs = parseTime(this.#settings.now());
    this.#plan = planAgents({ pools, groups: this.#groups, legacyPods, nowMs }, this.#settings);
    this.#tellPools();
    return await this.#carryOut(this.#plan.actions);
  }

  async #carryOut(actions: readonly AgentAction[]): Promise<WorkResult> {
    let worst: WorkResult = { kind: 'recheck', afterMs: RECHECK_MS };
    let failure: unknown;
    const waiting = [...actions];
    const write = async (): Promise<void> => {
      for (let action = waiting.shift(); action !== undefined; action = waiting.shift()) {
        try {
          const result = await this.#apply(action);
          if (result.kind !== 'settled') worst = result;
        } catch (error) {
          failure = error;
        }
      }
    };
    await Promise.all(Array.from({ length: PARALLEL_WRITES }, write));
    if (failure !== undefined) throw failure;
    return worst;
  }

  async #apply(action: AgentAction): Promise<WorkResult> {
    this.#settings.onAction?.(action);
    const { clients } = this.#settings;
    switch (action.kind) {
      case 'create-deployment':
        return await this.#create(action.group, action.deployment);
      case 'patch-deployment': {
        const kind = action.group === UNIFIED_GROUP ? 'unifiedDeployment' : 'deployments';
        return this.#noted(kind, await clients[kind].patch(toTarget(action.deployment), action.patch));
      }
      case 'delete-deployment':
        return toRemoval(await clients.deployments.delete(keyOf(action.deployment), action.deployment.metadata.uid ?? ''));
      case 'withhold':
        return await this.#withhold(action);
      case 'delete-lease':
        return toRemoval(await clients.leases.delete(keyOf(action.lease), action.lease.metadata.uid ?? ''));
      case 'delete-pod':
        return toRemoval(await clients.pods.delete(keyOf(action.pod), action.pod.metadata.uid ?? ''));
    }
  }

  /** Of our own name and label it is on its way here; of another's it is in the way, and stays what it is. */
  async #create(group: string, deployment: KubernetesObject): Promise<WorkResult> {
    const result = await this.#settings.clients.deployments.create(deployment);
    if (!result.ok && result.reason === 'already-exists') {
      if (!this.#conflicts.has(group)) {
        const { namespace, name } = deployment.metadata;
        const message = `there is a Deployment ${namespace}/${name} without the label ${AGENT_GROUP_LABEL}=${group}: it is not ours, and is left alone; rename or delete it`;
        this.#conflicts.set(group, { reason: 'AgentDeploymentConflict', message });
        this.#tellPools();
      }
      return { kind: 'recheck', afterMs: RECHECK_MS };
    }
    if (this.#conflicts.delete(group)) this.#tellPools();
    if (result.ok) this.#made.add(keyOf(deployment));
    return this.#noted('deployments', result);
  }

  async #withhold({ group, lease, poolKeys }: Extract<AgentAction, { readonly kind: 'withhold' }>): Promise<WorkResult> {
    const { clients, namespace } = this.#settings;
    const annotations = { [WITHHELD_POOLS_ANNOTATION]: formatWithheldPools(poolKeys) };
    if (lease !== undefined) {
      const text = poolKeys.length === 0 ? null : annotations[WITHHELD_POOLS_ANNOTATION];
      const patch = { metadata: { annotations: { [WITHHELD_POOLS_ANNOTATION]: text } } };
      return this.#noted('leases', await clients.leases.patch({ key: keyOf(lease) }, patch));
    }
    const labels = { [AGENT_LABEL]: AGENT_LABEL_VALUE, [AGENT_GROUP_LABEL]: group };
    const object = {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { namespace, name: group, labels, annotations },
      spec: {},
    };
    return this.#noted('leases', await clients.leases.create(object));
  }

  #noted(kind: CacheKind, result: WriteResult<KubernetesObject>): WorkResult {
    if (result.ok) this.#caches[kind].wrote(result.object);
    return toWorkResult(result);
  }

  /** Has those pools looked at again of whom something else is to be said. */
  #tellPools(): void {
    if (!this.synced) return;
    for (const view of this.#settings.cluster().view.pools()) {
      const says = JSON.stringify(this.ofPool(view));
      if (this.#told.get(view.key) === says) continue;
      this.#told.set(view.key, says);
      this.#settings.onChange(view.key);
    }
  }

  #toActivePool(view: PoolView): ActivePool[] {
    if (this.#whyNotServed(view) !== undefined) return [];
    const { status } = view.object;
    const network = this.#settings.cluster().networks.get(view.network);
    const recorded = {
      group: this.#groupRecordedIn(status),
      image: readText(status, 'agentDeploymentRef', 'image') || undefined,
    };
    return this.#toPoolForAgents(view).map((pool) => ({
      ...pool,
      clusterNetwork: network?.metadata.labels?.[CLUSTER_NETWORK_LABEL] || undefined,
      holdsImage: holdsImage(view.object),
      recorded,
    }));
  }

  #groupRecordedIn(status: unknown): string | undefined {
    const name = readText(status, 'agentDeploymentRef', 'name');
    return name === this.#settings.unified.deploymentName ? UNIFIED_GROUP : name;
  }

  #toPoolForAgents({ key, network, reading }: PoolView): PoolForAgents[] {
    if (!reading.ok) return [];
    const { serverAddress, cidr } = reading.pool;
    return [{ key, network, serverIP: formatIpv4Address(serverAddress), cidr: formatIpv4Cidr(cidr) }];
  }
}

function holdsImage({ metadata }: KubernetesObject): boolean {
  return metadata.annotations?.[HOLD_AGENT_UPGRADE_ANNOTATION] !== undefined;
}

function ofKeptPod({ metadata, status }: KubernetesObject): PoolAgents {
  const isReady = readListOfConditions(status).includes('Ready');
  const message = `the pool is held (${HOLD_AGENT_UPGRADE_ANNOTATION}): pod ${metadata.name} of an earlier version serves it`;
  const ready: ConditionState = isReady
    ? { type: 'AgentReady', status: 'True' }
    : { type: 'AgentReady', status: 'False', reason: 'PodNotReady', message: `${message}, and is not ready` };
  return {
    ...NOTHING_KNOWN_OF_AGENTS,
    conditions: [{ type: 'Registered', status: 'True' }, ready],
    servedBy: metadata.name,
  };
}

function readListOfConditions(status: unknown): string[] {
  const conditions = readField(status, 'conditions');
  return (Array.isArray(conditions) ? conditions : []).flatMap((condition: unknown) =>
    readText(condition, 'status') === 'True' ? (readText(condition, 'type') ?? []) : [],
  );
}

function toTarget(object: KubernetesObject) {
  return { key: keyOf(object), resourceVersion: object.metadata.resourceVersion };
}

/** What is gone already is as it should be. */
function toRemoval(result: WriteResult<unknown>): WorkResult {
  return !result.ok && result.reason === 'not-found' ? { kind: 'settled' } : toWorkResult(result);
}

function durationMs({ spec }: KubernetesObject): number {
  const seconds = readField(spec, 'leaseDurationSeconds');
  return 1000 * (typeof seconds === 'number' ? seconds : 15);
}

/** Versions are numbers in every API server there is; where one is none, nobody can say that it is old. */
function isAsNew(version: string, expected: string): boolean {
  if (!/^\d+$/.test(version) || !/^\d+$/.test(expected)) return true;
  return version.length === expected.length ? version >= expected : version.length > expected.length;
}
