/** Observes agents: their Deployments, Leases, pods and rights. */
import { AGENT_GROUP_LABEL } from '@vmdhcp/ippool-api';
import {
  type ApiResource,
  type CacheSubscription,
  type Clock,
  compareByAge,
  DeletionMarks,
  isBeingDeleted,
  type KubernetesObject,
  keyOf,
  ObjectIndex,
  type SharedCaches,
} from '@vmdhcp/kube-runtime';
import { AGENT_CONTAINER } from '../agents/agent-deployment.js';
import type { ObservedGroup } from '../agents/agents-observation.js';
import type { AgentsSettings } from '../agents/agents-plan.js';
import { configuredPools } from '../agents/configured-pools.js';
import { legacyPoolOf } from '../agents/legacy-pod.js';
import type { PoolForAgents } from '../agents/pool-for-agents.js';
import { UNIFIED_GROUP } from '../agents/topology.js';
import type { AgentObjectKind, ByAgentKind, PreviousKind } from './agent-resources.js';
import { LeaseWatch } from './lease-watch.js';

/** The subject of a changed object. */
export interface AgentsChange {
  /** `namespace/name` for groups of a previous namespace. */
  readonly group: string;
  /** Pools that it names, or named before. */
  readonly pools: ReadonlySet<string>;
}

export interface AgentsViewSettings extends Pick<AgentsSettings, 'namespace' | 'unified'> {
  readonly caches: Pick<SharedCaches, 'subscribe'>;
  readonly resources: ByAgentKind<ApiResource>;
  readonly clock: Clock;
  /** RFC 3339, now. */
  readonly now: () => string;
  /** The only namespace of our pools: agents with pools of other namespaces are not ours; undefined if all are ours. */
  readonly onlyNamespace?: string | undefined;
  /** Undefined if a kind is listed completely for the first time. */
  readonly onChange: (change: AgentsChange | undefined) => void;
  /** A list or watch failed, and is retried. */
  readonly onError: (kind: AgentObjectKind, error: unknown) => void;
}

const FAMILY_OF = {
  deployments: 'deployment',
  unifiedDeployment: 'deployment',
  previousDeployments: 'deployment',
  previousUnifiedDeployment: 'deployment',
  leases: 'lease',
  previousLeases: 'lease',
  pods: 'pod',
  previousPods: 'pod',
  serviceAccounts: 'right',
  roles: 'right',
  roleBindings: 'right',
  previousServiceAccounts: 'right',
} as const satisfies Readonly<Record<AgentObjectKind, string>>;
const RIGHTS_KINDS: readonly AgentObjectKind[] = ['serviceAccounts', 'roles', 'roleBindings', 'previousServiceAccounts'];
const POD_KINDS: readonly AgentObjectKind[] = ['pods', 'previousPods'];
/** Kinds whose objects a plan would create again as long as it does not see them. */
const MADE_KINDS: readonly AgentObjectKind[] = ['deployments', 'serviceAccounts', 'roles', 'roleBindings'];
const PREVIOUS_KIND_OF: Partial<Record<AgentObjectKind, PreviousKind>> = {
  deployments: 'previousDeployments',
  leases: 'previousLeases',
  pods: 'previousPods',
  serviceAccounts: 'previousServiceAccounts',
};
const NOTHING_CONFIGURED: ReadonlyMap<string, PoolForAgents> = new Map();

/** An object and how it was found. */
interface AgentObject {
  readonly kind: AgentObjectKind;
  readonly object: KubernetesObject;
}

export class AgentsView {
  readonly #settings: AgentsViewSettings;
  readonly #caches: ReadonlyMap<AgentObjectKind, CacheSubscription>;
  /** Deployments, Leases and pods of earlier versions by the pools that they name. */
  readonly #byPool = new ObjectIndex<AgentObject>((one) => this.#poolsNamedBy(one));
  /** Pods and rights by the group of their label. */
  readonly #byGroup = new ObjectIndex<AgentObject>(({ object }) => groupLabelOf(object));
  readonly #leases: LeaseWatch;
  readonly #readDeployments = new WeakMap<KubernetesObject, ReadonlyMap<string, PoolForAgents>>();
  /** By kind: keys of objects that were created and are not listed yet. */
  readonly #made = new Map<AgentObjectKind, Set<string>>(MADE_KINDS.map((kind) => [kind, new Set()]));
  readonly #deletions = new DeletionMarks();
  #isRefreshing = false;

