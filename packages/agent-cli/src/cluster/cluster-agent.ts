/**
 * An agent in a cluster: pools from the API server, one leader among its replicas. Every replica knows everything, and has its ports
 * open; the one that leads has the server addresses and answers. The others answer clients that nobody answers.
 */

import type { Server } from 'node:http';
import {
  AddressInquiry,
  ConflictProbes,
  DECOYS,
  type DhcpPacketHandler,
  DhcpServer,
  FollowedPools,
  type IsolatedInterfaces,
  LeaseEventLog,
  LeaseOwners,
  PoolSockets,
  RateBudget,
  RogueServers,
  reportOn,
  StandbyGate,
} from '@vmdhcp/dhcp-agent';
import type { AgentLogSettings, AgentNetworkConfig, AgentReport } from '@vmdhcp/ippool-api';
import { describeNames, type ElectionTimes, type KubernetesObject } from '@vmdhcp/kube-runtime';
import { ApiConnection, ApiObjectClient, type ClusterConnection, errorForLog, systemClock } from '@vmdhcp/kube-runtime/node';
import { separateLargeMemory, trimMemory } from '@vmdhcp/linux-sockets';
import { type AddressConflict, Resource, readReportedConflicts } from '@vmdhcp/reconciler';
import { formatListenAddress, type ListenAddress, type Logger, startStatusServer } from '@vmdhcp/service-process';
import { leasesPage } from '../http/leases-page.js';
import { listenOnPod } from '../http/listen-on-pod.js';
import { createMetrics } from '../http/metrics.js';
import { readPodNetwork } from '../http/pod-interface.js';
import { PacketLog } from '../log/packet-log.js';
import { NtpNames } from '../pools-file/ntp-names.js';
import { type LeaseView, toLeaseView } from '../state/lease-view.js';
import { AgentLead } from './agent-lead.js';
import { linuxDhcpSockets } from './linux-dhcp-sockets.js';
import { arpProbe, probeServers } from './linux-probes.js';
import { NeededAddresses } from './needed-addresses.js';

const HOUSEKEEPING_INTERVAL_MS = 1_000;
const EXPIRY_SCAN_INTERVAL_MS = 5_000;
const NEEDED_ADDRESSES_INTERVAL_MS = 15_000;
const USER_AGENT = 'vmdhcp-agent';
/** Who heard from the API server so long ago may be alone with that. */
const OUT_OF_TOUCH_MS = 5_000;
/** What others need to take over besides the time of the Lease: they go first. */
const TAKE_OVER_MS = 250;

export interface ClusterAgentSettings {
  readonly configs: readonly AgentNetworkConfig[];
  readonly cluster: ClusterConnection;
  /** Of the pod, also of interfaces that no pool is served on. */
  readonly isolation: IsolatedInterfaces;
  /** Where the Lease is. */
  readonly namespace: string;
  readonly leaseName: string;
  /** Of this replica, and of no other nor of an earlier run of it. */
  readonly identity: string;
  readonly election: ElectionTimes;
  /** True: there is no other replica. */
  readonly isAlone: boolean;
  /** True: everything is followed and reported; no port is opened, no address given and nothing sent. */
  readonly isDryRun: boolean;
  readonly http: ListenAddress | undefined;
  /** True: whole packets are logged, unless the group's Lease or a pool says otherwise. */
  readonly logPackets: boolean;
  /** As Kubernetes says it, if it does. */
  readonly podAddress: string | undefined;
  /** True: the status server shows `/leases`. */
  readonly showsLeases: boolean;
}

export class ClusterAgent {
  readonly #settings: ClusterAgentSettings;
  readonly #logger: Logger;
  readonly #events: LeaseEventLog;
  readonly #packetLog: PacketLog;
  readonly #server: DhcpServer;
  readonly #connection: ApiConnection;
  readonly #needed: NeededAddresses;
  readonly #pools: FollowedPools;
  readonly #sockets: PoolSockets;
  readonly #lead: AgentLead;
  readonly #inquiry: AddressInquiry;
  readonly #conflictProbes: ConflictProbes;
  readonly #rogueServers: RogueServers;
  readonly #standbyGate: StandbyGate;
  readonly #metrics: ReturnType<typeof createMetrics>;
  readonly #sendFailures = new RateBudget({ perSecond: 0.2, burst: 3 });
  readonly #standbyLines = new RateBudget({ perSecond: 1, burst: 5 });
  readonly #timers: NodeJS.Timeout[] = [];
  readonly #configOf: ReadonlyMap<string, AgentNetworkConfig>;
  readonly #owners: LeaseOwners | undefined;
  #http: Server | undefined;
  #stopping = false;
  #standbyAnswers = 0;

