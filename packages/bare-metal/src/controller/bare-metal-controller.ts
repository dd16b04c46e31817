/**
 * Turns ClusterAgents into running agents, as a part of the controller's process. Every replica follows the cluster; only the
 * leader writes: the objects of agents, the status of ClusterAgents, operations that no agent accepts, and Events.
 */

import { BARE_METAL_API_VERSION, HOST_CREDENTIALS_LABEL } from '@vmdhcp/ippool-api/bare-metal/keys';
import { EVENT_COMPONENT, Resource } from '@vmdhcp/ippool-api/resources';
import {
  type ApiResource,
  type CacheSubscription,
  CONFLICT,
  type ControllerPart,
  type EventObject,
  EventRecorder,
  isBeingDeleted,
  KeyedQueue,
  type KubernetesObject,
  keyOf,
  mostUrgent,
  PartLifecycle,
  type ReconcileResult,
  readConditions,
  readField,
  toReconcileResult,
  toRegarding,
} from '@vmdhcp/kube-runtime';
import { clusterAgentSecretProblems } from '../check/unnamed-secret.js';
import { describeHostProblem } from '../object/problem.js';
import { type HostAgentsPlan, planHostAgents } from '../workload/plan-host-agents.js';
import { type SecretFacts, secretTexts } from '../workload/secret-texts.js';
import type { BareMetalControllerSettings, BareMetalKey, ClusterAgentAddresses } from './bare-metal-settings.js';
import {
  type ClusterAgentCondition,
  type ClusterAgentStatus,
  clusterAgentStatus,
  planClusterAgentStatus,
} from './cluster-agent-status.js';
import { EndpointEvents } from './endpoint-events.js';
import { HostAgentFailures } from './host-agent-failures.js';
import { endOrphanedOperations } from './orphaned-operations.js';
import { OwnedObjects } from './owned-objects.js';

const FIRST_RETRY_MS = 50;
const MOST_RETRY_MS = 30_000;
/** Changes of Deployment counts within this time become one write of each status. */
const GATHER_MS = 500;
/** Reasons without an Event. */
const USUAL: ReadonlySet<string> = new Set(['HostAgentsStarting', 'HostAgentsOff']);

/** The part of the process. A standby follows objects, and writes nothing. */
export class BareMetalController implements ControllerPart {
  readonly name = 'bare-metal';
  readonly #settings: BareMetalControllerSettings;
  readonly #clusterAgents: CacheSubscription;
  readonly #endpoints: CacheSubscription;
  readonly #hosts: CacheSubscription;
  readonly #operations: CacheSubscription;
  /** By namespace. */
  readonly #secrets: ReadonlyMap<string, CacheSubscription>;
  readonly #owned: OwnedObjects;
  readonly #events: EventRecorder;
  readonly #endpointEvents: EndpointEvents;
  readonly #queue: KeyedQueue;
  readonly #life: PartLifecycle;
  #failures = new HostAgentFailures();
  #plan: HostAgentsPlan | undefined;

