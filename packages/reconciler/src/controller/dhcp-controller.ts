/**
 * From VirtualMachines and IPPools to addresses and agents, on any API that can list, watch and write. Everything goes one way:
 * caches -> what is known of them (`view`) -> the reconciler of each kind -> writes -> caches. It knows nothing of HTTP, files or
 * metrics; those are handed in.
 *
 * Caches are followed from `start` on; keys are reconciled between `lead` and `stop` only, and only once every cache of virtual
 * machines, configs, pools and networks is complete: no address is released because its owner has not been seen yet.
 */
import {
  type ApiResource,
  type CacheSubscription,
  type Clock,
  CONFLICT,
  type ControllerPart,
  type EventObject,
  EventRecorder,
  KeyedQueue,
  type KubernetesObject,
  keyOf,
  type ObjectClient,
  type ReconcileResult,
  readField,
  type SharedCaches,
} from '@vmdhcp/kube-runtime';
import { type ClusterNetworks, NO_CLUSTER_NETWORKS } from '../admission/admission-facts.js';
import type { AgentAction, AgentsSettings } from '../agents/agents-plan.js';
import type { AssignmentRecord } from '../audit/assignment-record.js';
import type { AuditFacts } from '../audit/audit-facts.js';
import { Resource } from '../resources.js';
import type { AgentObjectKind } from '../view/agent-resources.js';
import { ClusterView } from '../view/cluster-view.js';
import { InstanceSource, type InstancesState } from '../view/instance-source.js';
import { MachineAddresses } from '../view/machine-addresses.js';
import { type ForeignKind, MissingKinds } from '../view/missing-kinds.js';
import { SharedSegments } from '../view/shared-segments.js';
import type { MemoryProblem } from '../virtual-machine/memory-record.js';
import type { AddressChange } from './address-changes.js';
import { AgentGroupsReconciler, ALL_AGENT_GROUPS } from './agent-groups-reconciler.js';
import { type AgentsContext, createAgentsContext } from './agents-context.js';
import { AuditKeeper, type AuditSettings } from './audit-keeper.js';
import { ChangeRouting } from './change-routing.js';
import type { ByKind, ControllerContext } from './controller-context.js';
import { MemoryKeeper } from './memory-keeper.js';
import { NetworkConfigReconciler } from './network-config-reconciler.js';
import { NetworkReconciler } from './network-reconciler.js';
import { PoolReconciler } from './pool-reconciler.js';
import { VirtualMachineReconciler } from './virtual-machine-reconciler.js';

/** A kind that has a cache and a reconciler of its own. */
type CachedKind = keyof ByKind<unknown>;
export type ReconciledKind = CachedKind | 'agentGroups';
/** Kinds that are listed and watched. */
export type ReadKind = CachedKind | 'virtualMachineInstances' | 'macAddressMemory' | 'audit' | AgentObjectKind;

export interface ReconciledKey {
  readonly kind: ReconciledKind;
  readonly key: string;
  readonly result: ReconcileResult;
  readonly durationMs: number;
}

/** What is worth counting or logging. */
export interface ControllerObserver {
  readonly onReconciled?: (reconciled: ReconciledKey) => void;
  /** Reconciling a key failed, and will be tried again. */
  readonly onRetry?: (kind: ReconciledKind, key: string, cause: { readonly reason: string; readonly error?: unknown }) => void;
  /** A key cannot be reconciled before an object is changed. */
  readonly onTerminal?: (kind: ReconciledKind, key: string, reason: string) => void;
  /** A list or watch failed, or the memory of MAC addresses could not be written; it will be tried again. */
  readonly onReadError?: (kind: ReadKind, error: unknown) => void;
  /** What is known of VirtualMachineInstances is another than before. */
  readonly onInstances?: (state: InstancesState) => void;
  /** @param message - why no IPPool is served: the API server does not have a kind of KubeVirt or of Multus; undefined: it has it now. */
  readonly onMissingKind?: (kind: ForeignKind, message: string | undefined) => void;
  readonly onEventError?: (error: unknown) => void;
  /** An entry of the memory of MAC addresses does not count, or a machine is not remembered. */
  readonly onMemoryProblem?: (problem: MemoryProblem) => void;
  /** An address was recorded for a client or released, or a client was refused one. */
  readonly onAddressChange?: (change: AddressChange) => void;
  /** Assignments of addresses of a pool began or ended, as the audit keeps them. */
  readonly onAssignmentRecords?: (pool: string, records: readonly AssignmentRecord[]) => void;
  /** Records of assignments are not kept: deleted at their limit, or given up before it was known that they are stored. */
  readonly onAuditDropped?: (why: 'limit' | 'not-stored', count: number) => void;
  /** Something is about to be written for agents. */
  readonly onAgentAction?: (action: AgentAction) => void;
  readonly onSynced?: () => void;
}

