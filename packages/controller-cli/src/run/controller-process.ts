/** The controller as a process: where the parts are put together, and where its timers and its end are. */
import { randomUUID } from 'node:crypto';
import type { Server } from 'node:http';
import { hostname } from 'node:os';
import {
  type ApiResource,
  type ElectionTimes,
  type EventObject,
  fencedClient,
  type KubernetesObject,
  LeaseElector,
  NotLeadingError,
} from '@vmdhcp/kube-runtime';
import { type ApiConnection, ApiLeaseStore, ApiObjectClient, errorForLog, systemClock } from '@vmdhcp/kube-runtime/node';
import {
  AGENT_SELECTOR,
  type AgentAction,
  AgentGroupsReconciler,
  type AgentsPort,
  type AgentsSettings,
  DhcpController,
  INSTANCES_REMEDY,
  type InstancesState,
  NOTHING_KNOWN_OF_AGENTS,
  Resource,
} from '@vmdhcp/reconciler';

import { type ListenAddress, type Logger, startStatusServer } from '@vmdhcp/service-process';
import { createAddressLog } from './address-log.js';
import { applyCrds } from './apply-crds.js';
import { cacheDumpPages } from './cache-dumps.js';
import type { ControllerMetrics } from './metrics.js';

/** Upstream's Lease: an old controller and a new one never work at the same time. */
export const CONTROLLER_LEASE = { namespace: 'kube-system', name: 'vm-dhcp-controllers' };

export interface ControllerProcessSettings {
  readonly http: ListenAddress | 'off';
  /** Undefined: there is no other replica. */
  readonly election: ElectionTimes | undefined;
  /** Undefined: agents are none of its business. */
  readonly agents: AgentsSettings | undefined;
  /** Undefined: all namespaces. */
  readonly onlyNamespace: string | undefined;
  readonly cacheDumps: boolean;
  readonly applyCrds: boolean;
}

export interface ControllerProcessPorts {
  readonly connection: ApiConnection;
  /** For the Lease alone: its requests time out well before the leadership ends, and wait for no others. */
  readonly leaseConnection: ApiConnection;
  readonly logger: Logger;
  readonly metrics: ControllerMetrics;
  /** Leadership lost: another replica may reconcile now, and this process must not. */
  readonly onLost: () => void;
}

export class ControllerProcess {
  readonly #settings: ControllerProcessSettings;
  readonly #ports: ControllerProcessPorts;
  readonly #controller: DhcpController;
  readonly #agents: AgentGroupsReconciler | undefined;
  readonly #elector: LeaseElector | undefined;
  #http: Server | undefined;
  #leadsAlone = false;
  #stopping = false;

