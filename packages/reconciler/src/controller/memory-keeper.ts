/** Reads the ConfigMaps with the MAC addresses of stopped machines in every replica; the leader writes gathered changes. */
import { MAC_ADDRESS_MEMORY_LABEL } from '@vmdhcp/ippool-api';
import { Resource } from '@vmdhcp/ippool-api/resources';
import {
  type ApiResource,
  type CacheSubscription,
  type Clock,
  KeyedQueue,
  type KubernetesObject,
  type ObjectClient,
  type ReconcileResult,
  readField,
  type SharedCaches,
  toReconcileResult,
  type WriteResult,
} from '@vmdhcp/kube-runtime';
import type { ObjectSource } from '../view/cluster-view.js';
import { MacAddressMemory, type MacAddressMemorySettings } from '../view/mac-address-memory.js';
import { type MemoryProblem, memoryRecordNames } from '../virtual-machine/memory-record.js';
import { type MemoryRecordPlan, planMemoryRecord } from '../virtual-machine/plan-memory-record.js';

export interface MemoryKeeperSettings extends Pick<MacAddressMemorySettings, 'recordedInterfaces' | 'onRead'> {
  readonly caches: Pick<SharedCaches, 'subscribe'>;
  readonly clientOf: (resource: ApiResource) => ObjectClient<KubernetesObject>;
  /** The namespace of the ConfigMaps, that of the agents. */
  readonly namespace: string;
  readonly virtualMachines: ObjectSource;
  /** The only visible namespace of machines; undefined for all. */
  readonly onlyNamespace: string | undefined;
  readonly clock: Clock;
  /** 0 up to, not including, 1. */
  readonly random: () => number;
  /** Called once the memory is known, or known to be unavailable. */
  readonly onKnown: () => void;
  /** An entry is ignored, or a machine is not remembered; called once for each message. */
  readonly onProblem: ((problem: MemoryProblem) => void) | undefined;
  /** A list, watch or write failed, and is retried. */
  readonly onError: (error: unknown) => void;
}

/** Machines that start or stop within this time go into one write. */
const GATHER_MS = 2_000;
const CONCURRENT_WRITES = 2;
const BACK_OFF = { firstMs: 100, mostMs: 30_000 };
const NAMES: ReadonlySet<string> = new Set(memoryRecordNames());

export class MemoryKeeper {
  readonly memory: MacAddressMemory;
  readonly #settings: MemoryKeeperSettings;
  readonly #cache: CacheSubscription;
  readonly #client: ObjectClient<KubernetesObject>;
  readonly #queue: KeyedQueue;
  readonly #reported = new Map<string, ReadonlySet<string>>();
  #isKnown = false;
  #state: 'following' | 'refreshing' | 'leading' | 'stopped' = 'following';

