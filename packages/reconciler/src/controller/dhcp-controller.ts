/**
 * From VirtualMachines and IPPools to addresses, on any API that can list, watch and write: caches that listen, queues that
 * have keys reconciled, and the reconcilers of each kind. It contains nothing of HTTP, files or metrics; those are passed in.
 *
 * Copies are kept from `start` on; work is done between `lead` and `stop` only, and only once every copy is whole:
 * nothing is freed because its owner has not been seen yet.
 */

import {
  type BackOffSettings,
  type Clock,
  type EventObject,
  EventRecorder,
  KeyedQueue,
  type KubernetesObject,
  keyOf,
  ObjectCache,
  type ObjectClient,
  type ReconcileResult,
  type ResourcePort,
} from '@vmdhcp/kube-runtime';
import type { AgentsPort } from '../agents/pool-agents.js';
import { ClusterView } from '../view/cluster-view.js';
import { InstanceSource, type InstancesState } from '../view/instance-source.js';
import { SharedSegments } from '../view/shared-segments.js';
import type { AddressChange } from './address-changes.js';
import { type ByKind, CONFLICT, type ControllerContext } from './controller-context.js';
import { NetworkConfigReconciler } from './network-config-reconciler.js';
import { NetworkReconciler } from './network-reconciler.js';
import { PoolReconciler } from './pool-reconciler.js';
import { VirtualMachineReconciler } from './virtual-machine-reconciler.js';

export type ReconciledKind = keyof ByKind<unknown>;

export interface ReconciledKey {
  readonly kind: ReconciledKind;
  readonly key: string;
  readonly result: ReconcileResult;
  readonly durationMs: number;
}

/** What is worth counting or logging. */
export interface ControllerObserver {
  /** A key was worked on. */
  readonly onReconciled?: (work: ReconciledKey) => void;
  /** The work on a key did not succeed, and will be tried again. */
  readonly onRetry?: (kind: ReconciledKind, key: string, cause: { readonly reason: string; readonly error?: unknown }) => void;
  /** A key cannot be settled until an object changes. */
  readonly onTerminal?: (kind: ReconciledKind, key: string, reason: string) => void;
  /** A list or watch failed, and will be tried again. */
  readonly onReadError?: (kind: ReconciledKind | 'virtualMachineInstances', error: unknown) => void;
  /** The state of the VirtualMachineInstances has changed. */
  readonly onInstances?: (state: InstancesState) => void;
  readonly onEventError?: (error: unknown) => void;
  /** An address was recorded for a client or freed, or a client was refused one. */
  readonly onAddressChange?: (change: AddressChange) => void;
  readonly onSynced?: () => void;
}

export interface DhcpControllerSettings {
  readonly clients: ByKind<ObjectClient<KubernetesObject>> & {
    readonly events: Pick<ObjectClient<EventObject>, 'create' | 'patch'>;
    /** KubeVirt's VirtualMachineInstances; read only. Default: there are none, and the templates of virtual machines count at once. */
    readonly virtualMachineInstances?: ResourcePort<KubernetesObject>;
  };
  readonly clock: Clock;
  /** RFC 3339, now: for people, nothing is decided by it. */
  readonly now: () => string;
  /** 0 up to, not including, 1. */
  readonly random: () => number;
  /** Who tells Events: component and instance. */
  readonly identity: string;
  readonly observer?: ControllerObserver;
  /** Default: there are none to wait for. */
  readonly agents?: AgentsPort;
  /** Pools or networks are others than before. */
  readonly onPoolsChanged?: () => void;
}

const CONCURRENCY: ByKind<number> = { virtualMachines: 16, networkConfigs: 16, ipPools: 8, networks: 4 };
/** Conflicts mostly: what is newer is here a moment later. */
const FIRST_RETRY_MS = 20;
const KINDS: readonly ReconciledKind[] = ['networks', 'ipPools', 'networkConfigs', 'virtualMachines'];

export class DhcpController {
  readonly view: ClusterView;
  readonly #settings: DhcpControllerSettings;
  readonly #caches: ByKind<ObjectCache<KubernetesObject>>;
  readonly #queues: ByKind<KeyedQueue>;
  readonly #instances: InstanceSource;
  readonly #events: EventRecorder;
  readonly #context: ControllerContext;
  readonly #segments: SharedSegments;
  #state: 'following' | 'leading' | 'stopped' = 'following';
  #working = false;
  #started = false;
  /** Every cache is at least as new as the leadership. */
  #isFresh = false;

