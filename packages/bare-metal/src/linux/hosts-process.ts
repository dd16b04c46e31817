/**
 * Runs the agent of one ClusterAgent as a process: the machine on the ports of Linux and of an API server, with its log, metrics
 * and status server.
 */
import type { Metrics } from '@vmdhcp/agent-process';
import { arpProbe, leasesPage, linuxDhcpSockets, probeServers } from '@vmdhcp/agent-process';
import { PodProcess, USER_AGENT } from '@vmdhcp/agent-process/cluster';
import { Resource } from '@vmdhcp/ippool-api/resources';
import { type ApiResource, type EventObject, EventRecorder, fencedClient, formatTime, SharedCaches } from '@vmdhcp/kube-runtime';
import { type ClusterConnection, errorForLog, systemClock } from '@vmdhcp/kube-runtime/node';
import { libc, mayUseArp, stopForwarding } from '@vmdhcp/linux-sockets';
import type { ListenAddress, Logger } from '@vmdhcp/service-process';
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

/** Addresses that the pod needs are looked up again after this many ticks. */
const NEEDED_ADDRESSES_ROUNDS = 15;
const BACK_OFF = { firstMs: 500, mostMs: 10_000, random: Math.random };

/** What the process of an agent for hosts needs: the cluster, its poll interval, its state, its status server. */
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
  readonly #process: PodProcess;
  /** The interface that is served. */
  readonly #served = new Set<string>();
  readonly #machine: HostsMachine;
  readonly #metrics: Metrics;
  readonly #hostLog: HostEventLog;
  readonly #recorder: EventRecorder;
  /** Undefined on the node's network: what the node forwards is not the agent's business. */
  readonly #forwarding: ForwardingGuard | undefined;
  #terms = 0;
  #rounds = 0;

  constructor(settings: HostsProcessSettings, logger: Logger) {
    this.#settings = settings;
    const { clusterAgentName, namespace, logPackets, hasOwnNetwork } = settings;
    this.#process = new PodProcess(
      {
        ...settings,
        lease: { namespace, name: hostsLeaseName(clusterAgentName), labels: {} },
        httpOption: '--listen',
        served: this.#served,
      },
      {
        ...{ logger, logPackets },
        onEvent: ({ kind }) => {
          if (kind === 'lease' || kind === 'client-proven') this.#machine.leasesChanged();
        },
      },
    );
    this.#machine = this.#createMachine();
    this.#metrics = createHostsMetrics(clusterAgentName, this.#machine, this.#process.leaseEvents);
    this.#hostLog = new HostEventLog(logger, this.#metrics.registry, () => performance.now());
    this.#recorder = this.#createRecorder();
    this.#forwarding = hasOwnNetwork ? new ForwardingGuard({ logger, indexOf: libc.ifNameToIndex, stopForwarding }) : undefined;
  }

  /** @throws CommandError if it cannot start at all. */
  async start(): Promise<void> {
    const { clusterAgentName } = this.#settings;
    const { logger } = this.#process;
    await this.#process.serveStatus({
      unready: () => this.#machine.unready(),
      registry: this.#metrics.registry,
      pages: { '/leases': leasesPage(() => this.#machine.dhcp.views()) },
    });
    if (!mayUseArp()) logger.warn('no CAP_NET_RAW: addresses are not probed for conflicts before clients get them; grant it');
    this.#process.warmUp();
    this.#machine.start();
    await this.#process.start({ control: { pools: () => this.#pools() }, keepHouse: () => this.#keepHouse() });
    logger.info({ clusterAgent: clusterAgentName }, 'following the ClusterAgent');
  }

  /** Stops answering, closes the leases, removes `selfIp`, and only then lets another replica become leader. */
  async stop(): Promise<void> {
    this.#process.stopHousekeeping();
    await this.#machine.stop();
    await this.#recorder.flush();
    this.#recorder.stop();
    this.#process.close();
  }

  #createMachine(): HostsMachine {
    const { logger, log, packetLog, traffic, captures, lease, needed } = this.#process;
    const caches = new SharedCaches({
      open: (resource) => this.#process.clientOf(resource),
      clock: systemClock,
      backOff: BACK_OFF,
    });
    return new HostsMachine(this.#settings, {
      ...{ logger, caches, lease, packetLog, traffic, captures, observer: log },
      ...{ clock: systemClock, nowMs: Date.now, random: Math.random },
      sockets: linuxDhcpSockets,
      probeAddress: arpProbe(),
      probeServers,
      mayProbe: mayUseArp(),
      onBurst: (durationNs) => this.#metrics.observeBurst(durationNs),
      addresses: hostServerAddresses,
      links: linuxHostLinks,
      clusterAgents: this.#process.clientOf(Resource.clusterAgents),
      events: { record: (regarding, event) => this.#recorder.record(regarding, event) },
      neededFor: needed.whose,
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
    const clientOf = (resource: ApiResource) => fencedClient(this.#process.clientOf(resource), isLeading);
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
      client: this.#process.clientOf<EventObject>(Resource.events),
      clock: systemClock,
      now: () => formatTime(Date.now()),
      random: Math.random,
      component: USER_AGENT,
      instance: this.#settings.identity,
      onError: (error) => this.#process.logger.warn({ err: errorForLog(error) }, 'an Event could not be written'),
    });
  }

  #openLeases(): Promise<HostLeaseStore> {
    const { statePath, clusterAgentName: clusterAgent, identity, namespace } = this.#settings;
    const settings: Parameters<typeof openDirectoryLeases>[1] = {
      logger: this.#process.logger,
      clock: systemClock,
      nowMs: Date.now,
      onRecorded: (durationMs, records) => this.#metrics.observeRecorded(durationMs, records),
    };
    if (statePath !== '') return openDirectoryLeases(statePath, settings);
    const mayWrite = () => this.#machine.isLeader();
    const { connection } = this.#process;
    return openApiLeases({ ...settings, connection, random: Math.random, namespace, clusterAgent, replica: identity, mayWrite });
  }

  /** Addresses of the served interface belong to the agent, not to what the pod needs. */
  #refreshNeeded(): void {
    const { interfaceName } = this.#machine;
    const isSame = interfaceName === undefined ? this.#served.size === 0 : this.#served.has(interfaceName);
    this.#rounds += 1;
    if (isSame && this.#rounds % NEEDED_ADDRESSES_ROUNDS !== 0) return;
    this.#served.clear();
    if (interfaceName !== undefined) this.#served.add(interfaceName);
    void this.#process.needed.refresh();
  }

  #keepHouse(): void {
    this.#hostLog.reportSuppressed();
    this.#refreshNeeded();
    this.#forwarding?.check(this.#machine.interfaceName);
  }
}

/** The Lease by which the replicas of a ClusterAgent agree on a leader. */
function hostsLeaseName(clusterAgentName: string): string {
  return `agent-${clusterAgentName}`;
}