  constructor(settings: AgentsViewSettings) {
    this.#settings = settings;
    this.#leases = new LeaseWatch(settings.clock);
    const { caches, resources } = settings;
    this.#caches = new Map(
      (Object.entries(resources) as [AgentObjectKind, ApiResource][]).map(([kind, resource]) => [
        kind,
        caches.subscribe(resource, {
          onChange: (key) => this.#onChange(kind, key),
          onSynced: () => settings.onChange(undefined),
          onError: (error) => settings.onError(kind, error),
        }),
      ]),
    );
  }

  /** Also false while everything is listed anew. */
  get synced(): boolean {
    return !this.#isRefreshing && [...this.#caches.values()].every(({ synced }) => synced);
  }

  start(): void {
    for (const cache of this.#caches.values()) cache.start();
  }

  /** Lists everything anew, so that no plan misses changes of the former leader. Calls `onChange` when that is done. */
  refresh(): void {
    this.#isRefreshing = true;
    void Promise.all([...this.#caches.values()].map((cache) => cache.refresh())).then(() => {
      this.#isRefreshing = false;
      this.#settings.onChange(undefined);
    });
  }

  stop(): void {
    this.#leases.stop();
    for (const cache of this.#caches.values()) cache.stop();
  }

  /** Stores the answer to a write. */
  wrote(kind: AgentObjectKind, object: KubernetesObject): void {
    this.#caches.get(this.#kindOf(kind, object))?.wrote(object);
    this.#made.get(kind)?.add(keyOf(object));
  }

  /** Notes a deletion. @param answer - the current object on the server, if it still exists. */
  deleted(kind: AgentObjectKind, object: KubernetesObject, answer: KubernetesObject | undefined): void {
    this.#deletions.add(this.#kindOf(kind, object), object, answer?.metadata?.deletionTimestamp ?? this.#settings.now());
  }

  /** All observed groups, by name. */
  groups(): Map<string, ObservedGroup> {
    const deployments = this.#deployments();
    const leases = new Map(this.#listed('leases').map((lease) => [lease.metadata.name, lease]));
    const names = new Set([...deployments.keys(), ...leases.keys()]);
    const observed = [...names].map((name) => [name, this.#observe(deployments.get(name), leases.get(name))] as const);
    return new Map([...observed, ...this.#previousGroups()].filter(([, group]) => this.#isOurs(group)));
  }

  /** The current state of a group, even if nothing is observed of it. */
  group(name: string): ObservedGroup {
    const group = this.#observedGroup(name);
    return this.#isOurs(group) ? group : { ...group, deployment: undefined, configured: NOTHING_CONFIGURED };
  }

  /** Our groups whose Deployment or Lease names the pool. */
  groupsNaming(poolKey: string): string[] {
    return this.#allNaming(poolKey).filter((name) => this.#isOurs(this.#observedGroup(name)));
  }

  /** A group that serves the pool beside pools of namespaces that this controller does not look at. */
  mixedGroupNaming(poolKey: string): string | undefined {
    return this.#allNaming(poolKey).find((name) => !this.#isOurs(this.#observedGroup(name)));
  }

  #allNaming(poolKey: string): string[] {
    const found = [...this.#byPool.keysOf(poolKey)].map(toKindAndKey);
    return [...new Set(found.flatMap(([kind, key]) => (POD_KINDS.includes(kind) ? [] : this.#groupOf(kind, key))))];
  }

  /** Pods of a group that are not being deleted, newest first. */
  podsOf(group: string): KubernetesObject[] {
    const pods = this.#labelled(group, ['pods']).filter((pod) => !isBeingDeleted(pod));
    return pods.toSorted(compareByAge).toReversed();
  }

  /** ServiceAccounts, Roles and RoleBindings of a group. */
  rightsOf(group: string): KubernetesObject[] {
    return this.#labelled(group, RIGHTS_KINDS);
  }

  /** Groups that have pods, also such as are being deleted. */
  groupsWithPods(): Set<string> {
    return this.#groupsOfPods(() => true);
  }

  /** Groups that have pods which are being deleted. */
  groupsWithEndingPods(): Set<string> {
    return this.#groupsOfPods(isBeingDeleted);
  }

  #groupsOfPods(isWanted: (pod: KubernetesObject) => boolean): Set<string> {
    const previous = this.#listed('previousPods').filter(isWanted);
    return new Set([
      ...this.#values('pods').filter(isWanted).flatMap(groupLabelOf),
      ...previous.flatMap((pod) => groupLabelOf(pod).map((group) => `${pod.metadata.namespace}/${group}`)),
    ]);
  }

  /** Bare pods of an earlier version, by pool. */
  legacyPods(): Map<string, KubernetesObject[]> {
    const legacy = new Map<string, KubernetesObject[]>();
    for (const pod of POD_KINDS.flatMap((kind) => this.#listed(kind))) {
      const pool = legacyPoolOf(pod);
      if (pool !== undefined && this.#isOurPool(pool)) legacy.set(pool, [...(legacy.get(pool) ?? []), pod]);
    }
    return legacy;
  }

  /** The same for one pool. */
  legacyPodsOf(poolKey: string): KubernetesObject[] {
    if (!this.#isOurPool(poolKey)) return [];
    return [...this.#byPool.keysOf(poolKey)]
      .map(toKindAndKey)
      .flatMap(([kind, key]) => (POD_KINDS.includes(kind) ? this.#marked(kind, key) : []));
  }

  /** ServiceAccounts, Roles and RoleBindings of groups, by group. */
  rights(): Map<string, KubernetesObject[]> {
    const objects = RIGHTS_KINDS.flatMap((kind) => this.#listed(kind));
    return Map.groupBy(objects, ({ metadata }) => metadata.labels?.[AGENT_GROUP_LABEL] ?? '');
  }

  /** The container of a Deployment that runs the agent. */
  containerOf(deploymentName: string): string {
    const { unified } = this.#settings;
    return deploymentName === unified.deploymentName ? unified.containerName : AGENT_CONTAINER;
  }

  #values(kind: AgentObjectKind): KubernetesObject[] {
    return [...(this.#caches.get(kind)?.values() ?? [])];
  }

  #get(kind: AgentObjectKind, key: string): KubernetesObject | undefined {
    return this.#caches.get(kind)?.get(key);
  }

  /** The known object, marked with a deletion that the watch has not shown yet. */
  #marked(kind: AgentObjectKind, key: string): KubernetesObject[] {
    const object = this.#get(kind, key);
    return object === undefined ? [] : [this.#deletions.marked(kind, object)];
  }

  #labelled(group: string, kinds: readonly AgentObjectKind[]): KubernetesObject[] {
    const found = [...this.#byGroup.keysOf(group)].map(toKindAndKey);
    return found.flatMap(([kind, key]) => (kinds.includes(kind) ? this.#marked(kind, key) : []));
  }

  #lease(key: string): KubernetesObject | undefined {
    return this.#get('leases', key) ?? this.#get('previousLeases', key);
  }

  #keyOfGroup(group: string): string {
    return group.includes('/') ? group : `${this.#settings.namespace}/${group}`;
  }

  /** Deployments, Leases, pods and ServiceAccounts are written by one client, in whatever namespace they are. */
  #kindOf(kind: AgentObjectKind, { metadata }: KubernetesObject): AgentObjectKind {
    return (metadata.namespace === this.#settings.namespace ? undefined : PREVIOUS_KIND_OF[kind]) ?? kind;
  }

  /** The group that an object belongs to. */
  #groupOf(kind: AgentObjectKind, key: string): string {
    const { unified } = this.#settings;
    const [namespace, name = ''] = key.split('/', 2);
    const group = FAMILY_OF[kind] === 'deployment' && name === unified.deploymentName ? UNIFIED_GROUP : name;
    return kind.startsWith('previous') ? `${namespace}/${group}` : group;
  }

  /** Groups of a previous namespace, by `namespace/name`: no wanted group has such a name. */
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
    const listed = this.#values(kind);
    return [...listed, ...this.#madeSince(kind, listed)].map((object) => this.#deletions.marked(kind, object));
  }

  /** A new object is listed when the watch has shown it. */
  #madeSince(kind: AgentObjectKind, listed: readonly KubernetesObject[]): KubernetesObject[] {
    const made = this.#made.get(kind);
    for (const object of listed) made?.delete(keyOf(object));
    return [...(made ?? [])].flatMap((key) => this.#get(kind, key) ?? []);
  }

  #deployments(): Map<string, KubernetesObject> {
    const deployments = new Map(
      this.#listed('deployments').flatMap((one) => (this.#isOwnGroup(one) ? [[one.metadata.name, one] as const] : [])),
    );
    const chart = this.#chart();
    return chart === undefined ? deployments : deployments.set(UNIFIED_GROUP, chart);
  }

  #deploymentOf(group: string): KubernetesObject | undefined {
    const { unified } = this.#settings;
    const [namespace = '', name] = this.#keyOfGroup(group).split('/', 2);
    if (group !== name) {
      const chart =
        name === UNIFIED_GROUP ? this.#marked('previousUnifiedDeployment', `${namespace}/${unified.deploymentName}`) : [];
      return [...chart, ...this.#marked('previousDeployments', group).filter(isOfGroup)][0];
    }
    const chart = group === UNIFIED_GROUP ? this.#chart() : undefined;
    return chart ?? this.#marked('deployments', `${namespace}/${group}`).find((one) => this.#isOwnGroup(one));
  }

  #chart(): KubernetesObject | undefined {
    const { namespace, unified } = this.#settings;
    return this.#get('unifiedDeployment', `${namespace}/${unified.deploymentName}`);
  }

  #isOwnGroup(deployment: KubernetesObject): boolean {
    return deployment.metadata.name !== this.#settings.unified.deploymentName && isOfGroup(deployment);
  }

  #observedGroup(name: string): ObservedGroup {
    return this.#observe(this.#deploymentOf(name), this.#lease(this.#keyOfGroup(name)));
  }

  #observe(deployment: KubernetesObject | undefined, lease: KubernetesObject | undefined): ObservedGroup {
    return {
      deployment,
      configured: deployment === undefined ? NOTHING_CONFIGURED : this.#configuredPools(deployment),
      lease: this.#leases.read(lease),
    };
  }

  #isOurs({ configured, lease }: ObservedGroup): boolean {
    return [...configured.keys(), ...lease.known].every((key) => this.#isOurPool(key));
  }

  #isOurPool(key: string): boolean {
    const { onlyNamespace } = this.#settings;
    return onlyNamespace === undefined || key.startsWith(`${onlyNamespace}/`);
  }

  #configuredPools(deployment: KubernetesObject): ReadonlyMap<string, PoolForAgents> {
    const known = this.#readDeployments.get(deployment);
    if (known !== undefined) return known;
    const configured = configuredPools(deployment, this.containerOf(deployment.metadata.name));
    this.#readDeployments.set(deployment, configured);
    return configured;
  }

  #poolsNamedBy({ kind, object }: AgentObject): Iterable<string> {
    switch (FAMILY_OF[kind]) {
      case 'deployment':
        return this.#configuredPools(object).keys();
      case 'lease':
        return this.#leases.read(object).known;
      case 'pod':
        return [legacyPoolOf(object) ?? []].flat();
      case 'right':
        return [];
    }
  }

  #onChange(kind: AgentObjectKind, key: string): void {
    const object = this.#get(kind, key);
    this.#deletions.seen(kind, key, object);
    const isNews = FAMILY_OF[kind] !== 'lease' || this.#leases.note(key, object, () => this.#onExpired(kind, key));
    const found = object && { kind, object };
    const pools = this.#byPool.update(`${kind} ${key}`, found);
    const isLabelled = FAMILY_OF[kind] === 'right' || FAMILY_OF[kind] === 'pod';
    const [label] = isLabelled ? this.#byGroup.update(`${kind} ${key}`, found) : [];
    if (isNews) this.#settings.onChange({ group: label ?? this.#groupOf(kind, key), pools });
  }

  #onExpired(kind: AgentObjectKind, key: string): void {
    this.#settings.onChange({ group: this.#groupOf(kind, key), pools: this.#byPool.valuesOf(`${kind} ${key}`) });
  }
}

/** The key of an index entry. */
function toKindAndKey(entry: string): readonly [AgentObjectKind, string] {
  const space = entry.indexOf(' ');
  return [entry.slice(0, space) as AgentObjectKind, entry.slice(space + 1)];
}

function groupLabelOf({ metadata }: KubernetesObject): string[] {
  return [metadata.labels?.[AGENT_GROUP_LABEL] ?? []].flat();
}

/** The controller names a Deployment after its group. */
function isOfGroup({ metadata }: KubernetesObject): boolean {
  return metadata.labels?.[AGENT_GROUP_LABEL] === metadata.name;
}
