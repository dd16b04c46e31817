/** What is there of agents: their Deployments, Leases, pods and rights, and whether a Lease still has a holder. */
import { AGENT_GROUP_LABEL, describeAgentReport } from '@vmdhcp/ippool-api';
import {
  type BackOffSettings,
  type Clock,
  compareByAge,
  DeletionMarks,
  isBeingDeleted,
  type KubernetesObject,
  keyOf,
  ObjectCache,
  type ObjectClient,
  readField,
  readText,
} from '@vmdhcp/kube-runtime';

import { AGENT_CONTAINER } from '../agents/agent-deployment.js';
import type { ObservedGroup } from '../agents/agents-observation.js';
import type { AgentsSettings } from '../agents/agents-plan.js';
import { configuredPools } from '../agents/configured-pools.js';
import { type GroupLease, readGroupLease } from '../agents/group-lease.js';
import { legacyPoolOf } from '../agents/legacy-pod.js';
import type { PoolForAgents } from '../agents/pool-for-agents.js';
import { UNIFIED_GROUP } from '../agents/topology.js';

export interface AgentClients {
  /** Those with the agents' label. */
  readonly deployments: ObjectClient<KubernetesObject>;
  /** The one that a chart installed, whatever its labels. */
  readonly unifiedDeployment: ObjectClient<KubernetesObject>;
  /** Those with the agents' label. */
  readonly leases: ObjectClient<KubernetesObject>;
  readonly pods: ObjectClient<KubernetesObject>;
  /** Those with the agents' label; undefined where the controller gives no rights. */
  readonly serviceAccounts?: ObjectClient<KubernetesObject> | undefined;
  /** The same, of all namespaces. */
  readonly roles?: ObjectClient<KubernetesObject> | undefined;
  readonly roleBindings?: ObjectClient<KubernetesObject> | undefined;
  /** Those of the namespace where agents ran before; undefined where there was none. */
  readonly previousDeployments?: ObjectClient<KubernetesObject> | undefined;
  /** The one that a chart installed there, whatever its labels. */
  readonly previousUnifiedDeployment?: ObjectClient<KubernetesObject> | undefined;
  readonly previousLeases?: ObjectClient<KubernetesObject> | undefined;
  readonly previousPods?: ObjectClient<KubernetesObject> | undefined;
  /** Undefined also where the controller gives no rights. */
  readonly previousServiceAccounts?: ObjectClient<KubernetesObject> | undefined;
}

export type AgentObjectKind = keyof AgentClients;
export type RightsKind = (typeof RIGHTS_KINDS)[number];

export interface AgentsViewSettings extends Pick<AgentsSettings, 'namespace' | 'unified'> {
  readonly clients: AgentClients;
  readonly clock: Clock;
  /** RFC 3339, now. */
  readonly now: () => string;
  readonly random: () => number;
  /** Agents that are configured with pools of other namespaces are none of ours; undefined: all are ours. */
  readonly onlyNamespace?: string | undefined;
  readonly onNews: () => void;
  readonly onError?: (error: unknown) => void;
}

/** Timers may be a little early. */
const MARGIN_MS = 10;
/** The most that `--agent-lease-seconds` takes. */
const MOST_LEASE_SECONDS = 3_600;
const KINDS = ['deployments', 'unifiedDeployment', 'leases', 'pods'] as const;
const RIGHTS_KINDS = ['serviceAccounts', 'roles', 'roleBindings'] as const;
const PREVIOUS_KINDS = [
  'previousDeployments',
  'previousUnifiedDeployment',
  'previousLeases',
  'previousPods',
  'previousServiceAccounts',
] as const;
/** Kinds whose objects are made by a plan that would make them again as long as it does not see them. */
const MADE_KINDS: readonly AgentObjectKind[] = ['deployments', ...RIGHTS_KINDS];
const PREVIOUS_KIND_OF: Partial<Record<AgentObjectKind, (typeof PREVIOUS_KINDS)[number]>> = {
  deployments: 'previousDeployments',
  leases: 'previousLeases',
  pods: 'previousPods',
  serviceAccounts: 'previousServiceAccounts',
};
const NONE_CONFIGURED: ReadonlyMap<string, PoolForAgents> = new Map();