  constructor(settings: MemoryKeeperSettings) {
    this.#settings = settings;
    const { caches, clientOf, namespace, clock, random, recordedInterfaces, onRead } = settings;
    this.memory = new MacAddressMemory({ recordedInterfaces, onRead, onUnwritten: (name) => this.#onUnwritten(name) });
    const resource = { ...Resource.configMaps, namespace, labelSelector: `${MAC_ADDRESS_MEMORY_LABEL}=true` };
    this.#client = clientOf(resource);
    this.#cache = caches.subscribe(resource, {
      onChange: (key, isOwn) => this.#onChange(key, isOwn),
      onSynced: () => this.#onKnown(),
      onError: (error) => this.#onError(error),
    });
    this.#queue = new KeyedQueue({
      clock,
      backOff: { ...BACK_OFF, random },
      concurrency: CONCURRENT_WRITES,
      reconcile: (name) => this.#write(name),
      onRetry: (name, { reason, error }) => settings.onError(error ?? new Error(`ConfigMap ${name}: ${reason}`)),
      onTerminal: (name, reason) => settings.onError(new Error(`ConfigMap ${name}: ${reason}`)),
    });
  }

  /** True once the memory is known, or known to be unavailable. */
  get known(): boolean {
    return this.#isKnown;
  }

  /** Begins to read. */
  start(): void {
    this.#cache.start();
  }

  /** Begins to write after it has read the writes of the former leader. Virtual machines are known by now. */
  lead(): void {
    if (this.#state !== 'following') return;
    this.#state = 'refreshing';
    void this.#cache.refresh().then(() => {
      if (this.#state !== 'refreshing') return;
      this.#state = 'leading';
      for (const name of NAMES) this.#queue.add(name);
    });
  }

  /** Stops for good; resolves when no write is in progress. */
  async stop(): Promise<void> {
    this.#state = 'stopped';
    this.#cache.stop();
    await this.#queue.stop();
  }

  /** Notes that the memory differs from the ConfigMap of this name. */
  #onUnwritten(name: string): void {
    if (this.#state === 'leading') this.#queue.addAfter(name, GATHER_MS);
  }

  #onChange(key: string, isOwn: boolean): void {
    const name = this.#nameOf(key);
    if (!NAMES.has(name)) return;
    const isLeading = this.#state === 'leading';
    this.#report(`read ${name}`, this.memory.readRecord(name, this.#cache.get(key), !isLeading));
    if (isLeading && !isOwn) this.#queue.add(name);
  }

  #nameOf(key: string): string {
    return key.slice(this.#settings.namespace.length + 1);
  }

  #onKnown(): void {
    if (this.#isKnown) return;
    this.#isKnown = true;
    this.#settings.onKnown();
  }

  #onError(error: unknown): void {
    this.#settings.onError(error);
    // Not permitted, or the namespace is missing: Wake-on-LAN works with the data of the machines alone.
    const status = readField(error, 'status');
    if (status === 403 || status === 404) this.#onKnown();
  }

  async #write(name: string): Promise<ReconcileResult> {
    if (this.#state !== 'leading') return { kind: 'settled' };
    const key = `${this.#settings.namespace}/${name}`;
    const observed = this.#cache.get(key);
    const plan = this.#plan(name, observed);
    const result = await this.#apply(key, observed, plan);
    if (result === undefined) return { kind: 'settled' };
    if (result.ok) this.#cache.wrote(result.object);
    return toReconcileResult(result);
  }

  async #apply(
    key: string,
    observed: KubernetesObject | undefined,
    { action }: MemoryRecordPlan,
  ): Promise<WriteResult<KubernetesObject> | undefined> {
    if (action === undefined) return undefined;
    const target = { key, resourceVersion: observed?.metadata.resourceVersion };
    if (action.kind === 'patch') return this.#client.patch(target, action.patch);
    const created = await this.#client.create(action.object);
    if (created.ok || created.reason !== 'already-exists') return created;
    // It is not in the cache: it has lost its label, or has just been created.
    const stored = await this.#client.get(key);
    const { action: repair } = this.#plan(this.#nameOf(key), stored);
    if (stored === undefined || repair?.kind !== 'patch') return created;
    return this.#client.patch({ key, resourceVersion: stored.metadata.resourceVersion }, repair.patch);
  }

  #plan(name: string, observed: KubernetesObject | undefined): MemoryRecordPlan {
    const { namespace, onlyNamespace, virtualMachines } = this.#settings;
    const machines = this.memory.recordOf(name, (key) => virtualMachines.get(key)?.metadata.uid);
    const isSeen = (key: string) => onlyNamespace === undefined || key.startsWith(`${onlyNamespace}/`);
    const plan = planMemoryRecord({ namespace, name, machines, isSeen }, observed);
    this.#report(`write ${name}`, plan.problems);
    return plan;
  }

  /** Reports each problem once, as long as it lasts. */
  #report(place: string, problems: readonly MemoryProblem[]): void {
    const before = this.#reported.get(place);
    this.#reported.set(place, new Set(problems.map(({ message }) => message)));
    for (const problem of problems) if (before?.has(problem.message) !== true) this.#settings.onProblem?.(problem);
  }
}
