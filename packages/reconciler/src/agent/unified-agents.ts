/**
 * The agents of the topology `unified`: one Deployment that a chart installed, told which pools to serve, and a Lease by
 * whose report each pool's conditions Registered and AgentReady are known.
 */

import { formatIpv4Address, formatIpv4Cidr } from '@vmdhcp/dhcp-allocator';
import { IPPoolConditionType } from '@vmdhcp/ippool-api';
import type { ClusterView, ObjectSource, PoolView } from '../controller/cluster-view.js';
import { CONFLICT, toWorkResult } from '../controller/controller-context.js';
import type { BackOffSettings } from '../machinery/back-off.js';
import type { Clock } from '../machinery/clock.js';
import { KeyedQueue, type WorkResult } from '../machinery/keyed-queue.js';
import { ObjectCache } from '../machinery/object-cache.js';
import type { ObjectClient } from '../machinery/object-client.js';
import type { ConditionState } from '../object/conditions.js';
import { isBeingDeleted, type KubernetesObject } from '../object/kubernetes-object.js';
import { readField, readText } from '../object/read-field.js';
import { AGENT_REPORT_ANNOTATION, type AgentReport, parseAgentReport } from './agent-report.js';
import {
  type PoolForAgents,
  planAgentDeployment,
  readAgentNetworkConfigs,
  toAgentNetworkConfigs,
} from './plan-agent-deployment.js';

/** The Lease of the agents: upstream's name. */
export const UNIFIED_AGENTS_LEASE = 'vm-dhcp-agents';

export interface UnifiedAgentsSettings {
  readonly namespace: string;
  readonly deploymentName: string;
  readonly containerName: string;
  /** Of this namespace, that Deployment and that Lease at least. */
  readonly clients: { readonly deployments: ObjectClient<KubernetesObject>; readonly leases: ObjectClient<KubernetesObject> };
  readonly clock: Clock;
  readonly random: () => number;
  /** What is known of pools and networks. */
  readonly cluster: () => {
    readonly view: ClusterView;
    readonly networks: ObjectSource;
    /** False: nobody knows which pools there are; nothing is written. */
    readonly isKnown: boolean;
  };
  /** What is said about this pool's agents has changed. */
  readonly onChange: (poolKey: string) => void;
  readonly onError?: (error: unknown) => void;
}

/** A Lease that nobody renewed for so many of its own durations is nobody's any more. */
const DURATIONS_UNTIL_STALE = 2;
/** Timers may be a little early. */
const STALE_MARGIN_MS = 10;

export class UnifiedAgents {
  readonly #settings: UnifiedAgentsSettings;
  readonly #deployments: ObjectCache<KubernetesObject>;
  readonly #leases: ObjectCache<KubernetesObject>;
  readonly #queue: KeyedQueue;
  readonly #told = new Map<string, string>();
  #leading = false;
  #containerProblem: string | undefined;
  /** When the Lease was last renewed, by our own clock. */
  #renewedAtMs = Number.NEGATIVE_INFINITY;
  #callOffStale: () => void = () => undefined;
  #lastRenewTime: string | undefined;

  constructor(settings: UnifiedAgentsSettings) {
    this.#settings = settings;
    const { clients, clock, random, onError } = settings;
    const backOff: BackOffSettings = { firstMs: 100, mostMs: 30_000, random };
    const cache = (port: ObjectClient<KubernetesObject>, onChange: () => void) =>
      new ObjectCache({ port, clock, backOff, onChange, onSynced: () => this.#onNews(), ...(onError && { onError }) });
    this.#deployments = cache(clients.deployments, () => this.#onNews());
    this.#leases = cache(clients.leases, () => this.#onLease());
    this.#queue = new KeyedQueue({
      clock,
      backOff,
      work: () => this.#work(),
      onRetry: (_, { reason, error }) => {
        if (reason !== CONFLICT) onError?.(error ?? new Error(reason));
      },
      onTerminal: (_, reason) => onError?.(new Error(reason)),
    });
  }

  get synced(): boolean {
    return this.#deployments.synced && this.#leases.synced;
  }

  start(): void {
    this.#deployments.start();
    this.#leases.start();
  }

  /** Begins to write. */
  lead(): void {
    this.#leading = true;
    this.#onNews();
  }

  /** Pools or networks are others than before. */
  poolsChanged(): void {
    if (this.#leading && this.synced && this.#settings.cluster().isKnown) this.#queue.add(UNIFIED_AGENTS_LEASE);
  }

  async stop(): Promise<void> {
    this.#leading = false;
    this.#callOffStale();
    this.#deployments.stop();
    this.#leases.stop();
    await this.#queue.stop();
  }

  /** Conditions Registered and AgentReady of a pool. */
  conditions(pool: PoolView): ConditionState[] {
    if (!this.synced) return [];
    const registered = this.#registered(pool);
    const type = IPPoolConditionType.agentReady;
    if (registered.status !== 'True') {
      const { reason = 'NotRegistered', message = '' } = registered;
      return [registered, { type, status: 'False', reason, message }];
    }
    const report = this.#report();
    if (report === undefined) {
      const message = `no agent leads: Lease ${this.#settings.namespace}/${UNIFIED_AGENTS_LEASE} is not renewed; look at the pods of Deployment ${this.#deploymentKey}`;
      return [registered, { type, status: 'False', reason: 'NotLeading', message }];
    }
    const said = report.get(pool.key);
    if (said === undefined) {
      const message = 'the agent that leads does not know the pool yet; it is being rolled out';
      return [registered, { type, status: 'False', reason: 'RollingOut', message }];
    }
    if (said.serving) return [registered, { type, status: 'True' }];
    return [registered, { type, status: 'False', reason: said.reason ?? 'NotServing', message: said.message ?? '' }];
  }

  get #deploymentKey(): string {
    return `${this.#settings.namespace}/${this.#settings.deploymentName}`;
  }

