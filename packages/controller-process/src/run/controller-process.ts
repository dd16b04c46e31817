/** The controller as a process: its parts on shared caches under one leadership, and what it serves over HTTP. */

import { randomUUID } from 'node:crypto';
import type { Server } from 'node:http';
import { hostname } from 'node:os';
import { LEASE_DURATION_ANNOTATION } from '@vmdhcp/ippool-api/agent';
import { CONTROLLER_LEASE } from '@vmdhcp/ippool-api/resources';
import {
  type ApiResource,
  type ControllerPart,
  type ElectionTimes,
  fencedClient,
  formatTime,
  type KubernetesObject,
  NotLeadingError,
  type PartsRun,
  type RunEnd,
  runParts,
  SharedCaches,
} from '@vmdhcp/kube-runtime';
import { type ApiConnection, ApiLeaseStore, ApiObjectClient, errorForLog, systemClock } from '@vmdhcp/kube-runtime/node';
import {
  type AgentAction,
  type AgentsSettings,
  type AuditSettings,
  type ClusterNetworks,
  type ControllerObserver,
  cachedPartsWith,
  DhcpController,
  INSTANCES_REMEDY,
  type InstancesState,
} from '@vmdhcp/reconciler';
import { type ListenAddress, type Logger, startStatusServer } from '@vmdhcp/service-process';
import { applyCrds, CUSTOM_RESOURCES, findOutdatedCrds } from '../crds/apply-crds.js';
import type { AddedParts, AddParts, PartsContext } from './added-parts.js';
import { createAddressLog } from './address-log.js';
import { createAuditLog } from './audit-log.js';
import { cacheDumpPages } from './cache-dumps.js';
import { createRetryLog } from './log-retry.js';
import type { ControllerMetrics } from './metrics.js';

/** What the process of the controller does: its status server, its election, its agents, its definitions. */
export interface ControllerProcessSettings {
  readonly http: ListenAddress | 'off';
  /** Undefined if there is no other replica. */
  readonly election: ElectionTimes | undefined;
  /** Undefined if this controller deploys no agents. */
  readonly agents: AgentsSettings | undefined;
  /** Undefined for all namespaces. */
  readonly onlyNamespace: string | undefined;
  readonly cacheDumps: boolean;
  readonly applyCrds: boolean;
  readonly annotatesMachines: boolean;
  readonly clusterNetworks: ClusterNetworks;
  /** Undefined if no records of assignments are kept. */
  readonly audit: AuditSettings | undefined;
  /**
   * Undefined if there is no Wake-on-LAN. Otherwise MAC addresses of stopped machines are kept in this namespace, and labels of
   * machines are cached.
   */
  readonly macAddressMemory: { readonly namespace: string } | undefined;
  /** True if the process is useful in a cluster without KubeVirt or Multus. */
  readonly mayLackKinds: boolean;
}

export interface ControllerProcessPorts {
  readonly connection: ApiConnection;
  /** Only for the Lease: its requests time out well before the leadership ends, and do not queue behind others. */
  readonly leaseConnection: ApiConnection;
  readonly logger: Logger;
  readonly metrics: ControllerMetrics;
  /** Parts that join DHCP; undefined if none. */
  readonly addParts?: AddParts | undefined;
  /** Called when the parts have stopped without `stop`: then the process must end. */
  readonly onFailed: (end: Exclude<RunEnd, { readonly kind: 'stopped' }>) => void;
}

/** The controller as a process: DHCP and the parts that join it, under one leadership. */
export class ControllerProcess {
  readonly #settings: ControllerProcessSettings;
  readonly #ports: ControllerProcessPorts;
  readonly #dhcp: DhcpController;
  readonly #added: AddedParts | undefined;
  readonly #run: PartsRun;
  #http: Server | undefined;

  constructor(settings: ControllerProcessSettings, ports: ControllerProcessPorts) {
    this.#settings = settings;
    this.#ports = ports;
    const context = this.#createContext();
    this.#dhcp = this.#createDhcp(context);
    this.#added = ports.addParts?.({ ...context, inventory: this.#dhcp.inventory });
    const parts: readonly ControllerPart[] = [this.#dhcp, ...(this.#added?.parts ?? [])];
    this.#run = runParts({
      parts,
      clock: systemClock,
      ...this.#election(context.identity),
      onLeading: () => ports.logger.info('leading'),
      onStopProblem: (part, error) =>
        ports.logger.error({ part, ...(error !== undefined && { err: errorForLog(error) }) }, 'a part did not stop'),
    });
    ports.metrics.follow(this.#dhcp, this.#run.isLeading);
  }

  isLeading(): boolean {
    return this.#run.isLeading();
  }

