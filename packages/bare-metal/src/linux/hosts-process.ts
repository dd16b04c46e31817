/**
 * Runs the agent of one ClusterAgent as a process: the machine on the ports of Linux and of an API server, with its log, metrics
 * and status server.
 */
import type { Server } from 'node:http';
import type { Metrics } from '@vmdhcp/agent-process';
import {
  AgentLog,
  arpProbe,
  LeaseEventLog,
  leasesPage,
  linuxDhcpSockets,
  NeededAddresses,
  PacketLog,
  probeServers,
  startAgentControl,
} from '@vmdhcp/agent-process';
import { electionConnection, servePodStatus, USER_AGENT } from '@vmdhcp/agent-process/cluster';
import { AgentTraffic, PacketCaptures, warmUpPacketPath } from '@vmdhcp/dhcp-agent';
import { ApiGroupLease } from '@vmdhcp/dhcp-agent/node';
import { Resource } from '@vmdhcp/ippool-api/resources';
import {
  type ApiResource,
  type EventObject,
  EventRecorder,
  fencedClient,
  formatTime,
  type KubernetesObject,
  SharedCaches,
} from '@vmdhcp/kube-runtime';
import { ApiConnection, ApiObjectClient, type ClusterConnection, errorForLog, systemClock } from '@vmdhcp/kube-runtime/node';
import { libc, mayUseArp, stopForwarding } from '@vmdhcp/linux-sockets';
import type { ListenAddress, Logger } from '@vmdhcp/service-process';
import { keepProgramPagesFew, separateLargeMemory, trimMemory } from '@vmdhcp/service-process/memory';
import { HostAgent } from '../agent/host-agent.js';
import { openApiLeases } from './api-leases.js';
import { type HostLeaseStore, openDirectoryLeases } from './directory-leases.js';
import { ForwardingGuard } from './forwarding-guard.js';
import { HostEventLog } from './host-event-log.js';
import { HostsMachine } from './hosts-machine.js';
import { createHostsMetrics } from './hosts-metrics.js';
import type { HostsSettings, InventoryParts } from './hosts-ports.js';
import type { HostInventory } from './leader-duties.js';
import { linuxHostLinks } from './management-link.js';
import { RedfishControllers } from './redfish-controllers.js';
import { hostServerAddresses } from './self-address.js';

const HOUSEKEEPING_INTERVAL_MS = 1_000;
/** Addresses that the pod needs are looked up again after this many ticks. */
const NEEDED_ADDRESSES_ROUNDS = 15;
const BACK_OFF = { firstMs: 500, mostMs: 10_000, random: Math.random };

export interface HostsProcessSettings extends HostsSettings {
  readonly cluster: ClusterConnection;
  /** The namespace and name of the Lease. */
  readonly namespace: string;
  /** The time between two polls of a host. */
  readonly pollIntervalMs: number;
  /** The state directory; empty if leases are objects of the cluster. */
  readonly statePath: string;
  readonly http: ListenAddress | undefined;
  /** From the pod's status, if Kubernetes set it. */
  readonly podAddress: string | undefined;
  /** True if the pod has its own network namespace, so that nothing needs to be forwarded in it. */
  readonly hasOwnNetwork: boolean;
  /** True to log whole packets. */
  readonly logPackets: boolean;
}

/** The agent of a ClusterAgent: takes part in its election, serves DHCP while it is leader, and keeps the objects of the hosts. */
export class HostsProcess {
  readonly #settings: HostsProcessSettings;
  readonly #logger: Logger;
  readonly #events: LeaseEventLog;
  readonly #packetLog: PacketLog;
  readonly #log: AgentLog;
  readonly #connection: ApiConnection;
  readonly #electionConnection: ApiConnection;
  readonly #lease: ApiGroupLease;
  /** The interface that is served. */
  readonly #served = new Set<string>();
  readonly #needed: NeededAddresses;
  readonly #machine: HostsMachine;
  readonly #metrics: Metrics;
  readonly #hostLog: HostEventLog;
  readonly #recorder: EventRecorder;
  /** Undefined on the node's network: what the node forwards is not the agent's business. */
  readonly #forwarding: ForwardingGuard | undefined;
  #terms = 0;
  #rounds = 0;
  #timer: NodeJS.Timeout | undefined;
  readonly #traffic = new AgentTraffic({ nowMs: Date.now, random: Math.random });
  readonly #captures = new PacketCaptures();
  #http: Server | undefined;
  #control: { readonly close: () => void } | undefined;