  #registered(pool: PoolView): ConditionState {
    const type = IPPoolConditionType.registered;
    const no = (reason: string, message: string): ConditionState => ({ type, status: 'False', reason, message });
    if (pool.paused) return no('Paused', 'the pool is paused: no agent serves it');
    const deployment = this.#deployments.get(this.#deploymentKey);
    if (deployment === undefined) {
      return no(
        'AgentDeploymentMissing',
        `there is no Deployment ${this.#deploymentKey}; install it, or set AGENT_DEPLOYMENT_NAME`,
      );
    }
    if (this.#containerProblem !== undefined) return no('AgentContainerMissing', this.#containerProblem);
    const { view, networks } = this.#settings.cluster();
    if (!pool.reading.ok || view.servingPool(pool.network)?.key !== pool.key) return no('NotServed', 'CacheReady says why');
    if (networks.get(pool.network) === undefined) {
      return no(
        'NetworkMissing',
        `there is no NetworkAttachmentDefinition ${pool.network}; create it, or correct spec.networkName`,
      );
    }
    const wanted = toAgentNetworkConfigs(this.#toPoolForAgents(pool))[0];
    const told = readAgentNetworkConfigs(deployment, this.#settings.containerName).get(pool.key);
    if (told === JSON.stringify(wanted)) return { type, status: 'True' };
    return no('Pending', `Deployment ${this.#deploymentKey} is about to be told of the pool`);
  }

  #report(): AgentReport | undefined {
    const lease = this.#leases.get(`${this.#settings.namespace}/${UNIFIED_AGENTS_LEASE}`);
    if (lease === undefined || !readText(lease.spec, 'holderIdentity') || this.#isStale(lease)) return undefined;
    return parseAgentReport(lease.metadata.annotations?.[AGENT_REPORT_ANNOTATION]);
  }

  #isStale(lease: KubernetesObject): boolean {
    return this.#settings.clock.nowMs() - this.#renewedAtMs >= staleAfterMs(lease);
  }

  #onLease(): void {
    const lease = this.#leases.get(`${this.#settings.namespace}/${UNIFIED_AGENTS_LEASE}`);
    const renewTime = readText(lease?.spec, 'renewTime');
    if (lease !== undefined && renewTime !== this.#lastRenewTime) {
      this.#lastRenewTime = renewTime;
      this.#renewedAtMs = this.#settings.clock.nowMs();
      this.#callOffStale();
      this.#callOffStale = this.#settings.clock.after(staleAfterMs(lease) + STALE_MARGIN_MS, () => this.#tellPools());
    }
    this.#tellPools();
  }

  #onNews(): void {
    this.poolsChanged();
    this.#tellPools();
  }

  /** Has those pools looked at again of whom something else is to be said. */
  #tellPools(): void {
    if (!this.synced) return;
    for (const pool of this.#settings.cluster().view.pools()) {
      const says = JSON.stringify(this.conditions(pool));
      if (this.#told.get(pool.key) === says) continue;
      this.#told.set(pool.key, says);
      this.#settings.onChange(pool.key);
    }
  }

  async #work(): Promise<WorkResult> {
    const { containerName, clients } = this.#settings;
    const deployment = this.#deployments.get(this.#deploymentKey);
    if (deployment === undefined || isBeingDeleted(deployment)) return { kind: 'settled' };
    const plan = planAgentDeployment(deployment, containerName, this.#activePools());
    this.#containerProblem = plan.ok ? undefined : plan.message;
    this.#tellPools();
    if (!plan.ok || plan.patch === undefined) return { kind: 'settled' };
    const target = { key: this.#deploymentKey, resourceVersion: deployment.metadata.resourceVersion };
    const result = await clients.deployments.patch(target, plan.patch);
    if (result.ok) this.#deployments.wrote(result.object);
    return toWorkResult(result);
  }

  #activePools(): PoolForAgents[] {
    const { view, networks } = this.#settings.cluster();
    return view
      .pools()
      .filter(
        (pool) => !pool.paused && networks.get(pool.network) !== undefined && view.servingPool(pool.network)?.key === pool.key,
      )
      .flatMap((pool) => this.#toPoolForAgents(pool));
  }

  #toPoolForAgents({ key, network, reading }: PoolView): PoolForAgents[] {
    if (!reading.ok) return [];
    const { serverAddress, cidr } = reading.pool;
    return [{ key, network, serverIP: formatIpv4Address(serverAddress), cidr: formatIpv4Cidr(cidr) }];
  }
}

function staleAfterMs({ spec }: KubernetesObject): number {
  const seconds = readField(spec, 'leaseDurationSeconds');
  return DURATIONS_UNTIL_STALE * 1000 * (typeof seconds === 'number' ? seconds : 15);
}
