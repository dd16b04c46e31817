/**
 * Derives from WolConfigs and virtual machines which machines may be woken, and which agents listen. Every replica follows the
 * cluster, so that its index is ready when it becomes leader; only the leader writes: DaemonSets, the status of WolConfigs, and
 * Events.
 */

import { EVENT_COMPONENT, Resource } from '@vmdhcp/ippool-api/resources';
import type { OwnedObjectWrite } from '@vmdhcp/kube-runtime';
import {
  type ApiResource,
  type CacheSubscription,
  type Clock,
  CONFLICT,
  type ControllerPart,
  DeletionMarks,
  type EventObject,
  EventRecorder,
  isBeingDeleted,
  KeyedQueue,
  type KubernetesObject,
  mostUrgent,
  type ObjectClient,
  PartLifecycle,
  type ReconcileResult,
  type SharedCaches,
  toReconcileResult,
  toRegarding,
  writePlan,
} from '@vmdhcp/kube-runtime';
import { planWakeAgents, type WakeAgentsPlan } from '../agents/plan-wake-agents.js';
import { WAKE_AGENT_SELECTOR, type WakeDaemonSetSettings } from '../agents/wake-agent-daemon-set.js';
import { type ReadWolConfig, readWolConfig, type WolConfigReading } from '../config/read-wol-config.js';
import { AgentFailures } from './agent-failures.js';
import type { MachineSource } from './machine-source.js';
import { WakeableMachineIndex, type WakeableMachines } from './wakeable-machines.js';
import { invalidStatus, planWolConfigStatus, type WantedStatus, wolConfigStatus } from './wol-config-status.js';

/** The keys that are reconciled: all DaemonSets at once, because ports are shared; and the statuses of all WolConfigs. */
export type WakeOnLanKey = 'agents' | 'statuses';
/** Kinds that are listed and watched. */
export type WakeOnLanKind = 'wolConfigs' | 'daemonSets';

/** Events for metrics and the log. */
export interface WakeOnLanObserver {
  readonly onReconciled?: (key: WakeOnLanKey, result: ReconcileResult, durationMs: number) => void;
  readonly onRetry?: (key: WakeOnLanKey, cause: { readonly reason: string; readonly error?: unknown }) => void;
  readonly onTerminal?: (key: WakeOnLanKey, reason: string) => void;
  /** A list or watch failed, and will be tried again. */
  readonly onReadError?: (kind: WakeOnLanKind, error: unknown) => void;
  readonly onEventError?: (error: unknown) => void;
  /** A DaemonSet is about to be created, changed or deleted. */
  readonly onAgentWrite?: (write: OwnedObjectWrite) => void;
  /** The leader begins to write: everything is listed. */
  readonly onSynced?: () => void;
}

/** The caches, clients and settings of the controller of Wake-on-LAN. */
export interface WakeOnLanControllerSettings {
  readonly caches: Pick<SharedCaches, 'subscribe'>;
  /** How objects are written. */
  readonly clientOf: <Kind extends KubernetesObject = KubernetesObject>(resource: ApiResource) => ObjectClient<Kind>;
  readonly inventory: MachineSource;
  readonly agents: WakeDaemonSetSettings;
  readonly clock: Clock;
  /** The current time as RFC 3339: for people, no decision depends on it. */
  readonly now: () => string;
  /** 0 up to, but not including, 1. */
  readonly random: () => number;
  /** The instance in Events. */
  readonly identity: string;
  readonly observer?: WakeOnLanObserver;
}

const FIRST_RETRY_MS = 50;
const MOST_RETRY_MS = 30_000;
/** Changes of virtual machines and of DaemonSet counts within this time become one write of each status. */
const GATHER_MS = 1_000;

export class WakeOnLanController implements ControllerPart {
  readonly name = 'wake-on-lan';
  readonly #settings: WakeOnLanControllerSettings;
  readonly #configs: CacheSubscription;
  readonly #daemonSets: CacheSubscription;
  readonly #clients: { readonly configs: ObjectClient<KubernetesObject>; readonly daemonSets: ObjectClient<KubernetesObject> };
  readonly #index: WakeableMachineIndex;
  readonly #events: EventRecorder;
  readonly #queue: KeyedQueue;
  readonly #life: PartLifecycle;
  readonly #marks = new DeletionMarks();
  readonly #failures = new AgentFailures();
  /** WolConfigs that are not being deleted, by name. */
  readonly #readings = new Map<string, WolConfigReading>();
  #stopAwaitingMachines: () => void = () => undefined;
  #plan: WakeAgentsPlan | undefined;