  constructor(settings: DhcpControllerSettings) {
    this.#settings = settings;
    const { clock, random, now, identity, clients, observer } = settings;
    const backOff: BackOffSettings = { firstMs: 100, mostMs: 30_000, random };
    this.#caches = this.#byKind((kind) => this.#createCache(kind, backOff));
    this.#instances = new InstanceSource({
      port: clients.virtualMachineInstances,
      clock,
      backOff,
      onChange: (key) => this.#onInstanceChange(key),
      onState: (state) => this.#onInstances(state),
      onError: (error) => observer?.onReadError?.('virtualMachineInstances', error),
    });
    this.view = new ClusterView({ ...this.#caches, instances: this.#instances });
    this.#segments = new SharedSegments(this.view, this.#caches.networks);
    this.#events = new EventRecorder({
      client: clients.events,
      clock,
      now,
      random,
      component: 'vm-dhcp-controller',
      instance: identity,
      ...(observer?.onEventError && { onError: observer.onEventError }),
    });
    this.#context = {
      view: this.view,
      segments: this.#segments,
      caches: this.#caches,
      clients,
      events: this.#events,
      clock,
      now,
      plans: new Map(),
      releaseWaiters: new Map(),
      onAddressChange: observer?.onAddressChange,
      enqueue: this.#byKind((kind) => (key: string) => this.#enqueue(kind, key)),
      agents: settings.agents,
    };
    const works: ByKind<(key: string) => Promise<ReconcileResult>> = {
      virtualMachines: new VirtualMachineReconciler(this.#context).reconcile,
      networkConfigs: new NetworkConfigReconciler(this.#context).reconcile,
      ipPools: new PoolReconciler(this.#context).reconcile,
      networks: new NetworkReconciler(this.#context).reconcile,
    };
    this.#queues = this.#byKind((kind) => this.#createQueue(kind, works[kind], backOff));
  }

  /** True once every copy is whole. */
  get synced(): boolean {
    return KINDS.every((kind) => this.#caches[kind].synced) && this.#instances.synced;
  }

  /** What is known of VirtualMachineInstances. */
  get instances(): Pick<InstanceSource, 'state' | 'synced'> {
    return this.#instances;
  }

  /** True while it works: it leads, and everything is known. */
  get working(): boolean {
    return this.#working;
  }

  get caches(): ByKind<Pick<ObjectCache<KubernetesObject>, 'get' | 'values' | 'size' | 'synced'>> {
    return this.#caches;
  }

  /** Keys that wait to be worked on. */
  depths(): ByKind<number> {
    return this.#byKind((kind) => this.#queues[kind].depth);
  }

  /** Begins to listen. */
  start(): void {
    if (this.#started) return;
    this.#started = true;
    for (const kind of KINDS) this.#caches[kind].start();
    this.#instances.start();
  }

  /**
   * Begins to reconcile as soon as all caches are synced: with the current state, not that of a watch that lags. The leader before
   * may have given out addresses to virtual machines that have not been seen here.
   */
  lead(): void {
    if (this.#state !== 'following') return;
    this.#state = 'leading';
    const wasStarted = this.#started;
    this.start();
    const refreshed = wasStarted ? [...KINDS.map((kind) => this.#caches[kind].refresh()), this.#instances.refresh()] : [];
    void Promise.all(refreshed).then(() => {
      this.#isFresh = true;
      this.#workIfSynced();
    });
  }

  /** Has a pool looked at again, as its agents have news. */
  agentsChanged(poolKey: string): void {
    this.#enqueue('ipPools', poolKey);
  }

  /** Ends for good: resolves when no work is under way any more. */
  async stop(): Promise<void> {
    this.#state = 'stopped';
    this.#working = false;
    for (const kind of KINDS) this.#caches[kind].stop();
    this.#instances.stop();
    this.#events.stop();
    await Promise.all(KINDS.map((kind) => this.#queues[kind].stop()));
  }

  #byKind<Value>(create: (kind: ReconciledKind) => Value): ByKind<Value> {
    return {
      virtualMachines: create('virtualMachines'),
      networkConfigs: create('networkConfigs'),
      ipPools: create('ipPools'),
      networks: create('networks'),
    };
  }

  #createCache(kind: ReconciledKind, backOff: BackOffSettings): ObjectCache<KubernetesObject> {
    const { clients, clock, observer } = this.#settings;
    return new ObjectCache({
      port: clients[kind],
      clock,
      backOff,
      onChange: (key, isOwn) => this.#onChange(kind, key, isOwn),
      onSynced: () => this.#workIfSynced(),
      onError: (error) => observer?.onReadError?.(kind, error),
    });
  }

  #createQueue(kind: ReconciledKind, work: (key: string) => Promise<ReconcileResult>, backOff: BackOffSettings): KeyedQueue {
    const { clock, observer } = this.#settings;
    return new KeyedQueue({
      clock,
      backOff: { ...backOff, firstMs: FIRST_RETRY_MS },
      concurrency: CONCURRENCY[kind],
      reconcile: async (key) => {
        const begunAtMs = clock.nowMs();
        const result = await work(key);
        observer?.onReconciled?.({ kind, key, result, durationMs: clock.nowMs() - begunAtMs });
        return result;
      },
      onRetry: (key, cause) => {
        if (cause.reason !== CONFLICT) observer?.onRetry?.(kind, key, cause);
      },
      onTerminal: (key, reason) => observer?.onTerminal?.(kind, key, reason),
    });
  }

  #mayBegin(): boolean {
    return this.#state === 'leading' && !this.#working && this.#isFresh && this.synced;
  }

  #workIfSynced(): void {
    if (!this.#mayBegin()) return;
    this.#working = true;
    this.#settings.observer?.onSynced?.();
    this.#settings.onPoolsChanged?.();
    // Some were noted before their instances and their configs were known.
    for (const virtualMachine of this.#caches.virtualMachines.values()) this.view.noteVirtualMachine(keyOf(virtualMachine));
    for (const kind of KINDS) {
      for (const { metadata } of this.#caches[kind].values()) {
        this.#enqueue(kind, keyOf({ metadata }));
      }
    }
  }

  #enqueue(kind: ReconciledKind, key: string): void {
    if (this.#working) this.#queues[kind].add(key);
  }

  #onChange(kind: ReconciledKind, key: string, isOwn: boolean): void {
    switch (kind) {
      case 'virtualMachines':
        this.#onInstanceChange(key);
        // Its status reports that.
        if (this.#caches.virtualMachines.get(key) === undefined) this.#enqueue('networkConfigs', key);
        return;
      case 'networkConfigs':
        this.#onNetworkConfigChange(key, isOwn);
        return;
      case 'ipPools':
        this.#onPoolChange(key, isOwn);
        return;
      case 'networks':
        this.#onNetworkChange(key, isOwn);
    }
  }

  #onNetworkChange(key: string, isOwn: boolean): void {
    if (!isOwn) this.#enqueue('networks', key);
    this.#settings.onPoolsChanged?.();
    for (const pool of this.view.poolsOn(key)) this.#enqueue('ipPools', pool);
    for (const pool of this.#segments.noteNetwork(key)) this.#enqueue('ipPools', pool);
    // The network specifies whether a pool is missing there.
    if (this.view.servingPool(key) === undefined)
      for (const config of this.view.configsOn(key)) this.#enqueue('networkConfigs', config);
  }

  /** Of the virtual machine itself, or of its VirtualMachineInstance, which has the same name. */
  #onInstanceChange(key: string): void {
    for (const network of this.view.noteVirtualMachine(key)) this.#enqueuePoolOf(network);
    this.#enqueue('virtualMachines', key);
  }

  #onInstances(state: InstancesState): void {
    this.#settings.observer?.onInstances?.(state);
    if (this.#working)
      for (const virtualMachine of this.#caches.virtualMachines.values()) this.#onInstanceChange(keyOf(virtualMachine));
    else this.#workIfSynced();
  }

  #onNetworkConfigChange(key: string, isOwn: boolean): void {
    for (const network of this.view.noteNetworkConfig(key)) this.#enqueuePoolOf(network);
    if (this.#caches.networkConfigs.get(key) === undefined) this.#queues.networkConfigs.forget(key);
    else this.#enqueue('networkConfigs', key);
    // Its virtual machine decides about it: a user may have deleted it, or written into it.
    if (!isOwn) this.#enqueue('virtualMachines', key);
  }

  #enqueuePoolOf(network: string): void {
    const pool = this.view.servingPool(network);
    if (pool !== undefined) this.#enqueue('ipPools', pool.key);
  }

  #onPoolChange(key: string, isOwn: boolean): void {
    const networks = this.view.notePool(key);
    if (isOwn) return;
    this.#settings.onPoolsChanged?.();
    this.#enqueue('ipPools', key);
    for (const network of networks) {
      this.#enqueue('networks', network);
      for (const other of this.view.poolsOn(network)) this.#enqueue('ipPools', other);
      for (const other of this.#segments.noteNetwork(network)) this.#enqueue('ipPools', other);
      if (this.view.servingPool(network)?.key !== key) {
        for (const config of this.view.configsOn(network)) this.#enqueue('networkConfigs', config);
      }
    }
  }
}
