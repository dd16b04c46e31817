/**
 * Runs an agent in a cluster as a process: the machine of `@vmdhcp/dhcp-agent` on real ports, with its log, metrics and status
 * server.
 */
import type { Server } from 'node:http';
import {
  AgentTraffic,
  DhcpAgent,
  type IsolatedInterfaces,
  LeaseOwners,
  PacketCaptures,
  warmUpPacketPath,
} from '@vmdhcp/dhcp-agent';
import { ApiGroupLease } from '@vmdhcp/dhcp-agent/node';
import type { AgentNetworkConfig } from '@vmdhcp/ippool-api/agent';
import { Resource } from '@vmdhcp/ippool-api/resources';
import type { ElectionTimes, KubernetesObject } from '@vmdhcp/kube-runtime';
import { ApiConnection, ApiObjectClient, type ClusterConnection, systemClock } from '@vmdhcp/kube-runtime/node';
import { type LeaseView, toLeaseView } from '@vmdhcp/lease-stores';
import type { ListenAddress, Logger } from '@vmdhcp/service-process';
import { keepProgramPagesFew, separateLargeMemory, trimMemory } from '@vmdhcp/service-process/memory';
import { startAgentControl } from '../control/agent-control.js';
import { leasesPage } from '../http/leases-page.js';
import { createMetrics } from '../http/metrics.js';
import { linuxDhcpSockets } from '../linux/linux-dhcp-sockets.js';
import { arpProbe, probeServers } from '../linux/linux-probes.js';
import { linuxServerAddresses } from '../linux/linux-server-addresses.js';
import { NeededAddresses } from '../linux/needed-addresses.js';
import { AgentLog } from '../log/agent-log.js';
import { LeaseEventLog } from '../log/lease-event-log.js';
import { PacketLog } from '../log/packet-log.js';
import { NtpNames } from '../names/ntp-names.js';
import { electionConnection, USER_AGENT } from './election-connection.js';
import { servePodStatus } from './serve-pod-status.js';

const HOUSEKEEPING_INTERVAL_MS = 1_000;
const NEEDED_ADDRESSES_INTERVAL_MS = 15_000;

export interface KubernetesAgentSettings {
  readonly configs: readonly AgentNetworkConfig[];
  readonly cluster: ClusterConnection;
  /** The interfaces of the pod, including those without a pool. */
  readonly isolation: IsolatedInterfaces;
  /** The namespace and name of the Lease. */
  readonly namespace: string;
  readonly leaseName: string;
  /** The identity of this run of this replica, which no other run shares. */
  readonly identity: string;
  readonly election: ElectionTimes;
  /** True if there is no other replica. */
  readonly isAlone: boolean;
  /** True for a dry run: the agent follows and reports pools, but opens no socket, adds no address and sends nothing. */
  readonly isDryRun: boolean;
  readonly http: ListenAddress | undefined;
  /** True to log whole packets, unless the group's Lease or a pool specifies something else. */
  readonly logPackets: boolean;
  /** From the pod's status, if Kubernetes set it. */
  readonly podAddress: string | undefined;
  /** True if the status server has the page `/leases`. */
  readonly showsLeases: boolean;
}

/** The agent of a cluster: follows its pools and takes part in the election, and serves clients while it leads. */
export class KubernetesAgent {
  readonly #settings: KubernetesAgentSettings;
  readonly #logger: Logger;
  readonly #events: LeaseEventLog;
  readonly #packetLog: PacketLog;
  readonly #log: AgentLog;
  readonly #connection: ApiConnection;
  readonly #electionConnection: ApiConnection;
  readonly #lease: ApiGroupLease;
  readonly #needed: NeededAddresses;
  readonly #agent: DhcpAgent;
  readonly #metrics: ReturnType<typeof createMetrics>;
  readonly #owners: LeaseOwners | undefined;
  readonly #timers: NodeJS.Timeout[] = [];
  readonly #traffic = new AgentTraffic({ nowMs: Date.now, random: Math.random });
  readonly #captures = new PacketCaptures();
  #http: Server | undefined;
  #control: { readonly close: () => void } | undefined;
  #standbyAnswers = 0;