/** When a Lease was last renewed, by our own clock. */
interface Renewal {
  readonly renewTime: string | undefined;
  readonly atMs: number;
}

export class AgentsView {
  readonly #settings: AgentsViewSettings;
  readonly #caches: Readonly<Record<(typeof KINDS)[number], ObjectCache<KubernetesObject>>>;
  /** Of kinds that not every controller has. */
  readonly #others: ReadonlyMap<AgentObjectKind, ObjectCache<KubernetesObject>>;
  readonly #renewals = new Map<string, Renewal>();
  readonly #staleTimers = new Map<string, () => void>();
  /** By Lease, as it was read; read again only when its content changes. */
  readonly #readLeases = new WeakMap<KubernetesObject, GroupLease>();
  readonly #readDeployments = new WeakMap<KubernetesObject, ReadonlyMap<string, PoolForAgents>>();
  /** The last content of a Lease, but for the time. */
  readonly #contents = new Map<string, string>();
  /** By kind, keys of objects that were made and are not listed yet. */
  readonly #made = new Map<AgentObjectKind, Set<string>>(MADE_KINDS.map((kind) => [kind, new Set()]));
  readonly #deletions = new DeletionMarks();

  constructor(settings: AgentsViewSettings) {
    this.#settings = settings;
    const { clients, clock, random, onNews, onError } = settings;
    const backOff: BackOffSettings = { firstMs: 100, mostMs: 30_000, random };
    const cache = (kind: AgentObjectKind, port: ObjectClient<KubernetesObject>) =>
      new ObjectCache({
        port,
        clock,
        backOff,
        onChange: (key) => this.#onChange(kind, key),
        onSynced: onNews,
        ...(onError && { onError }),
      });
    this.#caches = {
      deployments: cache('deployments', clients.deployments),
      unifiedDeployment: cache('unifiedDeployment', clients.unifiedDeployment),
      leases: cache('leases', clients.leases),
      pods: cache('pods', clients.pods),
    };
    this.#others = new Map(
      [...RIGHTS_KINDS, ...PREVIOUS_KINDS].flatMap((kind) => {
        const port = clients[kind];
        return port === undefined ? [] : [[kind, cache(kind, port)] as const];
      }),
    );
  }

  get synced(): boolean {
    return this.#allCaches().every(({ synced }) => synced);
  }

  start(): void {
    for (const cache of this.#allCaches()) cache.start();
  }

  stop(): void {
    for (const callOff of this.#staleTimers.values()) callOff();
    for (const cache of this.#allCaches()) cache.stop();
  }

  /** Takes the answer to a write. */
  wrote(kind: AgentObjectKind, object: KubernetesObject): void {
    this.#cacheOf(this.#kindOf(kind, object))?.wrote(object);
    this.#made.get(kind)?.add(keyOf(object));
  }

  /** Takes note of a deletion. @param answer - the object as the server has it now, where it still does. */
  deleted(kind: AgentObjectKind, object: KubernetesObject, answer: KubernetesObject | undefined): void {
    this.#deletions.add(this.#kindOf(kind, object), object, answer?.metadata?.deletionTimestamp ?? this.#settings.now());
  }

  /** All groups of which there is anything, by name. */
  groups(): Map<string, ObservedGroup> {
    const deployments = this.#deployments();
    const leases = new Map(this.#listed('leases').map((lease) => [lease.metadata.name, lease]));
    const names = new Set([...deployments.keys(), ...leases.keys()]);
    const observed = [...names].map((name) => [name, this.#observe(deployments.get(name), leases.get(name))] as const);
    return new Map([...observed, ...this.#previousGroups()].filter(([, group]) => this.#isOurs(group)));
  }

  /** Pods that are to stay, the newest first, by group. */
  pods(): Map<string, KubernetesObject[]> {
    const pods = this.#listed('pods').filter((pod) => !isBeingDeleted(pod));
    const newestFirst = pods.toSorted(compareByAge).toReversed();
    return Map.groupBy(newestFirst, ({ metadata }) => metadata.labels?.[AGENT_GROUP_LABEL] ?? '');
  }

  /** Groups that have pods, also such as are on their way out. */
  groupsWithPods(): Set<string> {
    const groupOf = ({ metadata }: KubernetesObject) => metadata.labels?.[AGENT_GROUP_LABEL] ?? [];
    const previous = this.#listed('previousPods').flatMap((pod) =>
      [groupOf(pod)].flat().map((group) => `${pod.metadata.namespace}/${group}`),
    );
    return new Set([...[...this.#caches.pods.values()].flatMap(groupOf), ...previous]);
  }

  /** Bare pods of an earlier version, by pool. */
  legacyPods(): Map<string, KubernetesObject[]> {
    const legacy = new Map<string, KubernetesObject[]>();
    for (const pod of [...this.#listed('pods'), ...this.#listed('previousPods')]) {
      const pool = legacyPoolOf(pod);
      if (pool !== undefined) legacy.set(pool, [...(legacy.get(pool) ?? []), pod]);
    }
    return legacy;
  }

  /** ServiceAccounts, Roles and RoleBindings of groups, by group. */
  rights(): Map<string, KubernetesObject[]> {
    const objects = [...RIGHTS_KINDS, 'previousServiceAccounts' as const].flatMap((kind) => this.#listed(kind));
    return Map.groupBy(objects, ({ metadata }) => metadata.labels?.[AGENT_GROUP_LABEL] ?? '');
  }

  /** The Lease of a group as it is now: newer than in `groups`, if only its time has changed since. */
  leaseOf(group: string): GroupLease {
    return this.#readLease(this.#lease(group.includes('/') ? group : `${this.#settings.namespace}/${group}`));
  }

  containerOf(deploymentName: string): string {
    const { unified } = this.#settings;
    return deploymentName === unified.deploymentName ? unified.containerName : AGENT_CONTAINER;
  }

  #allCaches(): ObjectCache<KubernetesObject>[] {
    return [...KINDS.map((kind) => this.#caches[kind]), ...this.#others.values()];
  }

  #cacheOf(kind: AgentObjectKind): ObjectCache<KubernetesObject> | undefined {
    return this.#others.get(kind) ?? KINDS.flatMap((one) => (one === kind ? [this.#caches[one]] : []))[0];
  }

  #lease(key: string): KubernetesObject | undefined {
    return this.#caches.leases.get(key) ?? this.#others.get('previousLeases')?.get(key);
  }

  /** Deployments, Leases, pods and ServiceAccounts are written by one client, in whatever namespace they are. */
  #kindOf(kind: AgentObjectKind, { metadata }: KubernetesObject): AgentObjectKind {
    return (metadata.namespace === this.#settings.namespace ? undefined : PREVIOUS_KIND_OF[kind]) ?? kind;
  }

  /** Groups of the namespace where agents ran before, by `namespace/name`: no group that is to be has such a name. */
  #previousGroups(): (readonly [string, ObservedGroup])[] {
    const deployments = new Map(
      this.#listed('previousDeployments').flatMap((one) => (isOfGroup(one) ? [[keyOf(one), one] as const] : [])),
    );
    for (const chart of this.#listed('previousUnifiedDeployment'))
      deployments.set(`${chart.metadata.namespace}/${UNIFIED_GROUP}`, chart);
    const leases = new Map(this.#listed('previousLeases').map((lease) => [keyOf(lease), lease]));
    const keys = new Set([...deployments.keys(), ...leases.keys()]);
    return [...keys].map((key) => [key, this.#observe(deployments.get(key), leases.get(key))] as const);
  }

  #listed(kind: AgentObjectKind): KubernetesObject[] {
    const listed = [...(this.#cacheOf(kind)?.values() ?? [])];
    return [...listed, ...this.#madeSince(kind, listed)].map((object) => this.#deletions.marked(kind, object));
  }

  /** What was made a moment ago is listed when the watch has brought it. */
  #madeSince(kind: AgentObjectKind, listed: readonly KubernetesObject[]): KubernetesObject[] {
    const made = this.#made.get(kind);
    for (const object of listed) made?.delete(keyOf(object));
    return [...(made ?? [])].flatMap((key) => this.#cacheOf(kind)?.get(key) ?? []);
  }

  #deployments(): Map<string, KubernetesObject> {
    const { namespace, unified } = this.#settings;
    const ours = this.#listed('deployments').filter(
      (deployment) => deployment.metadata.name !== unified.deploymentName && isOfGroup(deployment),
    );
    const deployments = new Map(ours.map((deployment) => [deployment.metadata.name, deployment]));
    const chart = this.#caches.unifiedDeployment.get(`${namespace}/${unified.deploymentName}`);
    return chart === undefined ? deployments : deployments.set(UNIFIED_GROUP, chart);
  }

  #observe(deployment: KubernetesObject | undefined, lease: KubernetesObject | undefined): ObservedGroup {
    return {
      deployment,
      configured: deployment === undefined ? NONE_CONFIGURED : this.#configured(deployment),
      lease: this.#readLease(lease),
    };
  }

  #isOurs({ configured, lease }: ObservedGroup): boolean {
    const { onlyNamespace } = this.#settings;
    if (onlyNamespace === undefined) return true;
    return [...configured.keys(), ...lease.known].every((key) => key.startsWith(`${onlyNamespace}/`));
  }

  #configured(deployment: KubernetesObject): ReadonlyMap<string, PoolForAgents> {
    const known = this.#readDeployments.get(deployment);
    if (known !== undefined) return known;
    const configured = configuredPools(deployment, this.containerOf(deployment.metadata.name));
    this.#readDeployments.set(deployment, configured);
    return configured;
  }

  #onChange(kind: AgentObjectKind, key: string): void {
    this.#deletions.seen(kind, key, this.#cacheOf(kind)?.get(key));
    const isLease = kind === 'leases' || kind === 'previousLeases';
    if (isLease) this.#noteRenewal(key);
    if (!isLease || this.#isNews(key)) this.#settings.onNews();
  }

  /** Most renewals of a Lease change nothing else. */
  #isNews(leaseKey: string): boolean {
    const lease = this.#lease(leaseKey);
    const { report, ...content } = this.#readLease(lease);
    const text =
      lease === undefined
        ? ''
        : JSON.stringify([content.leader, [...content.seen], [...content.suspended], describeAgentReport(report)]);
    if (this.#contents.get(leaseKey) === text) return false;
    this.#contents.set(leaseKey, text);
    return true;
  }

  #noteRenewal(key: string): void {
    const { clock } = this.#settings;
    const lease = this.#lease(key);
    this.#staleTimers.get(key)?.();
    this.#staleTimers.delete(key);
    if (lease === undefined) {
      this.#renewals.delete(key);
      this.#contents.delete(key);
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
        clock.after(leftMs, () => this.#settings.onNews()),
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
}

/** The controller names a Deployment after its group. */
function isOfGroup({ metadata }: KubernetesObject): boolean {
  return metadata.labels?.[AGENT_GROUP_LABEL] === metadata.name;
}

function durationMs({ spec }: KubernetesObject): number {
  const seconds = readField(spec, 'leaseDurationSeconds');
  // An agent writes what stands there.
  return 1000 * Math.min(typeof seconds === 'number' ? seconds : 15, MOST_LEASE_SECONDS);
}