  /** @throws CommandError or Error if it cannot start at all. */
  async start(): Promise<void> {
    const { http, cacheDumps } = this.#settings;
    const { metrics, onFailed } = this.#ports;
    if (http !== 'off') {
      this.#http = await startStatusServer(http, {
        unready: () => [...this.#run.unready()],
        lacks: () => [...this.#run.lacks()],
        registry: metrics.registry,
        pages: cacheDumps ? cacheDumpPages(this.#dhcp.view) : {},
      });
    }
    await this.#applyOrCheckCrds().catch((error: unknown) => {
      // Open servers and connections would keep a process running that does nothing.
      this.#close();
      throw error;
    });
    void this.#run.ended.then((end) => {
      if (end.kind !== 'stopped') onFailed(end);
    });
    this.#run.start();
  }

  async #applyOrCheckCrds(): Promise<void> {
    const { connection, logger } = this.#ports;
    const resources = [...CUSTOM_RESOURCES, ...(this.#added?.customResources ?? [])];
    if (this.#settings.applyCrds) {
      for (const { name, outcome } of await applyCrds(connection, resources))
        logger.info({ crd: name, outcome }, `CustomResourceDefinition ${name}: ${outcome}`);
    } else {
      for (const crd of await findOutdatedCrds(connection, resources)) logger.warn({ crd }, OUTDATED);
    }
  }

  /** Ends operations in progress, releases the Lease, and closes every connection. */
  async stop(): Promise<void> {
    await this.#run.stop();
    this.#close();
    this.#ports.logger.info('stopped');
  }

  #close(): void {
    this.#http?.close();
    this.#http?.closeAllConnections();
    this.#ports.connection.close();
    this.#ports.leaseConnection.close();
  }

  #createContext(): PartsContext {
    const clientOf: PartsContext['clientOf'] = <Kind extends KubernetesObject = KubernetesObject>(resource: ApiResource) =>
      fencedClient(new ApiObjectClient<Kind>(this.#ports.connection, resource), () => this.isLeading());
    const caches = new SharedCaches({
      open: clientOf,
      clock: systemClock,
      backOff: { firstMs: 100, mostMs: 30_000, random: Math.random },
      trim: cachedPartsWith({
        machineLabels: this.#settings.macAddressMemory !== undefined,
        others: (plural) => this.#added?.cachedParts?.[plural],
      }),
    });
    return { identity: `${hostname()}_${randomUUID()}`, caches, clientOf, isLeading: () => this.isLeading() };
  }

  #createDhcp(context: PartsContext): DhcpController {
    return new DhcpController({
      ...context,
      onlyNamespace: this.#settings.onlyNamespace,
      clock: systemClock,
      now: () => formatTime(Date.now()),
      random: Math.random,
      agents: this.#settings.agents,
      annotatesMachines: this.#settings.annotatesMachines,
      clusterNetworks: this.#settings.clusterNetworks,
      audit: this.#settings.audit,
      mayLackKinds: this.#settings.mayLackKinds,
      ...(this.#settings.macAddressMemory && { macAddressMemory: this.#settings.macAddressMemory }),
      observer: this.#observer(),
    });
  }

  #observer(): ControllerObserver {
    const { logger, metrics } = this.#ports;
    const logRecords = createAuditLog(logger);
    const logRetry = createRetryLog({ logger, clock: systemClock });
    return {
      onReconciled: metrics.onReconciled,
      onRetry: (kind, key, retry) => {
        if (!(retry.error instanceof NotLeadingError)) metrics.onError(kind);
        logRetry({ kind, key }, retry);
      },
      onTerminal: (kind, key, reason) =>
        logger.error({ kind, key, reason }, 'reconcile failed; not retrying until an object changes'),
      onReadError: (kind, error) => {
        metrics.onError(kind);
        const what =
          kind === 'audit' ? 'records of assignments cannot be stored or read; retrying' : 'list or watch failed; retrying';
        logger.warn({ kind, err: errorForLog(error) }, what);
      },
      onMissingKind: (kind, message) => {
        if (message === undefined) logger.info({ kind }, 'the API server has this kind now: it is listed');
        else logger.warn({ kind }, `${message}. The controller looks for the kind again every 30 s`);
      },
      onInstances: (state) => logInstances(logger, state),
      onEventError: (error) => logger.debug({ err: errorForLog(error) }, 'event not written'),
      onMemoryProblem: ({ configMap, entry, message }) => logger.warn({ configMap, entry }, message),
      onAddressChange: createAddressLog({ logger, clock: systemClock }),
      onAssignmentRecords: (pool, records) => {
        metrics.audit.onRecords(records);
        logRecords(pool, records);
      },
      onAuditDropped: metrics.audit.onDropped,
      onAgentAction: (action) => logger.info(describeAction(action), ACTION_MESSAGES[action.kind]),
      onSynced: () => logger.info('caches synced; reconciling'),
    };
  }

  #election(identity: string): Pick<Parameters<typeof runParts>[0], 'election'> {
    const { election: times } = this.#settings;
    const { leaseConnection, logger } = this.#ports;
    const added = this.#added;
    if (times === undefined) return {};
    return {
      election: {
        ...times,
        identity,
        store: new ApiLeaseStore(leaseConnection, {
          ...CONTROLLER_LEASE,
          wallTimeMs: Date.now,
          durationAnnotation: LEASE_DURATION_ANNOTATION,
          ...(added && { annotations: added.leaseAnnotations, onAnnotations: added.onLeaseAnnotations }),
        }),
        random: Math.random,
        onError: (error) => logger.warn({ err: errorForLog(error) }, 'the Lease of the controllers cannot be read or written'),
      },
    };
  }
}

const OUTDATED =
  'this CustomResourceDefinition does not exist or lacks fields of this version, which the API server removes from what is written: vmdhcp-controller crds --apply';

const ACTION_MESSAGES: Readonly<Record<AgentAction['kind'], string>> = {
  'create-deployment': 'agents are deployed',
  'patch-deployment': "the agents' Deployment is changed",
  'delete-deployment': 'agents are removed',
  'create-lease': 'the Lease of a group is created',
  suspend: 'the pools that the agents of this group must not serve have changed',
  'set-lease-settings': 'settings of the agents in their Lease updated',
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
  return action.kind === 'set-lease-settings' ? { group, annotations: action.annotations } : { group };
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