export interface DhcpControllerSettings {
  readonly caches: Pick<SharedCaches, 'subscribe'>;
  /** How objects are written. */
  readonly clientOf: <Kind extends KubernetesObject = KubernetesObject>(resource: ApiResource) => ObjectClient<Kind>;
  /** Objects of other namespaces are not seen; default: all are. */
  readonly onlyNamespace?: string | undefined;
  readonly clock: Clock;
  /** RFC 3339, now: for people, nothing is decided by it. */
  readonly now: () => string;
  /** 0 up to, not including, 1. */
  readonly random: () => number;
  /** The instance that Events name. */
  readonly identity: string;
  readonly observer?: ControllerObserver;
  /** Undefined: this controller deploys no agents, and waits for none. */
  readonly agents?: AgentsSettings | undefined;
  /** Addresses that the cluster needs itself; default: none are known. */
  readonly clusterNetworks?: ClusterNetworks;
  /**
   * Where ConfigMaps keep the MAC addresses of stopped machines that no other object has (ADR 73), for the `inventory`: the agents'
   * namespace. Undefined: such an address is forgotten when the machine stops and the process ends.
   */
  readonly macAddressMemory?: { readonly namespace: string } | undefined;
  /** Keeps who had which address when. Undefined: nothing is kept. */
  readonly audit?: AuditSettings | undefined;
  /** True: the process has work in a cluster without KubeVirt or Multus, so that their kinds keep it from being ready only where there are IPPools. Default: false. */
  readonly mayLackKinds?: boolean;
}

/** Pods of a group of agents. */
export interface AgentReplicas {
  readonly desired: number;
  readonly ready: number;
}

type State =
  | { readonly kind: 'new' }
  /** Caches are followed. */
  | { readonly kind: 'following' }
  /** Leader, while every cache is listed anew: the leader before may have assigned addresses that were not seen here. */
  | { readonly kind: 'refreshing' }
  /** Leader, while some cache is not complete. */
  | { readonly kind: 'syncing' }
  | { readonly kind: 'reconciling' }
  | { readonly kind: 'stopped' };

const CONCURRENCY: Readonly<Record<ReconciledKind, number>> = {
  virtualMachines: 16,
  networkConfigs: 16,
  ipPools: 8,
  networks: 4,
  agentGroups: 1,
};
/** Conflicts mostly: what is newer is here a moment later. */
const FIRST_RETRY_MS = 20;
const MOST_RETRY_MS = 30_000;
/** A pool that many claim addresses of is written less often, and more at a time: half of the time is left to everything else. */
const MOST_REST_MS = 1_000;
/** Freeing an address is less urgent than assigning one: deletions of this time go in one patch of their pool. */
const RELEASE_GATHER_MS = 200;
const KINDS: readonly CachedKind[] = ['networks', 'ipPools', 'networkConfigs', 'virtualMachines'];

export class DhcpController implements ControllerPart {
  readonly name = 'dhcp';
  readonly view: ClusterView;
  /**
   * All machines and their MAC addresses, for Wake-on-LAN; complete with or without leadership. It has labels if the shared caches have them
   * (`cachedPartsWith`).
   */
  readonly inventory: MachineAddresses;
  readonly #settings: DhcpControllerSettings;
  readonly #caches: ByKind<CacheSubscription>;
  readonly #queues: Readonly<Record<ReconciledKind, KeyedQueue>>;
  readonly #instances: InstanceSource;
  readonly #events: EventRecorder;
  readonly #agents: AgentsContext | undefined;
  readonly #agentGroups: AgentGroupsReconciler | undefined;
  readonly #segments: SharedSegments;
  readonly #routing: ChangeRouting;
  readonly #memory: MemoryKeeper | undefined;
  readonly #audit: AuditKeeper | undefined;
  readonly #missingKinds: MissingKinds;
  #state: State = { kind: 'new' };