  constructor(settings: KubernetesAgentSettings, logger: Logger) {
    separateLargeMemory();
    this.#settings = settings;
    this.#logger = logger;
    const nowMs = () => performance.now();
    this.#events = new LeaseEventLog(logger, nowMs);
    this.#packetLog = new PacketLog(logger, { packets: settings.logPackets, nowMs });
    this.#log = this.#createLog();
    const { cluster, namespace, leaseName, election } = settings;
    this.#connection = new ApiConnection(cluster, { userAgent: USER_AGENT });
    this.#electionConnection = electionConnection(cluster, election);
    this.#lease = new ApiGroupLease({
      election: this.#electionConnection,
      watching: this.#connection,
      namespace,
      name: leaseName,
      clock: systemClock,
      wallTimeMs: Date.now,
      random: Math.random,
    });
    this.#needed = new NeededAddresses({
      server: cluster.server,
      podAddress: settings.podAddress,
      served: new Set(settings.configs.map(({ interfaceName }) => interfaceName)),
    });
    this.#owners = settings.showsLeases ? this.#createOwners() : undefined;
    this.#agent = this.#createAgent();
    this.#metrics = createMetrics({
      counters: this.#agent.counters,
      leaseEvents: () => this.#events.counts(),
      served: () => new Map([...this.#agent.report()].map(([pool, { serving }]) => [pool, serving])),
      election: { isLeading: () => this.#agent.isLeader(), standbyAnswers: () => this.#standbyAnswers },
    });
  }

  /** @throws CommandError if it cannot start at all. */
  async start(): Promise<void> {
    const { http, configs } = this.#settings;
    if (http !== undefined) this.#http = await this.#serveStatus(http);
    this.#logger.info(
      { pools: configs.map(({ ipPoolRef }) => ipPoolRef) },
      configs.length === 0 ? 'no pools are configured' : 'following pools',
    );
    if (this.#settings.isDryRun)
      this.#logger.warn('dry run (--dry-run): pools are followed and reported, no socket is opened, no client gets a reply');
    await this.#refreshNeeded();
    this.#owners?.start();
    warmUpPacketPath({ octets: (length) => Buffer.alloc(length) });
    this.#agent.start();
    this.#control = await startAgentControl({
      logger: this.#logger,
      traffic: this.#traffic,
      captures: this.#captures,
      pools: () => new Map(configs.map(({ ipPoolRef, interfaceName }) => [ipPoolRef, [interfaceName]])),
    });
    keepProgramPagesFew((error) => this.#logger.warn({ err: error }, 'cannot return unused memory of the program'));
    this.#timers.push(
      setInterval(() => this.#keepHouse(), HOUSEKEEPING_INTERVAL_MS),
      setInterval(() => void this.#refreshNeeded(), NEEDED_ADDRESSES_INTERVAL_MS),
    );
  }

  /** Stops answering, removes the server addresses, and only then lets another replica become leader. */
  async stop(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    await this.#agent.stop();
    this.#owners?.stop();
    this.#control?.close();
    this.#http?.close();
    this.#http?.closeAllConnections();
    this.#electionConnection.close();
    this.#connection.close();
    this.#logger.info('stopped');
  }

  *#leases(): Generator<LeaseView> {
    const ownerOf = this.#owners?.read();
    const networks = new Map(this.#settings.configs.map(({ ipPoolRef, nadName }) => [ipPoolRef, nadName]));
    for (const lease of this.#agent.leases())
      yield toLeaseView(lease, ownerOf?.(networks.get(lease.poolName) ?? '', lease.macAddress));
  }

  #createLog(): AgentLog {
    return new AgentLog({
      logger: this.#logger,
      leaseEvents: this.#events,
      packetLog: this.#packetLog,
      nowMs: () => performance.now(),
      onEvent: (event) => {
        if (event.kind === 'standby-answer') this.#standbyAnswers++;
        else if (event.kind === 'burst') this.#metrics.observeBurst(event.durationNs);
        else if (event.kind === 'leader' && event.afterMs !== undefined) this.#metrics.observeTakeover(event.afterMs);
      },
    });
  }

  #createAgent(): DhcpAgent {
    const { configs, identity, election, isAlone, isDryRun, isolation } = this.#settings;
    return new DhcpAgent(
      { configs, identity, election, isAlone, isDryRun },
      {
        clock: systemClock,
        wallTimeMs: Date.now,
        random: Math.random,
        addresses: linuxServerAddresses,
        sockets: linuxDhcpSockets,
        probeAddress: arpProbe(),
        probeServers,
        lease: this.#lease,
        poolSource: (key) => this.#poolSource(key),
        ntpNames: (onChange) => this.#ntpNames(onChange),
        isolation,
        neededFor: this.#needed.whose,
        packetLog: this.#packetLog,
        traffic: this.#traffic,
        captures: this.#captures,
        observer: this.#log,
      },
    );
  }

  async #serveStatus(http: ListenAddress): Promise<Server> {
    const { podAddress } = this.#settings;
    const sources = {
      unready: () => [...this.#agent.unready()],
      registry: this.#metrics.registry,
      pages: this.#settings.showsLeases ? { '/leases': leasesPage(() => this.#leases()) } : {},
    };
    return await servePodStatus({ http, podAddress, sources, logger: this.#logger });
  }

  #createOwners(): LeaseOwners {
    const client = new ApiObjectClient<KubernetesObject>(this.#connection, Resource.networkConfigs);
    return new LeaseOwners({ client, clock: systemClock, random: Math.random, observer: this.#log });
  }

  #ntpNames(onChange: () => void): NtpNames {
    return new NtpNames({
      onChange,
      onFailure: (name, error) =>
        this.#logger.warn({ name, err: error.message }, 'NTP server name cannot be resolved: it is omitted from option 42'),
    });
  }

  #poolSource(key: string): ApiObjectClient<KubernetesObject> {
    const [namespace = '', name = ''] = key.split('/', 2);
    return new ApiObjectClient(this.#connection, { ...Resource.ipPools, namespace, fieldSelector: `metadata.name=${name}` });
  }

  #keepHouse(): void {
    this.#events.reportSuppressed();
    this.#packetLog.reportSuppressed();
    trimMemory();
  }

  async #refreshNeeded(): Promise<void> {
    await this.#needed.refresh();
    this.#agent.checkServerAddresses();
  }
}
