/**
 * Turns VirtualMachines and IPPools into addresses and agents, on any API that can list, watch and write. Data flows one way: caches -> knowledge
 * about them (`view`) -> the reconciler of each kind -> writes -> caches. It knows nothing of HTTP, files or metrics; those are passed in.
 *
 * Caches are followed from `start` on; keys are reconciled between `lead` and `stop` only, and only once every cache of virtual
 * machines, configs, pools and networks is complete: no address is released because its owner has not been seen yet.
 */

import { Resource } from '@vmdhcp/ippool-api/resources';
import { type CacheSubscription, type ControllerPart, type EventRecorder, keyOf, PartLifecycle } from '@vmdhcp/kube-runtime';
import { NO_CLUSTER_NETWORKS } from '../admission/admission-facts.js';
import type { AuditFacts } from '../audit/audit-facts.js';
import { ClusterView } from '../view/cluster-view.js';
import type { InstanceSource, InstancesState } from '../view/instance-source.js';
import { MachineAddresses } from '../view/machine-addresses.js';
import { readNewestInstance } from '../view/newest-instance.js';
import { SharedSegments } from '../view/shared-segments.js';
import { AgentGroupsReconciler, ALL_AGENT_GROUPS } from './agent-groups-reconciler.js';
import { type AgentReplicas, agentReplicasOf } from './agent-replicas.js';
import type { AgentsContext } from './agents-context.js';
import type { AuditKeeper } from './audit-keeper.js';
import { byKind, CACHED_KINDS } from './by-kind.js';
import { ChangeRouting } from './change-routing.js';
import type { ByKind, ControllerContext } from './controller-context.js';
import type { ReconciledKind } from './controller-observer.js';
import { createAgents, createAudit, createEvents, createMemory } from './controller-parts.js';
import { describeLacks, describeUnready, type ReadinessFacts } from './controller-readiness.js';
import type { DhcpControllerSettings } from './dhcp-controller-settings.js';
import { FollowedKinds } from './followed-kinds.js';
import type { MemoryKeeper } from './memory-keeper.js';
import { NetworkConfigReconciler } from './network-config-reconciler.js';
import { NetworkReconciler } from './network-reconciler.js';
import { PoolReconciler } from './pool-reconciler.js';
import { ReconcileQueues } from './reconcile-queues.js';
import { VirtualMachineReconciler } from './virtual-machine-reconciler.js';

/** Freeing an address is less urgent than assigning one, so deletions within this time go into one patch of their pool. */
const RELEASE_GATHER_MS = 200;

export class DhcpController implements ControllerPart {
  readonly name = 'dhcp';
  readonly view: ClusterView;
  /**
   * All machines and their MAC addresses, for Wake-on-LAN; complete even without leadership. It has labels if the shared caches have them
   * (`cachedPartsWith`).
   */
  readonly inventory: MachineAddresses;
  readonly #settings: DhcpControllerSettings;
  readonly #followed: FollowedKinds;
  readonly #queues: ReconcileQueues;
  readonly #events: EventRecorder;
  readonly #agents: AgentsContext | undefined;
  readonly #agentGroups: AgentGroupsReconciler | undefined;
  readonly #segments: SharedSegments;
  readonly #routing: ChangeRouting;
  readonly #memory: MemoryKeeper | undefined;
  readonly #audit: AuditKeeper | undefined;
  readonly #life: PartLifecycle;
  readonly #lastOwners: ControllerContext['lastOwners'] = new Map();