  constructor(settings: DhcpControllerSettings) {
    this.#settings = settings;
    const { clock, random, now, identity, clientOf, observer } = settings;
    this.#missingKinds = new MissingKinds({
      isListed: (kind) => this.#caches[kind].synced,
      onChange: (kind, message) => observer?.onMissingKind?.(kind, message),
    });
    this.#caches = byKind((kind) => this.#subscribe(kind));
    this.#instances = new InstanceSource({
      caches: settings.caches,
      resource: this.#within(Resource.virtualMachineInstances),
      onChange: (key) => this.#routing.onMachineChange(key),
      onState: (state) => this.#onInstances(state),
      onError: (error) => observer?.onReadError?.('virtualMachineInstances', error),
    });
    this.view = new ClusterView({ ...this.#caches, instances: this.#instances });
    this.#memory = this.#createMemory();
    this.#audit = this.#createAudit();
    this.inventory = new MachineAddresses({
      virtualMachines: this.#caches.virtualMachines,
      knowledgeOf: (virtualMachine) => this.view.knowledgeOf(virtualMachine),
      memory: this.#memory?.memory,
    });
    this.#segments = new SharedSegments(this.view, this.#caches.networks);
    this.#events = new EventRecorder({
      client: clientOf<EventObject>(Resource.events),
      clock,
      now,
      random,
      component: 'vm-dhcp-controller',
      instance: identity,
      ...(observer?.onEventError && { onError: observer.onEventError }),
    });
    this.#agents = this.#createAgents();
    this.#agentGroups = this.#agents && new AgentGroupsReconciler(this.#agents);
    this.#routing = new ChangeRouting({
      view: this.view,
      segments: this.#segments,
      inventory: this.inventory,
      caches: this.#caches,
      agents: this.#agents,
      isReconciling: () => this.reconciling,
      enqueue: (kind, key) => this.#enqueue(kind, key),
      enqueueAgentGroups: () => this.#enqueueAgentGroups(),
      enqueueRelease: (key) => this.#enqueueRelease(key),
      forgetNetworkConfig: (key) => this.#queues.networkConfigs.forget(key),
    });
    const context = this.#createContext();
    this.#queues = {
      virtualMachines: this.#createQueue('virtualMachines', new VirtualMachineReconciler(context).reconcile),
      networkConfigs: this.#createQueue('networkConfigs', new NetworkConfigReconciler(context).reconcile),
      ipPools: this.#createQueue('ipPools', new PoolReconciler(context).reconcile),
      networks: this.#createQueue('networks', new NetworkReconciler(context).reconcile),
      agentGroups: this.#createQueue('agentGroups', this.#agentGroups?.reconcile ?? (async () => ({ kind: 'settled' }))),
    };
  }

  /** True once every cache that addresses depend on is complete. */
  get synced(): boolean {
    return KINDS.every((kind) => this.#caches[kind].synced) && this.#instances.synced;
  }

  /** Kinds that are not listed yet; agents are one. Why a kind is missing has a line of its own. */
  unready(): string[] {
    const mayLack = this.#mayLackMissing();
    const kinds: string[] = KINDS.filter((kind) => !this.#caches[kind].synced && !(mayLack && this.#missingKinds.has(kind)));
    if (!this.#instances.synced) kinds.push('virtualMachineInstances');
    if (this.#agents?.observed.synced === false) kinds.push('agents');
    return kinds.length === 0 ? [] : [`not listed yet: ${kinds.join(', ')}`, ...(mayLack ? [] : this.#missingKinds.messages)];
  }

  /** Kinds that are missing where nothing needs them. */
  lacks(): readonly string[] {
    return this.#mayLackMissing() ? this.#missingKinds.messages : [];
  }

  /** What is known of VirtualMachineInstances. */
  get instances(): Pick<InstanceSource, 'state' | 'synced'> {
    return this.#instances;
  }

  /** True while it reconciles: it is leader, and every cache is complete. */
  get reconciling(): boolean {
    return this.#state.kind === 'reconciling';
  }

  get caches(): ByKind<Pick<CacheSubscription, 'get' | 'values' | 'size' | 'synced'>> {
    return this.#caches;
  }

  /** Keys that wait to be reconciled. */
  depths(): Readonly<Record<ReconciledKind, number>> {
    return this.#ofQueues(({ depth }) => depth);
  }

  /** How long the key that waits longest has waited, in milliseconds; 0: none waits. */
  oldestWaitsMs(): Readonly<Record<ReconciledKind, number>> {
    return this.#ofQueues((queue) => queue.oldestWaitMs());
  }

  /** How records of assignments are kept; undefined: this controller keeps none now. */
  auditFacts(): AuditFacts | undefined {
    return this.#audit?.facts();
  }

  /** Pods that the Deployment of each group of agents wants, and those that are ready, by the name of the group. Empty without agents. */
  agentReplicas(): ReadonlyMap<string, AgentReplicas> {
    const groups = [...(this.#agents?.observed.groups() ?? [])];
    return new Map(
      groups.flatMap(([name, { deployment }]) => (deployment === undefined ? [] : [[name, replicasOf(deployment)]])),
    );
  }

  /** Begins to follow the cluster. */
  start(): void {
    if (this.#state.kind !== 'new') return;
    this.#state = { kind: 'following' };
    for (const kind of KINDS) this.#caches[kind].start();
    this.#instances.start();
    this.#memory?.start();
    this.#agents?.observed.start();
  }

  /**
   * Begins to reconcile, as soon as every cache is complete: as the cluster is now, not as a watch that lags behind has it. An earlier
   * leader may have assigned addresses to virtual machines that have not been seen here.
   */
  lead(): void {
    const isNew = this.#state.kind === 'new';
    this.start();
    if (this.#state.kind !== 'following') return;
    this.#state = { kind: 'refreshing' };
    const refreshed = isNew ? [] : [...KINDS.map((kind) => this.#caches[kind].refresh()), this.#instances.refresh()];
    void Promise.all(refreshed).then(() => {
      if (this.#state.kind !== 'refreshing') return;
      this.#state = { kind: 'syncing' };
      this.#reconcileIfSynced();
    });
  }

  /** Ends for good: resolves when nothing is under way any more. */
  async stop(): Promise<void> {
    this.#state = { kind: 'stopped' };
    for (const kind of KINDS) this.#caches[kind].stop();
    this.#instances.stop();
    this.#agents?.observed.stop();
    this.#agentGroups?.stop();
    this.#events.stop();
    await Promise.all([...Object.values(this.#queues).map((queue) => queue.stop()), this.#memory?.stop()]);
    // What those have done is stored.
    await this.#audit?.stop();
  }

  #ofQueues(read: (queue: KeyedQueue) => number): Record<ReconciledKind, number> {
    return { ...byKind((kind) => read(this.#queues[kind])), agentGroups: read(this.#queues.agentGroups) };
  }

  /** Only objects of the namespace that this controller sees, where it is one. */
  #within(resource: ApiResource): ApiResource {
    const { onlyNamespace } = this.#settings;
    return onlyNamespace === undefined ? resource : { namespace: onlyNamespace, ...resource };
  }

  #subscribe(kind: CachedKind): CacheSubscription {
    return this.#settings.caches.subscribe(this.#within(Resource[kind]), {
      onChange: (key, isOwn) => this.#routing.onChange(kind, key, isOwn),
      onSynced: () => {
        this.#missingKinds.noteListed(kind);
        this.#onSynced();
      },
      onError: (error) => {
        if (!this.#missingKinds.noteError(kind, error)) this.#settings.observer?.onReadError?.(kind, error);
      },
    });
  }

  /** Only where there are IPPools are these kinds needed. */
  #mayLackMissing(): boolean {
    const { ipPools } = this.#caches;
    return this.#settings.mayLackKinds === true && ipPools.synced && ipPools.size === 0;
  }

  #createMemory(): MemoryKeeper | undefined {
    const { macAddressMemory, observer } = this.#settings;
    if (macAddressMemory === undefined) return undefined;
    return new MemoryKeeper({
      ...this.#settings,
      ...macAddressMemory,
      onlyNamespace: this.#settings.onlyNamespace,
      virtualMachines: this.#caches.virtualMachines,
      recordedInterfaces: (key) => this.view.recordedInterfaces(key),
      onRead: (key) => this.inventory.note(key),
      onKnown: () => this.#onSynced(),
      onProblem: observer?.onMemoryProblem,
      onError: (error) => observer?.onReadError?.('macAddressMemory', error),
    });
  }

  #createAudit(): AuditKeeper | undefined {
    const { audit, observer } = this.#settings;
    if (audit === undefined) return undefined;
    return new AuditKeeper({
      ...this.#settings,
      ...audit,
      onRecords: observer?.onAssignmentRecords,
      onDropped: observer?.onAuditDropped,
      onError: (error) => observer?.onReadError?.('audit', error),
      onLoaded: () => {
        const gone = (this.#audit?.pools() ?? []).filter((key) => this.view.pool(key) === undefined);
        for (const key of [...gone, ...this.view.pools().map((pool) => pool.key)]) this.#enqueue('ipPools', key);
      },
    });
  }

  #createAgents(): AgentsContext | undefined {
    const { agents: settings, caches, clientOf, onlyNamespace, clock, now, observer } = this.#settings;
    if (settings === undefined) return undefined;
    return createAgentsContext({
      settings,
      view: this.view,
      networks: this.#caches.networks,
      caches,
      clientOf,
      onlyNamespace,
      clock,
      now,
      onAction: observer?.onAgentAction,
      onChange: (change) => this.#routing.onAgentsChange(change),
      onError: (kind, error) => observer?.onReadError?.(kind, error),
      enqueue: { agentGroups: () => this.#enqueueAgentGroups(), ipPools: (key) => this.#enqueue('ipPools', key) },
    });
  }

  #createContext(): ControllerContext {
    const { clock, now, clientOf, observer, clusterNetworks = NO_CLUSTER_NETWORKS } = this.#settings;
    return {
      clusterNetworks,
      view: this.view,
      segments: this.#segments,
      caches: this.#caches,
      clients: byKind((kind) => clientOf(Resource[kind])),
      events: this.#events,
      clock,
      now,
      plans: new Map(),
      releaseWaiters: new Map(),
      audit: this.#audit,
      onAddressChange: observer?.onAddressChange,
      enqueue: byKind((kind) => (key: string) => this.#enqueue(kind, key)),
      enqueueRelease: (key) => this.#enqueueRelease(key),
      agents: this.#agents?.pools,
    };
  }

  #createQueue(kind: ReconciledKind, reconcile: (key: string) => Promise<ReconcileResult>): KeyedQueue {
    const { clock, random, observer } = this.#settings;
    return new KeyedQueue({
      clock,
      backOff: { firstMs: FIRST_RETRY_MS, mostMs: MOST_RETRY_MS, random },
      concurrency: CONCURRENCY[kind],
      ...(kind === 'ipPools' && { restMs: (tookMs) => Math.min(tookMs, MOST_REST_MS) }),
      reconcile: (key) => reconcile(key),
      onReconciled: (key, { result, durationMs }) => observer?.onReconciled?.({ kind, key, result, durationMs }),
      onRetry: (key, cause) => {
        if (cause.reason !== CONFLICT) observer?.onRetry?.(kind, key, cause);
      },
      onTerminal: (key, reason) => observer?.onTerminal?.(kind, key, reason),
    });
  }

  #onSynced(): void {
    const { virtualMachines, networkConfigs } = this.#caches;
    const isMemoryKnown = this.#memory?.known ?? true;
    if (virtualMachines.synced && networkConfigs.synced && this.#instances.synced && isMemoryKnown) this.inventory.complete();
    this.#reconcileIfSynced();
  }

  #reconcileIfSynced(): void {
    if (this.#state.kind !== 'syncing' || !this.synced) return;
    this.#state = { kind: 'reconciling' };
    this.#settings.observer?.onSynced?.();
    this.#memory?.lead();
    this.#audit?.lead();
    this.#enqueueAgentGroups();
    this.#enqueueAll();
  }

  #enqueueAll(): void {
    // Some were noted before their instances and their configs were known.
    for (const virtualMachine of this.#caches.virtualMachines.values()) this.view.noteVirtualMachine(keyOf(virtualMachine));
    for (const kind of KINDS) {
      for (const { metadata } of this.#caches[kind].values()) {
        this.#enqueue(kind, keyOf({ metadata }));
      }
    }
    // Virtual machines that are gone may have left their configs.
    for (const config of this.#caches.networkConfigs.values()) this.#enqueue('virtualMachines', keyOf(config));
  }

  #enqueue(kind: ReconciledKind, key: string): void {
    if (this.#state.kind === 'reconciling') this.#queues[kind].add(key);
  }

  #enqueueAgentGroups(): void {
    if (this.#agents !== undefined) this.#enqueue('agentGroups', ALL_AGENT_GROUPS);
  }

  #onInstances(state: InstancesState): void {
    this.#settings.observer?.onInstances?.(state);
    if (this.reconciling)
      for (const virtualMachine of this.#caches.virtualMachines.values()) this.#routing.onMachineChange(keyOf(virtualMachine));
    else {
      this.inventory.noteAll();
      this.#onSynced();
    }
  }

  #enqueueRelease(poolKey: string): void {
    if (this.#state.kind === 'reconciling') this.#queues.ipPools.addAfter(poolKey, RELEASE_GATHER_MS);
  }
}

function replicasOf({ spec, status }: KubernetesObject): AgentReplicas {
  const [desired, ready] = [readField(spec, 'replicas') ?? 1, readField(status, 'readyReplicas') ?? 0];
  return { desired: Number(desired), ready: Number(ready) };
}

function byKind<Value>(create: (kind: CachedKind) => Value): ByKind<Value> {
  return {
    virtualMachines: create('virtualMachines'),
    networkConfigs: create('networkConfigs'),
    ipPools: create('ipPools'),
    networks: create('networks'),
  };
}