  constructor(settings: WakeOnLanControllerSettings) {
    this.#settings = settings;
    const { caches, clientOf, agents, clock, now, random, identity, inventory, observer } = settings;
    const daemonSets = { ...Resource.daemonSets, namespace: agents.namespace, labelSelector: WAKE_AGENT_SELECTOR };
    this.#configs = caches.subscribe(Resource.wolConfigs, {
      onChange: (key) => this.#onConfigChange(key),
      onSynced: () => this.#onSynced(),
      onError: (error) => observer?.onReadError?.('wolConfigs', error),
    });
    this.#daemonSets = caches.subscribe(daemonSets, {
      onChange: (key) => this.#onDaemonSetChange(key),
      onSynced: () => this.#onSynced(),
      onError: (error) => observer?.onReadError?.('daemonSets', error),
    });
    this.#clients = { configs: clientOf(Resource.wolConfigs), daemonSets: clientOf(daemonSets) };
    this.#index = new WakeableMachineIndex({ inventory, clock, onMachineChange: () => this.#addStatuses(GATHER_MS) });
    this.#events = new EventRecorder({
      client: clientOf<EventObject>(Resource.events),
      clock,
      now,
      random,
      component: EVENT_COMPONENT,
      instance: identity,
      ...(observer?.onEventError && { onError: observer.onEventError }),
    });
    this.#life = new PartLifecycle({
      follow: () => this.#follow(),
      refresh: () => Promise.all([this.#configs.refresh(), this.#daemonSets.refresh()]),
      isSynced: () => this.synced,
      onWorking: () => {
        observer?.onSynced?.();
        this.#add('agents');
        this.#add('statuses');
      },
    });
    this.#queue = new KeyedQueue({
      clock,
      backOff: { firstMs: FIRST_RETRY_MS, mostMs: MOST_RETRY_MS, random },
      reconcile: (key) => (key === 'agents' ? this.#reconcileAgents() : this.#reconcileStatuses()),
      onReconciled: (key, { result, durationMs }) => observer?.onReconciled?.(key as WakeOnLanKey, result, durationMs),
      onRetry: (key, cause) => {
        if (cause.reason !== CONFLICT) observer?.onRetry?.(key as WakeOnLanKey, cause);
      },
      onTerminal: (key, reason) => observer?.onTerminal?.(key as WakeOnLanKey, reason),
    });
  }

  /** Which machines may be woken; complete once `synced` is true. */
  get index(): WakeableMachines {
    return this.#index;
  }

  /** True once every WolConfig and every virtual machine is known. */
  get synced(): boolean {
    return this.#configs.synced && this.#daemonSets.synced && this.#settings.inventory.synced;
  }

  unready(): string[] {
    const missing = [
      ...(this.#configs.synced ? [] : ['wolconfigs']),
      ...(this.#daemonSets.synced ? [] : ['daemonsets']),
      ...(this.#settings.inventory.synced ? [] : ['virtual machines']),
    ];
    return missing.length === 0 ? [] : [`not listed yet: ${missing.join(', ')}`];
  }

  /** The number of virtual machines that each WolConfig in use allows, by name, for metrics. */
  managed(): ReadonlyMap<string, number> {
    return new Map(this.#usedConfigs().map(({ name }) => [name, this.#index.managedBy(name)]));
  }

  start(): void {
    this.#life.start();
  }

  lead(): void {
    this.#life.lead();
  }

  async stop(): Promise<void> {
    this.#life.stop();
    this.#stopAwaitingMachines();
    this.#configs.stop();
    this.#daemonSets.stop();
    this.#index.stop();
    this.#events.stop();
    await this.#queue.stop();
  }

  #follow(): void {
    this.#index.start();
    this.#stopAwaitingMachines = this.#settings.inventory.onSynced(() => this.#onSynced());
    this.#configs.start();
    this.#daemonSets.start();
  }

  #onConfigChange(key: string): void {
    const object = this.#configs.get(key);
    if (object === undefined || isBeingDeleted(object)) this.#readings.delete(key);
    else this.#readings.set(key, readWolConfig(object));
    // Before the first list is complete, configurations arrive one by one.
    if (this.#configs.synced) this.#index.setConfigs(this.#usedConfigs());
    this.#add('agents');
    this.#add('statuses');
  }

  #onDaemonSetChange(key: string): void {
    this.#marks.seen('DaemonSet', key, this.#daemonSets.get(key));
    this.#add('agents');
  }

  #onSynced(): void {
    if (this.#configs.synced) this.#index.setConfigs(this.#usedConfigs());
    this.#life.check();
  }

  #usedConfigs(): readonly ReadWolConfig[] {
    return [...this.#readings.values()].flatMap((reading) => (reading.ok ? [reading.config] : []));
  }

  #add(key: WakeOnLanKey): void {
    if (this.#life.isWorking) this.#queue.add(key);
  }

  #addStatuses(afterMs: number): void {
    if (this.#life.isWorking) this.#queue.addAfter('statuses', afterMs);
  }

  async #reconcileAgents(): Promise<ReconcileResult> {
    const daemonSets = [...this.#daemonSets.values()].map((one) => this.#marks.marked('DaemonSet', one));
    const plan = planWakeAgents({ configs: this.#usedConfigs(), daemonSets }, this.#settings.agents);
    this.#plan = plan;
    this.#failures.keepOnly(plan);
    let result: ReconcileResult = { kind: 'settled' };
    for (const write of plan.writes) result = mostUrgent(result, await this.#write(write));
    this.#addStatuses(plan.writes.length > 0 ? 0 : GATHER_MS);
    return result;
  }

  async #write(write: OwnedObjectWrite): Promise<ReconcileResult> {
    const { observer, now } = this.#settings;
    observer?.onAgentWrite?.(write);
    const written = await writePlan(this.#clients.daemonSets, write);
    if (written === undefined) return { kind: 'settled' };
    if (!written.ok) return this.#failures.note(write, written) ?? toReconcileResult(written);
    if (write.kind === 'delete') this.#marks.add('DaemonSet', write.object, now());
    else if (written.object !== undefined) this.#daemonSets.wrote(written.object);
    return { kind: 'settled' };
  }

  async #reconcileStatuses(): Promise<ReconcileResult> {
    const duplicates = this.#index.duplicates();
    let result: ReconcileResult = { kind: 'settled' };
    for (const [key, reading] of [...this.#readings]) {
      const wanted = reading.ok ? this.#statusOf(reading.config, duplicates) : invalidStatus(reading.problems);
      if (wanted !== undefined) result = mostUrgent(result, await this.#writeStatus(key, wanted));
    }
    return result;
  }

  /** Undefined until its agents are planned. */
  #statusOf(config: ReadWolConfig, duplicates: ReturnType<WakeableMachineIndex['duplicates']>): WantedStatus | undefined {
    const { name } = config;
    const agents = this.#plan?.agents.get(name);
    if (agents === undefined) return undefined;
    return wolConfigStatus({
      config,
      managed: this.#index.managedBy(name),
      duplicates: duplicates.get(name) ?? [],
      missing: this.#index.missingMachines(config.allows),
      agents,
      failure: this.#failures.of(name),
    });
  }

  async #writeStatus(key: string, wanted: WantedStatus): Promise<ReconcileResult> {
    const object = this.#configs.get(key);
    if (object === undefined) return { kind: 'settled' };
    const patch = planWolConfigStatus(object, wanted, this.#settings.now());
    if (patch === undefined) return { kind: 'settled' };
    const { resourceVersion } = object.metadata;
    const written = await this.#clients.configs.patchStatus({ key, resourceVersion }, patch);
    if (!written.ok) return toReconcileResult(written);
    this.#configs.wrote(written.object);
    this.#tell(object, wanted);
    return { kind: 'settled' };
  }

  /** Problems are also Events: `kubectl describe` shows them with their time. */
  #tell(object: KubernetesObject, { conditions }: WantedStatus): void {
    const regarding = { ...toRegarding(object), apiVersion: 'wol.pillon.org/v1beta1', kind: 'WolConfig' };
    for (const { status, reason, message = '' } of conditions) {
      if (status !== 'False' || reason === undefined) continue;
      this.#events.record(regarding, { type: 'Warning', reason, message });
    }
  }
}