  constructor(settings: BareMetalControllerSettings) {
    this.#settings = settings;
    const { agents, clientOf, clock, now, random, identity, observer, caches } = settings;
    this.#clusterAgents = this.#follow(Resource.clusterAgents, ['agents', 'statuses', 'operations']);
    this.#endpoints = this.#follow(Resource.hostEndpoints, ['agents']);
    this.#hosts = this.#follow(Resource.hostStatuses, ['operations']);
    this.#operations = this.#follow(Resource.hostOperations, ['operations']);
    const secretsOf = (namespace: string) =>
      this.#follow({ ...Resource.secrets, namespace, labelSelector: `${HOST_CREDENTIALS_LABEL}=true` }, ['agents']);
    this.#secrets = new Map(agents.secretNamespaces.map((namespace) => [namespace, secretsOf(namespace)]));
    this.#owned = new OwnedObjects({
      ...{ caches, clientOf, agents, now },
      onChange: () => this.#add('agents'),
      onSynced: () => this.#life.check(),
      onError: (error) => observer?.onReadError?.('agents', error),
    });
    this.#events = new EventRecorder({
      client: clientOf<EventObject>(Resource.events),
      ...{ clock, now, random },
      component: EVENT_COMPONENT,
      instance: identity,
      ...(observer?.onEventError && { onError: observer.onEventError }),
    });
    this.#endpointEvents = new EndpointEvents((regarding, event) => this.#events.record(regarding, event));
    this.#life = new PartLifecycle({
      follow: () => {
        for (const cache of this.#caches()) cache.start();
        this.#owned.start();
      },
      refresh: () => Promise.all([this.#owned.refresh(), ...this.#caches().map((cache) => cache.refresh())]),
      isSynced: () => this.synced,
      onWorking: () => {
        observer?.onSynced?.();
        for (const key of ['agents', 'operations'] as const) this.#queue.add(key);
      },
    });
    this.#queue = new KeyedQueue({
      clock,
      backOff: { firstMs: FIRST_RETRY_MS, mostMs: MOST_RETRY_MS, random },
      reconcile: (key) => this.#reconcile(key as BareMetalKey),
      onReconciled: (key, { result, durationMs }) => observer?.onReconciled?.(key as BareMetalKey, result, durationMs),
      onRetry: (key, cause) => {
        if (cause.reason !== CONFLICT) observer?.onRetry?.(key as BareMetalKey, cause);
      },
      onTerminal: (key, reason) => observer?.onTerminal?.(key as BareMetalKey, reason),
    });
  }

  get synced(): boolean {
    return this.#missing().length === 0;
  }

  unready(): string[] {
    const missing = this.#missing();
    return missing.length === 0 ? [] : [`not listed yet: ${missing.join(', ')}`];
  }

  /** Whether the agents of each ClusterAgent are ready, by name, for metrics; omits those that are switched off (replicas 0). */
  ready(): ReadonlyMap<string, boolean> {
    const switchedOn = [...this.#clusterAgents.values()].filter((one) => !isSwitchedOff(one));
    return new Map(switchedOn.map((one) => [one.metadata.name, readField(one.status, 'ready') === true]));
  }

  /** The addresses of the range of each ClusterAgent, by name, as its leader reports them; omits those without a report. */
  addresses(): ReadonlyMap<string, ClusterAgentAddresses> {
    return new Map(
      [...this.#clusterAgents.values()].flatMap(({ metadata, status }) => {
        const [used, available] = [readField(status, 'addresses', 'used'), readField(status, 'addresses', 'available')];
        return typeof used === 'number' && typeof available === 'number' ? [[metadata.name, { used, available }]] : [];
      }),
    );
  }

  start(): void {
    this.#life.start();
  }

  lead(): void {
    this.#life.lead();
  }

  async stop(): Promise<void> {
    this.#life.stop();
    for (const cache of this.#caches()) cache.stop();
    this.#owned.stop();
    this.#events.stop();
    await this.#queue.stop();
  }

  #follow(resource: ApiResource, keys: readonly BareMetalKey[]): CacheSubscription {
    const { caches, observer } = this.#settings;
    return caches.subscribe(resource, {
      onChange: () => {
        for (const key of keys) this.#add(key);
      },
      onSynced: () => this.#life.check(),
      onError: (error) => observer?.onReadError?.(resource.plural, error),
    });
  }

  #caches(): readonly CacheSubscription[] {
    return [this.#clusterAgents, this.#endpoints, this.#hosts, this.#operations, ...this.#secrets.values()];
  }

  #missing(): readonly string[] {
    const names = ['clusteragents', 'hostendpoints', 'hoststatuses', 'hostoperations'];
    const own = this.#caches().map((cache, index) => (cache.synced ? '' : (names[index] ?? 'secrets')));
    return [...new Set([...own.filter(Boolean), ...this.#owned.missing])];
  }

  #add(key: BareMetalKey): void {
    if (!this.#life.isWorking) return;
    if (key === 'statuses') this.#queue.addAfter(key, GATHER_MS);
    else this.#queue.add(key);
  }

  #reconcile(key: BareMetalKey): Promise<ReconcileResult> {
    switch (key) {
      case 'agents':
        return this.#reconcileAgents();
      case 'statuses':
        return this.#reconcileStatuses();
      case 'operations':
        return this.#endOrphans();
    }
  }

  async #reconcileAgents(): Promise<ReconcileResult> {
    const { agents, observer } = this.#settings;
    const observation = {
      clusterAgents: [...this.#clusterAgents.values()],
      endpoints: [...this.#endpoints.values()],
      credentials: new Set([...this.#secrets.values()].flatMap((secrets) => [...secrets.values()].map(keyOf))),
      objects: this.#owned.values(),
    };
    this.#plan = planHostAgents(observation, agents);
    const failures = new HostAgentFailures();
    let result: ReconcileResult = { kind: 'settled' };
    for (const write of this.#plan.writes) {
      const written = await this.#owned.write(write);
      if (written.ok) observer?.onAgentWrite?.(write);
      else result = mostUrgent(result, failures.note(write, written) ?? toReconcileResult(written));
    }
    this.#failures = failures;
    this.#add('statuses');
    return result;
  }

  async #reconcileStatuses(): Promise<ReconcileResult> {
    const secrets = this.#secretFacts();
    let result: ReconcileResult = { kind: 'settled' };
    for (const [name, agents] of this.#plan?.agents ?? []) {
      const own = agents.secrets.filter(({ of }) => of.kind === 'ClusterAgent');
      const unnamed = clusterAgentSecretProblems(agents.workload.object).map(describeHostProblem);
      const texts = [...unnamed, ...own.flatMap((secret) => secretTexts(secret, secrets))];
      const wanted = clusterAgentStatus({ agents, secretTexts: texts, failure: this.#failures.of(name) });
      result = mostUrgent(result, await this.#writeStatus(name, wanted));
    }
    const live = [...this.#clusterAgents.values()].filter((one) => !isBeingDeleted(one));
    this.#endpointEvents.tell({ clusterAgents: live, endpoints: [...this.#endpoints.values()], secrets });
    return result;
  }

  #secretFacts(): SecretFacts {
    return {
      allowed: this.#settings.agents.secretNamespaces,
      find: (key) => {
        const [namespace = ''] = key.split('/', 1);
        const secret = this.#secrets.get(namespace)?.get(key);
        return secret && ((readField(secret, 'data') ?? {}) as Readonly<Record<string, unknown>>);
      },
    };
  }

  async #writeStatus(key: string, wanted: ClusterAgentStatus): Promise<ReconcileResult> {
    const object = this.#clusterAgents.get(key);
    if (object === undefined) return { kind: 'settled' };
    const patch = planClusterAgentStatus(object, wanted, this.#settings.now());
    if (patch === undefined) return { kind: 'settled' };
    const { resourceVersion } = object.metadata;
    const written = await this.#settings.clientOf(Resource.clusterAgents).patchStatus({ key, resourceVersion }, patch);
    if (!written.ok) return toReconcileResult(written);
    this.#clusterAgents.wrote(written.object);
    this.#tell(object, wanted);
    return { kind: 'settled' };
  }

  /** Problems are also Events: `kubectl describe` shows them with their time. */
  #tell(object: KubernetesObject, { conditions: [ready, valid] }: ClusterAgentStatus): void {
    const regarding = { ...toRegarding(object), apiVersion: BARE_METAL_API_VERSION, kind: 'ClusterAgent' };
    for (const { status, reason, message = '' } of valid.reason === ready.reason ? [valid] : [valid, ready]) {
      if (status !== 'False' || reason === undefined || USUAL.has(reason)) continue;
      this.#events.record(regarding, { type: 'Warning', reason, message });
    }
  }

  #endOrphans(): Promise<ReconcileResult> {
    const { wallTimeMs, clientOf, observer } = this.#settings;
    return endOrphanedOperations(
      { clusterAgents: this.#clusterAgents, operations: this.#operations, hostStatuses: this.#hosts },
      {
        client: clientOf(Resource.hostOperations),
        nowMs: wallTimeMs(),
        record: (regarding, event) => this.#events.record(regarding, event),
        onEnded: (name) => observer?.onOrphanedOperation?.(name),
        planAgainAfter: (ms) => this.#queue.addAfter('operations', ms),
      },
    );
  }
}

function isSwitchedOff({ status }: KubernetesObject): boolean {
  const off: ClusterAgentCondition['reason'] = 'HostAgentsOff';
  return readConditions(status).some(({ type, reason }) => type === 'Ready' && reason === off);
}