  constructor(settings: ClusterAgentSettings, logger: Logger) {
    separateLargeMemory();
    this.#settings = settings;
    this.#logger = logger;
    this.#configOf = new Map(settings.configs.map((config) => [config.ipPoolRef, config]));
    this.#events = new LeaseEventLog(logger, Date.now);
    this.#packetLog = new PacketLog(logger, { packets: settings.logPackets, nowMs: Date.now });
    this.#server = new DhcpServer({
      logger,
      events: this.#events,
      packetLog: this.#packetLog,
      nowMs: Date.now,
      onBindingChanged: () => undefined,
      whoUses: (interfaceName, lease) => this.#inquiry.whoUses(interfaceName, lease),
      onDeclined: ({ poolName, macAddress, address }, usedBy) => this.#onConflict(poolName, { macAddress, address, usedBy }),
    });
    this.#connection = new ApiConnection(settings.cluster, { userAgent: USER_AGENT });
    this.#needed = new NeededAddresses({
      server: settings.cluster.server,
      podAddress: settings.podAddress,
      served: new Set(settings.configs.map(({ interfaceName }) => interfaceName)),
    });
    this.#pools = this.#followPools();
    this.#inquiry = new AddressInquiry({
      logger,
      nowMs: () => performance.now(),
      probe: arpProbe(),
      decoysOf: (poolKey) => this.#server.decoysOf(poolKey, DECOYS, Math.random),
    });
    this.#owners = settings.showsLeases ? this.#createOwners() : undefined;
    this.#conflictProbes = new ConflictProbes({
      logger,
      nowMs: () => performance.now(),
      isLeading: () => this.#lead.isLeading(),
      whoUses: this.#inquiry.whoUses,
      onConflict: (pool, conflict) => this.#onConflict(pool, conflict),
      inject: (name, packet) => this.#sockets.inject(name, packet),
    });
    this.#rogueServers = new RogueServers({
      logger,
      nowMs: () => performance.now(),
      random: Math.random,
      probe: probeServers,
      onChange: () => this.#lead.publish(),
    });
    const takeOverMs = settings.election.leaseDurationMs + TAKE_OVER_MS;
    this.#standbyGate = new StandbyGate({
      nowMs: () => performance.now(),
      leastWaitMs: () => (this.#lead.heardAgoMs() > OUT_OF_TOUCH_MS ? takeOverMs : 0),
      isInDoubt: (pool, macAddress) => this.#isInDoubt(pool, macAddress),
    });
    this.#metrics = createMetrics({
      counters: this.#server.counters,
      leaseEvents: () => this.#events.counts(),
      served: () => new Map([...this.report()].map(([pool, { serving }]) => [pool, serving])),
      election: { isLeading: () => this.#lead.isLeading(), standbyAnswers: () => this.#standbyAnswers },
    });
    this.#sockets = this.#createSockets();
    this.#lead = this.#createLead();
  }

  /** @throws CommandError where it cannot start at all. */
  async start(): Promise<void> {
    const { http, configs } = this.#settings;
    if (http !== undefined) this.#http = await this.#serveStatus(http);
    this.#logger.info(
      { pools: configs.map(({ ipPoolRef }) => ipPoolRef) },
      configs.length === 0 ? 'nothing to serve yet' : 'following pools',
    );
    if (this.#settings.isDryRun)
      this.#logger.warn('dry run (--dry-run): pools are followed and reported, no port is opened, no client gets an answer');
    await this.#refreshNeeded();
    this.#pools.start();
    this.#owners?.start();
    this.#sockets.start();
    this.#lead.start();
    this.#timers.push(
      setInterval(() => this.#keepHouse(), HOUSEKEEPING_INTERVAL_MS),
      setInterval(() => this.#forgetOld(), EXPIRY_SCAN_INTERVAL_MS),
      setInterval(() => void this.#refreshNeeded(), NEEDED_ADDRESSES_INTERVAL_MS),
    );
  }

  /** Stops answering, takes the server addresses away, and only then lets another one lead. */
  async stop(): Promise<void> {
    this.#stopping = true;
    for (const timer of this.#timers) clearInterval(timer);
    await this.#lead.stop();
    this.#sockets.stop();
    this.#pools.stop();
    this.#owners?.stop();
    this.#http?.close();
    this.#http?.closeAllConnections();
    this.#connection.close();
    this.#logger.info('stopped');
  }

  /** Of each pool: whether it is served from here. */
  report(): AgentReport {
    const { term } = this.#lead;
    return new Map(
      this.#settings.configs.map(({ ipPoolRef: key, interfaceName }) => {
        const state = {
          interfaceName,
          followed: this.#pools.get(key),
          version: this.#pools.versionOf(key),
          socket: this.#sockets.stateOf(interfaceName),
          isSuspended: this.#lead.isSuspended(key),
          isDryRun: this.#settings.isDryRun,
          term,
          conflicts: this.#pools.conflictsOf(key),
          rogueServers: this.#rogueServers.on(interfaceName),
        };
        return [key, reportOn(state)];
      }),
    );
  }

  *leases(): Generator<LeaseView> {
    const ownerOf = this.#owners?.read();
    for (const lease of this.#server.leases()) {
      const network = this.#configOf.get(lease.poolName)?.nadName ?? '';
      yield toLeaseView(lease, ownerOf?.(network, lease.macAddress));
    }
  }

  /** On the interface of the pod's own address: machines on the networks that are served cannot connect. */
  async #serveStatus(http: ListenAddress): Promise<Server> {
    const socket = await listenOnPod(http, readPodNetwork(this.#settings.podAddress));
    const { interfaceName } = socket;
    this.#logger.info(
      { interface: interfaceName, address: formatListenAddress(http) },
      'status server listens on this interface only',
    );
    return await startStatusServer(socket, {
      unready: () => this.#unready(),
      registry: this.#metrics.registry,
      pages: this.#settings.showsLeases ? { '/leases': leasesPage(() => this.leases()) } : {},
    });
  }

  #createOwners(): LeaseOwners {
    const client = new ApiObjectClient<KubernetesObject>(this.#connection, Resource.networkConfigs);
    return new LeaseOwners({ client, clock: systemClock, logger: this.#logger });
  }

  #followPools(): FollowedPools {
    return new FollowedPools(this.#settings.configs, {
      server: this.#server,
      logger: this.#logger,
      clock: systemClock,
      nowMs: Date.now,
      clientOf: (key) => this.#poolClient(key),
      ntpNames: (onChange) => this.#ntpNames(onChange),
      errorForLog,
      whoseAddress: this.#needed.whose,
      onChange: () => {
        this.#sockets.check();
        this.#lead.check();
        this.#lead.publish();
      },
      onLogSettings: (key, settings) => this.#packetLog.setPool(key, settings),
      onFresh: (key, leases) => {
        const config = this.#configOf.get(key);
        if (config !== undefined && !this.#settings.isDryRun) this.#conflictProbes.noteFresh(config.interfaceName, leases);
      },
    });
  }

  #ntpNames(onChange: () => void): NtpNames {
    return new NtpNames({
      onChange,
      onFailure: (name, error) =>
        this.#logger.warn({ name, err: error.message }, 'NTP server name cannot be looked up: it is left out of option 42'),
    });
  }

  #createSockets(): PoolSockets {
    return new PoolSockets({
      configs: this.#settings.isDryRun ? [] : this.#settings.configs,
      pools: this.#pools,
      isolation: this.#settings.isolation,
      clock: systemClock,
      sockets: linuxDhcpSockets,
      logger: this.#logger,
      handlerOf: (config) => this.#handler(config),
      observeBurst: this.#metrics.observeBurst,
      onSendFailure: (name, failure) => this.#onSendFailure(name, failure),
      onStateChange: () => this.#lead.publish(),
    });
  }

  #createLead(): AgentLead {
    const { cluster, namespace, leaseName, identity, election, isAlone, isDryRun, configs } = this.#settings;
    const settings = {
      cluster,
      userAgent: USER_AGENT,
      namespace,
      leaseName,
      identity,
      times: election,
      isAlone,
      isDryRun,
      configs,
      pools: this.#pools,
      logger: this.#logger,
      report: () => this.report(),
      troubles: () => this.#troubles(),
      onOthersReport: (report: AgentReport) => this.#adopt(report),
      onLogSettings: (log: AgentLogSettings) => this.#packetLog.setGeneral(log),
      isIsolated: (interfaceName: string) => this.#settings.isolation.problemOf(interfaceName) === undefined,
      onAddressGiven: (interfaceName: string) => this.#answerRecent(interfaceName),
    };
    return new AgentLead(settings, this.#connection);
  }

  /** The leader answers; who stands by answers those whom nobody answers; a pool that is suspended is silent in both. */
  #handler({ interfaceName, ipPoolRef }: AgentNetworkConfig): DhcpPacketHandler {
    const server = this.#server;
    const pools = () => (this.#isSilent(ipPoolRef, interfaceName) ? [] : server.poolsNamed([ipPoolRef]));
    const asLeader = server.handler(interfaceName, pools, {
      whyNotSent: (answer, packet) =>
        this.#conflictProbes.defers(interfaceName, answer, packet) ? 'address-being-probed' : undefined,
    });
    const asStandby = server.handler(interfaceName, pools, {
      whyNotSent: (answer, packet) => {
        if (answer.kind !== 'reply' || !this.#standbyGate.mayAnswer(answer, packet)) return 'standing-by';
        this.#onStandbyAnswer(ipPoolRef, answer.client.macAddress);
        return undefined;
      },
      // Only the leader has the address that ordinary datagrams would come from.
      redirect: (answer) =>
        answer.destination.kind === 'unicast' ? { ...answer, destination: { ...answer.destination, kind: 'link' } } : answer,
    });
    return (packet, into) => (this.#lead.term?.hasAddress(interfaceName) ? asLeader(packet, into) : asStandby(packet, into));
  }

  #isSilent(poolKey: string, interfaceName: string): boolean {
    if (this.#lead.isSuspended(poolKey) || this.#stopping) return true;
    const followed = this.#pools.get(poolKey);
    const stops = followed.kind === 'active' && followed.stopsForRogueServer;
    return stops && (this.#rogueServers.on(interfaceName) ?? []).length > 0;
  }

  #isInDoubt(poolKey: string, macAddress: string): boolean {
    const lease = this.#server.leaseOf(poolKey, macAddress);
    return lease === undefined || this.#conflictProbes.isFresh(lease);
  }

  #onStandbyAnswer(pool: string, mac: string): void {
    this.#standbyAnswers++;
    if (this.#standbyLines.take(Date.now()))
      this.#logger.warn({ pool, mac }, 'the client asks again and nobody has answered: answered from here, without leading');
  }

  #onConflict(poolKey: string, conflict: AddressConflict): void {
    this.#pools.noteConflict(poolKey, conflict);
    this.#lead.publish();
  }

  #poolClient(key: string): ApiObjectClient<KubernetesObject> {
    const [namespace = '', name = ''] = key.split('/', 2);
    return new ApiObjectClient(this.#connection, { ...Resource.ipPools, namespace, fieldSelector: `metadata.name=${name}` });
  }

  #unready(): string[] {
    const unsynced = this.#pools.unsynced();
    return unsynced.length > 0 ? [`not listed yet: ${describeNames(unsynced)}`] : this.#troubles();
  }

  /** What keeps pools from being served from here, whoever leads. */
  #troubles(): string[] {
    if (this.#settings.isDryRun) return [];
    const problems = this.#lead.term?.problems() ?? [];
    const ports = this.#settings.configs.flatMap(({ ipPoolRef, interfaceName }) => {
      const { kind } = this.#sockets.stateOf(interfaceName);
      return this.#pools.get(ipPoolRef).kind === 'active' && kind !== 'serving'
        ? [`${ipPoolRef}: interface ${interfaceName} is ${kind}`]
        : [];
    });
    return [...problems, ...ports];
  }

  #keepHouse(): void {
    this.#events.reportSuppressed();
    this.#packetLog.reportSuppressed();
    trimMemory();
    const { term } = this.#lead;
    const served = this.#settings.configs.filter(({ interfaceName }) => term?.hasAddress(interfaceName));
    void this.#rogueServers.look(served.map(({ interfaceName }) => interfaceName));
    this.#lead.resignIfBroken();
  }

  async #refreshNeeded(): Promise<void> {
    await this.#needed.refresh();
    if (!this.#stopping) this.#pools.checkServerAddresses();
  }

  #forgetOld(): void {
    this.#server.expireLeases();
    this.#pools.expireConflicts();
    this.#conflictProbes.forgetOld();
    this.#standbyGate.forgetOld();
  }

  /** What another leader found out is known here too. */
  #adopt(report: AgentReport): void {
    for (const [poolKey, { conflicts = [], rogueServers }] of report) {
      const config = this.#configOf.get(poolKey);
      if (config === undefined) continue;
      for (const conflict of readReportedConflicts(conflicts)) {
        const isOurs = this.#server.leaseOf(poolKey, conflict.macAddress)?.address === conflict.address;
        if (isOurs) this.#pools.noteConflict(poolKey, conflict);
      }
      if (rogueServers !== undefined) this.#rogueServers.adopt(config.interfaceName, rogueServers);
    }
  }

  /** Who asked while nobody led need not ask again. */
  #answerRecent(interfaceName: string): void {
    const config = this.#settings.configs.find((one) => one.interfaceName === interfaceName);
    for (const packet of config === undefined ? [] : this.#standbyGate.takeRecent(config.ipPoolRef)) {
      this.#sockets.inject(interfaceName, packet);
    }
  }

  #onSendFailure(interfaceName: string, { error, count }: { readonly error: string; readonly count: number }): void {
    this.#server.counters.drop('send-failed', count);
    if (this.#sendFailures.take(Date.now()))
      this.#logger.warn({ interface: interfaceName, error, count }, 'replies could not be sent');
  }
}
