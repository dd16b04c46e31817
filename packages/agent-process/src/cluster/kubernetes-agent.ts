/**
 * Runs an agent in a cluster as a process: the machine of `@vmdhcp/dhcp-agent` on real ports, with its log, metrics and status
 * server.
 */
import { type AgentEvent, DhcpAgent, type IsolatedInterfaces, LeaseOwners, servedPools } from '@vmdhcp/dhcp-agent';
import type { AgentNetworkConfig } from '@vmdhcp/ippool-api/agent';
import { Resource } from '@vmdhcp/ippool-api/resources';
import type { ElectionTimes, KubernetesObject } from '@vmdhcp/kube-runtime';
import { type ApiObjectClient, type ClusterConnection, systemClock } from '@vmdhcp/kube-runtime/node';
import { type LeaseView, toLeaseView } from '@vmdhcp/lease-stores';
import type { ListenAddress, Logger } from '@vmdhcp/service-process';
import { leasesPage } from '../http/leases-page.js';
import { createMetrics } from '../http/metrics.js';
import { linuxDhcpSockets } from '../linux/linux-dhcp-sockets.js';
import { linuxIpv6Sockets } from '../linux/linux-ipv6-sockets.js';
import { arpProbe, listenForAddresses, probeServers } from '../linux/linux-probes.js';
import { linuxServerAddresses } from '../linux/linux-server-addresses.js';
import { NtpNames } from '../names/ntp-names.js';
import { PodProcess } from './pod-process.js';

const NEEDED_ADDRESSES_INTERVAL_MS = 15_000;

/** An agent in a cluster: its configuration, its connection, and how it elects a leader. */
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
  readonly #process: PodProcess;
  readonly #agent: DhcpAgent;
  readonly #metrics: ReturnType<typeof createMetrics>;
  readonly #owners: LeaseOwners | undefined;
  #timer: NodeJS.Timeout | undefined;
  #standbyAnswers = 0;

  constructor(settings: KubernetesAgentSettings, logger: Logger) {
    this.#settings = settings;
    const { configs, namespace, leaseName, logPackets } = settings;
    this.#process = new PodProcess(
      {
        ...settings,
        lease: { namespace, name: leaseName },
        served: new Set(configs.map(({ interfaceName }) => interfaceName)),
      },
      { logger, logPackets, onEvent: (event) => this.#observe(event) },
    );
    this.#owners = settings.showsLeases ? this.#createOwners() : undefined;
    this.#agent = this.#createAgent();
    this.#metrics = createMetrics({
      counters: this.#agent.counters,
      leaseEvents: () => this.#process.leaseEvents.counts(),
      served: () => servedPools(this.#agent.report()),
      observedUses: () => new Map([...this.#agent.report()].map(([pool, { observedUses = [] }]) => [pool, observedUses.length])),
      election: { isLeading: () => this.#agent.isLeader(), standbyAnswers: () => this.#standbyAnswers },
    });
  }

  /** @throws CommandError if it cannot start at all. */
  async start(): Promise<void> {
    const { configs, showsLeases, isDryRun } = this.#settings;
    const { logger } = this.#process;
    await this.#process.serveStatus({
      unready: () => [...this.#agent.unready()],
      registry: this.#metrics.registry,
      pages: showsLeases ? { '/leases': leasesPage(() => this.#leases()) } : {},
    });
    const pools = configs.map(({ ipPoolRef }) => ipPoolRef);
    logger.info({ pools }, configs.length === 0 ? 'no pools are configured' : 'following pools');
    if (isDryRun)
      logger.warn('dry run (--dry-run): pools are followed and reported, no socket is opened, no client gets a reply');
    await this.#refreshNeeded();
    this.#owners?.start();
    this.#process.warmUp();
    this.#agent.start();
    const interfacesOf = new Map(configs.map(({ ipPoolRef, interfaceName }) => [ipPoolRef, [interfaceName]]));
    await this.#process.start({ control: { pools: () => interfacesOf } });
    this.#timer = setInterval(() => void this.#refreshNeeded(), NEEDED_ADDRESSES_INTERVAL_MS);
  }

  /** Stops answering, removes the server addresses, and only then lets another replica become leader. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#process.stopHousekeeping();
    await this.#agent.stop();
    this.#owners?.stop();
    this.#process.close();
  }

  *#leases(): Generator<LeaseView> {
    const ownerOf = this.#owners?.read();
    const networks = new Map(this.#settings.configs.map(({ ipPoolRef, nadName }) => [ipPoolRef, nadName]));
    for (const lease of this.#agent.leases())
      yield toLeaseView(lease, ownerOf?.(networks.get(lease.poolName) ?? '', lease.macAddress), undefined);
  }

  #observe(event: AgentEvent): void {
    if (event.kind === 'standby-answer') this.#standbyAnswers++;
    else if (event.kind === 'burst') this.#metrics.observeBurst(event.durationNs);
    else if (event.kind === 'leader' && event.afterMs !== undefined) this.#metrics.observeTakeover(event.afterMs);
  }

  #createAgent(): DhcpAgent {
    const { configs, identity, election, isAlone, isDryRun, isolation } = this.#settings;
    const { lease, needed, packetLog, traffic, captures, log } = this.#process;
    return new DhcpAgent(
      { configs, identity, election, isAlone, isDryRun },
      {
        ...{ clock: systemClock, wallTimeMs: Date.now, random: Math.random },
        ...{ lease, packetLog, traffic, captures, isolation, observer: log },
        ...{
          addresses: linuxServerAddresses,
          sockets: linuxDhcpSockets,
          ipv6Sockets: linuxIpv6Sockets,
          probeAddress: arpProbe(),
          listenForAddresses,
          probeServers,
        },
        poolSource: (key) => this.#poolSource(key),
        ntpNames: (onChange) => this.#ntpNames(onChange),
        neededFor: needed.whose,
      },
    );
  }

  #createOwners(): LeaseOwners {
    const client = this.#process.clientOf(Resource.networkConfigs);
    return new LeaseOwners({ client, clock: systemClock, random: Math.random, observer: this.#process.log });
  }

  #ntpNames(onChange: () => void): NtpNames {
    return new NtpNames({
      onChange,
      onFailure: (name, error) =>
        this.#process.logger.warn(
          { name, err: error.message },
          'NTP server name cannot be resolved: it is omitted from option 42',
        ),
    });
  }

  #poolSource(key: string): ApiObjectClient<KubernetesObject> {
    const [namespace = '', name = ''] = key.split('/', 2);
    return this.#process.clientOf({ ...Resource.ipPools, namespace, fieldSelector: `metadata.name=${name}` });
  }

  async #refreshNeeded(): Promise<void> {
    await this.#process.needed.refresh();
    this.#agent.checkServerAddresses();
  }
}