  constructor(settings: HostsProcessSettings, logger: Logger) {
    separateLargeMemory();
    this.#settings = settings;
    this.#logger = logger;
    const nowMs = () => performance.now();
    this.#events = new LeaseEventLog(logger, nowMs);
    this.#packetLog = new PacketLog(logger, { packets: settings.logPackets, nowMs });
    this.#log = new AgentLog({
      logger,
      leaseEvents: this.#events,
      packetLog: this.#packetLog,
      nowMs,
      onEvent: (event) => {
        if (event.kind === 'lease' || event.kind === 'client-proven') this.#machine.leasesChanged();
      },
    });
    const { cluster, namespace, clusterAgentName, election } = settings;
    this.#connection = new ApiConnection(cluster, { userAgent: USER_AGENT });
    this.#electionConnection = electionConnection(cluster, election);
    this.#lease = new ApiGroupLease({
      election: this.#electionConnection,
      watching: this.#connection,
      namespace,
      name: hostsLeaseName(clusterAgentName),
      labels: {},
      clock: systemClock,
      wallTimeMs: Date.now,
      random: Math.random,
    });
    this.#needed = new NeededAddresses({ server: cluster.server, podAddress: settings.podAddress, served: this.#served });
    this.#machine = this.#createMachine();
    this.#metrics = createHostsMetrics(clusterAgentName, this.#machine, this.#events);
    this.#hostLog = new HostEventLog(logger, this.#metrics.registry, nowMs);
    this.#recorder = this.#createRecorder();
    const indexOf = libc.ifNameToIndex;
    this.#forwarding = settings.hasOwnNetwork ? new ForwardingGuard({ logger, indexOf, stopForwarding }) : undefined;
  }

  /** @throws CommandError if it cannot start at all. */
  async start(): Promise<void> {
    const { http, clusterAgentName } = this.#settings;
    if (http !== undefined) this.#http = await this.#serveStatus(http);
    if (!mayUseArp())
      this.#logger.warn('no CAP_NET_RAW: addresses are not probed for conflicts before clients get them; grant it');
    warmUpPacketPath({ octets: (length) => Buffer.alloc(length) });
    this.#machine.start();
    this.#control = await startAgentControl({
      logger: this.#logger,
      traffic: this.#traffic,
      captures: this.#captures,
      pools: () => this.#pools(),
    });
    this.#logger.info({ clusterAgent: clusterAgentName }, 'following the ClusterAgent');
    keepProgramPagesFew((error) => this.#logger.warn({ err: error }, 'cannot return unused memory of the program'));
    this.#timer = setInterval(() => this.#keepHouse(), HOUSEKEEPING_INTERVAL_MS);
  }

  /** Stops answering, closes the leases, removes `selfIp`, and only then lets another replica become leader. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#machine.stop();
    await this.#recorder.flush();
    this.#recorder.stop();
    this.#control?.close();
    this.#http?.close();
    this.#http?.closeAllConnections();
    this.#electionConnection.close();
    this.#connection.close();
    this.#logger.info('stopped');
  }

  #createMachine(): HostsMachine {
    const logger = this.#logger;
    const caches = new SharedCaches({
      open: (resource) => new ApiObjectClient<KubernetesObject>(this.#connection, resource),
      clock: systemClock,
      backOff: BACK_OFF,
    });
    return new HostsMachine(this.#settings, {
      logger,
      caches,
      clock: systemClock,
      nowMs: Date.now,
      random: Math.random,
      observer: this.#log,
      packetLog: this.#packetLog,
      traffic: this.#traffic,
      captures: this.#captures,
      sockets: linuxDhcpSockets,
      probeAddress: arpProbe(),
      probeServers,
      mayProbe: mayUseArp(),
      onBurst: (durationNs) => this.#metrics.observeBurst(durationNs),
      addresses: hostServerAddresses,
      links: linuxHostLinks,
      lease: this.#lease,
      clusterAgents: new ApiObjectClient<KubernetesObject>(this.#connection, Resource.clusterAgents),
      events: { record: (regarding, event) => this.#recorder.record(regarding, event) },
      neededFor: this.#needed.whose,
      openLeases: () => this.#openLeases(),
      createInventory: (parts) => this.#createInventory(caches, parts),
    });
  }

  /** The pool has the name of the ClusterAgent. */
  #pools(): ReadonlyMap<string, readonly string[]> {
    const { interfaceName } = this.#machine;
    return new Map([[this.#settings.clusterAgentName, interfaceName === undefined ? [] : [interfaceName]]]);
  }

  #createInventory(
    caches: SharedCaches,
    { isLeading, leases, mayBeMadeUp, onBindings, whenAddressed }: InventoryParts,
  ): HostInventory {
    const { clusterAgentName, identity, pollIntervalMs } = this.#settings;
    const clientOf = (resource: ApiResource) =>
      fencedClient(new ApiObjectClient<KubernetesObject>(this.#connection, resource), isLeading);
    const controllers = new RedfishControllers({ mayAct: isLeading, whenReachable: whenAddressed });
    this.#terms += 1;
    const agent = new HostAgent({
      ...{ clusterAgentName, caches, leases, mayBeMadeUp, onBindings, pollIntervalMs, runId: `${identity}_${this.#terms}` },
      ...{ clock: systemClock, wallTimeMs: Date.now, random: Math.random },
      isLeading,
      hostStatuses: clientOf(Resource.hostStatuses),
      hostOperations: clientOf(Resource.hostOperations),
      events: this.#recorder,
      managementControllers: controllers,
      observer: this.#hostLog,
    });
    this.#hostLog.followHosts(() => agent.unhealthySinceMs);
    return {
      start: () => agent.start(),
      leasesChanged: () => agent.leasesChanged(),
      stop: async () => {
        await agent.stop();
        await controllers.close();
        this.#hostLog.forgetHosts();
      },
    };
  }

  #createRecorder(): EventRecorder {
    return new EventRecorder({
      client: new ApiObjectClient<EventObject>(this.#connection, Resource.events),
      clock: systemClock,
      now: () => formatTime(Date.now()),
      random: Math.random,
      component: USER_AGENT,
      instance: this.#settings.identity,
      onError: (error) => this.#logger.warn({ err: errorForLog(error) }, 'an Event could not be written'),
    });
  }

  #openLeases(): Promise<HostLeaseStore> {
    const { statePath, clusterAgentName: clusterAgent, identity, namespace } = this.#settings;
    const settings: Parameters<typeof openDirectoryLeases>[1] = {
      logger: this.#logger,
      clock: systemClock,
      nowMs: Date.now,
      onRecorded: (durationMs, records) => this.#metrics.observeRecorded(durationMs, records),
    };
    if (statePath !== '') return openDirectoryLeases(statePath, settings);
    const mayWrite = () => this.#machine.isLeader();
    const connection = this.#connection;
    return openApiLeases({ ...settings, connection, random: Math.random, namespace, clusterAgent, replica: identity, mayWrite });
  }

  async #serveStatus(http: ListenAddress): Promise<Server> {
    const { podAddress } = this.#settings;
    const sources = {
      unready: () => this.#machine.unready(),
      registry: this.#metrics.registry,
      pages: { '/leases': leasesPage(() => this.#machine.dhcp.views()) },
    };
    return await servePodStatus({ http, option: '--listen', podAddress, sources, logger: this.#logger });
  }

  /** Addresses of the served interface belong to the agent, not to what the pod needs. */
  #refreshNeeded(): void {
    const { interfaceName } = this.#machine;
    const isSame = interfaceName === undefined ? this.#served.size === 0 : this.#served.has(interfaceName);
    this.#rounds += 1;
    if (isSame && this.#rounds % NEEDED_ADDRESSES_ROUNDS !== 0) return;
    this.#served.clear();
    if (interfaceName !== undefined) this.#served.add(interfaceName);
    void this.#needed.refresh();
  }

  #keepHouse(): void {
    this.#events.reportSuppressed();
    this.#hostLog.reportSuppressed();
    this.#packetLog.reportSuppressed();
    this.#refreshNeeded();
    this.#forwarding?.check(this.#machine.interfaceName);
    trimMemory();
  }
}

/** The Lease by which the replicas of a ClusterAgent agree on a leader. */
function hostsLeaseName(clusterAgentName: string): string {
  return `agent-${clusterAgentName}`;
}