  constructor(settings: ControllerProcessSettings, ports: ControllerProcessPorts) {
    this.#settings = settings;
    this.#ports = ports;
    const identity = `${hostname()}_${randomUUID()}`;
    this.#controller = this.#createController(identity);
    this.#agents = settings.agents === undefined ? undefined : this.#createAgents(settings.agents);
    this.#elector = settings.election === undefined ? undefined : this.#createElector(identity, settings.election);
    ports.metrics.follow(this.#controller, () => this.isLeading());
  }

  isLeading(): boolean {
    return this.#elector?.isLeading() ?? this.#leadsAlone;
  }

  /** @throws CommandError or Error where it cannot start at all. */
  async start(): Promise<void> {
    const { http, cacheDumps } = this.#settings;
    const { connection, logger, metrics } = this.#ports;
    if (http !== 'off') {
      this.#http = await startStatusServer(http, {
        unready: () => this.#unready(),
        registry: metrics.registry,
        pages: cacheDumps ? cacheDumpPages(this.#controller.view) : {},
      });
    }
    if (this.#settings.applyCrds) {
      for (const { name, outcome } of await applyCrds(connection))
        logger.info({ crd: name, outcome }, 'CustomResourceDefinition');
    }
    this.#controller.start();
    this.#agents?.start();
    if (this.#elector === undefined) this.#lead();
    else this.#elector.start();
  }

  /** Ends what is under way, steps down, and closes everything. */
  async stop(): Promise<void> {
    this.#stopping = true;
    const finish = async () => {
      await Promise.all([this.#controller.stop(), this.#agents?.stop()]);
      return true;
    };
    // What is under way ends while no other replica may become leader; only then is the Lease released.
    await (this.#elector === undefined ? finish() : this.#elector.stop(finish));
    this.#http?.close();
    this.#http?.closeAllConnections();
    this.#ports.connection.close();
    this.#ports.leaseConnection.close();
    this.#ports.logger.info('stopped');
  }

  #unready(): string[] {
    const { caches } = this.#controller;
    const kinds = Object.entries(caches).flatMap(([kind, cache]) => (cache.synced ? [] : [kind]));
    if (!this.#controller.instances.synced) kinds.push('virtualMachineInstances');
    if (this.#agents !== undefined && !this.#agents.synced) kinds.push('agents');
    return kinds.length === 0 ? [] : [`not listed yet: ${kinds.join(', ')}`];
  }

  #lead(): void {
    this.#leadsAlone = this.#elector === undefined;
    this.#ports.logger.info('leading');
    this.#controller.lead();
    this.#agents?.lead();
  }

  #client<Kind extends KubernetesObject = KubernetesObject>(resource: ApiResource) {
    const { onlyNamespace } = this.#settings;
    const scoped = onlyNamespace === undefined ? resource : { namespace: onlyNamespace, ...resource };
    return fencedClient(new ApiObjectClient<Kind>(this.#ports.connection, scoped), () => this.isLeading());
  }

  #createController(identity: string): DhcpController {
    const { logger, metrics } = this.#ports;
    return new DhcpController({
      clients: {
        virtualMachines: this.#client(Resource.virtualMachines),
        virtualMachineInstances: this.#client(Resource.virtualMachineInstances),
        networkConfigs: this.#client(Resource.networkConfigs),
        ipPools: this.#client(Resource.ipPools),
        networks: this.#client(Resource.networks),
        events: this.#client<EventObject>(Resource.events),
      },
      clock: systemClock,
      now: rfc3339,
      random: Math.random,
      identity,
      ...(this.#settings.agents !== undefined && { agents: this.#agentsPort() }),
      onPoolsChanged: () => this.#agents?.poolsChanged(),
      observer: {
        onReconciled: metrics.onReconciled,
        onRetry: (kind, key, { reason, error }) => {
          if (error instanceof NotLeadingError) return;
          metrics.onError(kind);
          logger.warn(
            { kind, key, reason, ...(error !== undefined && { err: errorForLog(error) }) },
            'reconcile failed; retrying',
          );
        },
        onTerminal: (kind, key, reason) =>
          logger.error({ kind, key, reason }, 'reconcile failed; not retrying until an object changes'),
        onReadError: (kind, error) => {
          metrics.onError(kind);
          logger.warn({ kind, err: errorForLog(error) }, 'list or watch failed; retrying');
        },
        onInstances: (state) => logInstances(logger, state),
        onEventError: (error) => logger.debug({ err: errorForLog(error) }, 'event not written'),
        onAddressChange: createAddressLog({ logger, clock: systemClock }),
        onSynced: () => logger.info('caches synced; reconciling'),
      },
    });
  }

  /** The agents are made after the controller, which asks for them only once it works. */
  #agentsPort(): AgentsPort {
    return {
      ofPool: (pool) => this.#agents?.ofPool(pool) ?? NOTHING_KNOWN_OF_AGENTS,
      isInUse: (poolKey) => this.#agents?.isInUse(poolKey) ?? false,
    };
  }

  #createAgents(settings: AgentsSettings): AgentGroupsReconciler {
    const { namespace, unified, previousNamespace } = settings;
    const { logger } = this.#ports;
    const of = (resource: ApiResource, within: string) =>
      this.#client({ ...resource, namespace: within, labelSelector: AGENT_SELECTOR });
    const ours = (resource: ApiResource) => of(resource, namespace);
    const chart = (within: string) =>
      this.#client({ ...Resource.deployments, namespace: within, fieldSelector: `metadata.name=${unified.deploymentName}` });
    return new AgentGroupsReconciler({
      ...settings,
      onlyNamespace: this.#settings.onlyNamespace,
      clients: {
        deployments: ours(Resource.deployments),
        unifiedDeployment: chart(namespace),
        leases: ours(Resource.leases),
        pods: ours(Resource.pods),
        ...(settings.groupRights && {
          serviceAccounts: ours(Resource.serviceAccounts),
          // The rights to read pools are where the pools are.
          roles: this.#client({ ...Resource.roles, labelSelector: AGENT_SELECTOR }),
          roleBindings: this.#client({ ...Resource.roleBindings, labelSelector: AGENT_SELECTOR }),
        }),
        ...(previousNamespace !== undefined && {
          previousDeployments: of(Resource.deployments, previousNamespace),
          previousUnifiedDeployment: chart(previousNamespace),
          previousLeases: of(Resource.leases, previousNamespace),
          previousPods: of(Resource.pods, previousNamespace),
          ...(settings.groupRights && { previousServiceAccounts: of(Resource.serviceAccounts, previousNamespace) }),
        }),
      },
      clock: systemClock,
      now: rfc3339,
      random: Math.random,
      cluster: () => ({
        view: this.#controller.view,
        networks: this.#controller.caches.networks,
        isKnown: this.#controller.working,
      }),
      onChange: (pool) => this.#controller.agentsChanged(pool),
      onAction: (action) => logger.info(describeAction(action), ACTION_MESSAGES[action.kind]),
      onError: (error) => {
        if (!(error instanceof NotLeadingError))
          logger.warn({ err: errorForLog(error) }, "the agents' Deployments, Leases, pods or rights cannot be read or written");
      },
    });
  }

  #createElector(identity: string, times: ElectionTimes): LeaseElector {
    const { leaseConnection, logger, onLost } = this.#ports;
    return new LeaseElector({
      ...times,
      identity,
      store: new ApiLeaseStore(leaseConnection, { ...CONTROLLER_LEASE, wallTimeMs: Date.now }),
      clock: systemClock,
      random: Math.random,
      onLeading: () => this.#lead(),
      onLost: () => {
        if (!this.#stopping) onLost();
      },
      onError: (error) => logger.warn({ err: errorForLog(error) }, 'the Lease of the controllers cannot be read or written'),
    });
  }
}

const ACTION_MESSAGES: Readonly<Record<AgentAction['kind'], string>> = {
  'create-deployment': 'agents are deployed',
  'patch-deployment': "the agents' Deployment is changed",
  'delete-deployment': 'agents are removed',
  'create-lease': 'the Lease of a group is created',
  suspend: 'the pools that the agents of this group must not serve have changed',
  'set-log': 'log settings of the agents updated',
  'delete-lease': 'the Lease of agents that are gone is removed',
  'delete-pod': 'the agent of an earlier version is removed',
  'create-right': 'RBAC object of agents created',
  'patch-right': 'RBAC object of agents updated',
  'delete-right': 'RBAC object of agents deleted',
};

function describeAction(action: AgentAction): Readonly<Record<string, unknown>> {
  if (action.kind === 'delete-pod') return { pod: action.pod.metadata.name };
  const { group } = action;
  if ('poolKeys' in action) return { group, pools: action.poolKeys };
  if ('object' in action) return { group, kind: action.object.kind, namespace: action.object.metadata.namespace };
  return action.kind === 'set-log' ? { group, log: action.text ?? 'settings of their command line' } : { group };
}

function logInstances(logger: Logger, state: InstancesState): void {
  switch (state) {
    case 'unknown':
      return;
    case 'listed':
      logger.info('VirtualMachineInstances listed: interfaces and MAC addresses of running virtual machines are known');
      return;
    case 'kind-missing':
      logger.info(
        'the API server does not have the kind VirtualMachineInstance (kubevirt.io/v1): the controller assumes that no virtual machine runs, unless status.created of a VirtualMachine is true, and looks for the kind again every 30 s',
      );
      return;
    case 'forbidden':
      logger.warn(
        `reading VirtualMachineInstances is forbidden: ${INSTANCES_REMEDY}. Until then interfaces without a MAC address get no address, and no address of an existing virtual machine is freed when its template changes`,
      );
  }
}

/** Seconds, as Kubernetes writes times. */
function rfc3339(): string {
  return `${new Date().toISOString().slice(0, 19)}Z`;
}