  constructor(settings: DhcpControllerSettings) {
    this.#settings = settings;
    this.#life = this.#createLifecycle();
    this.#followed = new FollowedKinds({
      ...settings,
      onChange: (kind, key, isOwn) => this.#routing.onChange(kind, key, isOwn),
      onMachineChange: (key) => this.#routing.onMachineChange(key),
      onSynced: () => this.#onSynced(),
      onInstances: (state) => this.#onInstances(state),
    });
    this.view = new ClusterView({ ...this.#caches, instances: this.#followed.instances, lastOwners: this.#lastOwners });
    this.#memory = createMemory(settings, {
      virtualMachines: this.#caches.virtualMachines,
      recordedInterfaces: (key) => this.view.recordedInterfaces(key),
      onRead: (key) => this.inventory.note(key),
      onKnown: () => this.#onSynced(),
    });
    this.#audit = createAudit(settings, () => {
      const gone = (this.#audit?.pools() ?? []).filter((key) => this.view.pool(key) === undefined);
      for (const key of [...gone, ...this.view.pools().map((pool) => pool.key)]) this.#enqueue('ipPools', key);
    });
    this.inventory = new MachineAddresses({
      virtualMachines: this.#caches.virtualMachines,
      knowledgeOf: (virtualMachine) => this.view.knowledgeOf(virtualMachine),
      memory: this.#memory?.memory,
    });
    this.#segments = new SharedSegments(this.view, this.#caches.networks);
    this.#events = createEvents(settings);
    this.#agents = createAgents(settings, {
      view: this.view,
      networks: this.#caches.networks,
      onChange: (change) => this.#routing.onAgentsChange(change),
      enqueue: { agentGroups: () => this.#enqueueAgentGroups(), ipPools: (key) => this.#enqueue('ipPools', key) },
    });
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
      forgetNetworkConfig: (key) => this.#queues.forget('networkConfigs', key),
    });
    const context = this.#createContext();
    this.#queues = new ReconcileQueues({
      ...settings,
      reconcilers: {
        virtualMachines: new VirtualMachineReconciler(context).reconcile,
        networkConfigs: new NetworkConfigReconciler(context).reconcile,
        ipPools: new PoolReconciler(context).reconcile,
        networks: new NetworkReconciler(context).reconcile,
        agentGroups: this.#agentGroups?.reconcile ?? (async () => ({ kind: 'settled' })),
      },
    });
  }

  /** True once every cache that addresses depend on is complete. */
  get synced(): boolean {
    return this.#followed.synced;
  }

  /** Kinds that are not listed yet, and why. */
  unready(): string[] {
    return describeUnready(this.#readiness());
  }

  /** Missing kinds that nothing needs. */
  lacks(): readonly string[] {
    return describeLacks(this.#readiness());
  }

  /** The knowledge about VirtualMachineInstances. */
  get instances(): Pick<InstanceSource, 'state' | 'synced'> {
    return this.#followed.instances;
  }

  /** True while it reconciles: it is leader, and every cache is complete. */
  get reconciling(): boolean {
    return this.#life.isWorking;
  }

  get caches(): ByKind<Pick<CacheSubscription, 'get' | 'values' | 'size' | 'synced'>> {
    return this.#caches;
  }

  /** Keys that wait to be reconciled. */
  depths(): Readonly<Record<ReconciledKind, number>> {
    return this.#queues.depths();
  }

  /** How long the oldest waiting key has waited, in milliseconds; 0 if none waits. */
  oldestWaitsMs(): Readonly<Record<ReconciledKind, number>> {
    return this.#queues.oldestWaitsMs();
  }

  /** The state of the records of assignments; undefined if this controller keeps none now. */
  auditFacts(): AuditFacts | undefined {
    return this.#audit?.facts();
  }

  /** The wanted and ready pods of each group's Deployment, by the name of the group. Empty without agents. */
  agentReplicas(): ReadonlyMap<string, AgentReplicas> {
    return agentReplicasOf(this.#agents?.observed.groups() ?? []);
  }

  /** Begins to follow the cluster. */
  start(): void {
    this.#life.start();
  }

  /**
   * Begins to reconcile as soon as every cache is complete and as new as this call, because a former leader may have assigned addresses to virtual
   * machines that a lagging watch has not shown yet.
   */
  lead(): void {
    this.#life.lead();
  }

  /** Stops for good; resolves when all work has ended. */
  async stop(): Promise<void> {
    this.#life.stop();
    this.#followed.stop();
    this.#agents?.observed.stop();
    this.#agentGroups?.stop();
    this.#events.stop();
    await Promise.all([this.#queues.stop(), this.#memory?.stop()]);
    // Stores their results.
    await this.#audit?.stop();
  }

  get #caches(): ByKind<CacheSubscription> {
    return this.#followed.caches;
  }

  #readiness(): ReadinessFacts {
    return {
      caches: this.#caches,
      instances: this.#followed.instances,
      agents: this.#agents?.observed,
      missingKinds: this.#followed.missing,
      mayLackKinds: this.#settings.mayLackKinds === true,
    };
  }

  #createLifecycle(): PartLifecycle {
    return new PartLifecycle({
      follow: () => {
        this.#followed.start();
        this.#memory?.start();
        this.#agents?.observed.start();
      },
      refresh: () => {
        this.#agents?.observed.refresh();
        return this.#followed.refresh();
      },
      isSynced: () => this.synced,
      onWorking: () => this.#reconcileAll(),
    });
  }

  #createContext(): ControllerContext {
    const { clock, now, random, clientOf, observer, clusterNetworks = NO_CLUSTER_NETWORKS } = this.#settings;
    return {
      clusterNetworks,
      annotatesMachines: this.#settings.annotatesMachines === true,
      view: this.view,
      segments: this.#segments,
      caches: this.#caches,
      clients: byKind((kind) => clientOf(Resource[kind])),
      // If they cannot be listed, none is known.
      readInstance: async (key) => (this.instances.state === 'listed' ? readNewestInstance(clientOf, key) : undefined),
      events: this.#events,
      ...{ clock, now, random },
      plans: new Map(),
      lastOwners: this.#lastOwners,
      unrecordedPlans: new Map(),
      releaseWaiters: new Map(),
      audit: this.#audit,
      onAddressChange: observer?.onAddressChange,
      enqueue: byKind((kind) => (key: string) => this.#enqueue(kind, key)),
      enqueueRelease: (key) => this.#enqueueRelease(key),
      agents: this.#agents?.pools,
    };
  }

  #onSynced(): void {
    const { virtualMachines, networkConfigs } = this.#caches;
    const isMemoryKnown = this.#memory?.known ?? true;
    if (virtualMachines.synced && networkConfigs.synced && this.#followed.instances.synced && isMemoryKnown)
      this.inventory.complete();
    this.#life.check();
  }

  #reconcileAll(): void {
    // Before the first plan: some were noted before their instances and their configs were known.
    for (const virtualMachine of this.#caches.virtualMachines.values()) this.view.noteVirtualMachine(keyOf(virtualMachine));
    this.#settings.observer?.onSynced?.();
    this.#memory?.lead();
    this.#audit?.lead();
    this.#enqueueAgentGroups();
    this.#enqueueAll();
  }

  #enqueueAll(): void {
    for (const kind of CACHED_KINDS) {
      for (const { metadata } of this.#caches[kind].values()) {
        this.#enqueue(kind, keyOf({ metadata }));
      }
    }
    // Deleted virtual machines may have left their configs.
    for (const config of this.#caches.networkConfigs.values()) this.#enqueue('virtualMachines', keyOf(config));
  }

  #enqueue(kind: ReconciledKind, key: string): void {
    if (this.reconciling) this.#queues.add(kind, key);
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
    if (this.reconciling) this.#queues.addAfter('ipPools', poolKey, RELEASE_GATHER_MS);
  }
}
