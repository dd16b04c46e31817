/**
 * An agent in a cluster: pools from the API server, one leader among its replicas. Every replica knows everything, and has its ports
 * open; the one that leads has the server addresses and answers, and its Lease says for each pool whether it is served. The
 * others answer clients that nobody answers.
 */
import type { Server } from 'node:http';
import {
  AGENT_GROUP_LABEL,
  AGENT_LABEL,
  AGENT_LABEL_VALUE,
  WITHHELD_POOLS_ANNOTATION,
  WITHHELD_POOLS_SEEN_ANNOTATION,
} from '@vmdhcp/ippool-api';
import {
  AGENT_REPORT_ANNOTATION,
  type AgentNetworkConfig,
  type AgentReport,
  describeAgentReport,
  type ElectionTimes,
  formatAgentReport,
  isOlderVersion,
  type KubernetesObject,
  LeaseElector,
  ObjectCache,
  parseAgentReport,
  parseWithheldPools,
} from '@vmdhcp/reconciler';
import {
  ApiConnection,
  ApiLeaseStore,
  ApiObjectClient,
  type ClusterConnection,
  type LeaseObject,
  Resource,
  systemClock,
  toStoredLease,
} from '@vmdhcp/reconciler/client-node';
import { type ListenAddress, type Logger, startStatusServer } from '@vmdhcp/service-process';
import { leasesPage } from '../http/leases-page.js';
import { createMetrics } from '../http/metrics.js';
import type { DhcpPacketHandler } from '../net/dhcp-packet-handler.js';
import { separateLargeMemory, trimMemory } from '../net/libc.js';
import { RateBudget } from '../rate-budget.js';
import { DhcpServer } from '../serve/dhcp-server.js';
import { LeaseEventLog } from '../serve/lease-event-log.js';
import { type LeaseView, toLeaseView } from '../serve/lease-view.js';
import { ConflictProbes } from './conflict-probes.js';
import { FollowedPools } from './followed-pools.js';
import { ForeignServers } from './foreign-servers.js';
import { safeAddressMs } from './lead-times.js';
import { LeaderTerm } from './leader-term.js';
import { PoolPorts } from './pool-ports.js';
import { reportOn } from './pool-report.js';
import { StandbyGate } from './standby-gate.js';

const HOUSEKEEPING_INTERVAL_MS = 1_000;
const EXPIRY_SCAN_INTERVAL_MS = 5_000;
const USER_AGENT = 'vmdhcp-agent';
/** Who heard from the API server so long ago may be alone with that. */
const OUT_OF_TOUCH_MS = 5_000;
/** What others need to take over besides the time of the Lease: they go first. */
const TAKE_OVER_MS = 250;
/** A leader that cannot serve its pools lets others try after this time, and again only after the longer one. */
const BROKEN_MS = 3_000;
const MOST_BROKEN_MS = 300_000;
/** How long others go first while something is broken here. */
const HANDICAP_MS = 1_500;
/** And after it has left the lead to them. */
const RESIGNED_MS = 10_000;

export interface ClusterAgentSettings {
  readonly configs: readonly AgentNetworkConfig[];
  readonly cluster: ClusterConnection;
  /** Where the Lease is. */
  readonly namespace: string;
  readonly leaseName: string;
  /** Of this replica, and of no other nor of an earlier run of it. */
  readonly identity: string;
  /** Undefined: there is no other replica. */
  readonly election: ElectionTimes | undefined;
  readonly http: ListenAddress | undefined;
}

export class ClusterAgent {
  readonly #settings: ClusterAgentSettings;
  readonly #logger: Logger;
  readonly #events: LeaseEventLog;
  readonly #server: DhcpServer;
  readonly #connection: ApiConnection;
  readonly #leaseConnection: ApiConnection;
  readonly #pools: FollowedPools;
  readonly #ports: PoolPorts;
  readonly #conflictProbes: ConflictProbes;
  readonly #foreignServers: ForeignServers;
  readonly #standbyGate: StandbyGate;
  readonly #elector: LeaseElector | undefined;
  readonly #leaseWatch: ObjectCache<KubernetesObject> | undefined;
  readonly #metrics: ReturnType<typeof createMetrics>;
  readonly #sendFailures = new RateBudget({ perSecond: 0.2, burst: 3 });
  readonly #leaseWarnings = new RateBudget({ perSecond: 0.05, burst: 1 });
  readonly #standbyLines = new RateBudget({ perSecond: 1, burst: 5 });
  readonly #timers: NodeJS.Timeout[] = [];
  readonly #configOf: ReadonlyMap<string, AgentNetworkConfig>;
  #term: LeaderTerm | undefined;
  #http: Server | undefined;
  #stopping = false;
  /** The report as the Lease has it. */
  #published = '';
  #withheld: ReadonlySet<string> = new Set();
  /** As the Lease has it. */
  #withheldText = '';
  /** Of the newest Lease that was read, written or seen. */
  #leaseVersion = '';
  #standbyAnswers = 0;
  /** When the API server last said anything about the Lease. */
  #heardAtMs = Number.NEGATIVE_INFINITY;
  #brokenSinceMs: number | undefined;
  #resignAfterMs = BROKEN_MS;
  #resignedUntilMs = Number.NEGATIVE_INFINITY;

  constructor(settings: ClusterAgentSettings, logger: Logger) {
    separateLargeMemory();
    this.#settings = settings;
    this.#logger = logger;
    this.#configOf = new Map(settings.configs.map((config) => [config.ipPoolRef, config]));
    this.#events = new LeaseEventLog(logger, Date.now);
    this.#server = new DhcpServer({
      logger,
      events: this.#events,
      nowMs: Date.now,
      onBindingChanged: () => undefined,
      onDeclined: ({ poolName, macAddress, address }) => this.#onConflict(poolName, { macAddress, address }),
    });
    this.#connection = new ApiConnection(settings.cluster, { userAgent: USER_AGENT });
    // A Lease that cannot be renewed in time is lost: its requests must fail sooner than that, and wait for nothing else.
    const timeoutMs = settings.election === undefined ? 10_000 : settings.election.renewDeadlineMs * 0.6;
    this.#leaseConnection = new ApiConnection(settings.cluster, { userAgent: USER_AGENT, timeoutMs });
    this.#pools = this.#followPools();
    this.#conflictProbes = new ConflictProbes({
      logger,
      nowMs: () => performance.now(),
      isLeading: () => this.#isLeading(),
      onConflict: (pool, conflict) => this.#onConflict(pool, conflict),
      inject: (name, packet) => this.#ports.inject(name, packet),
    });
    this.#foreignServers = new ForeignServers({
      logger,
      nowMs: () => performance.now(),
      random: Math.random,
      onChange: () => this.#publishReport(),
    });
    const takeOverMs = (settings.election?.leaseDurationMs ?? 0) + TAKE_OVER_MS;
    this.#standbyGate = new StandbyGate({
      nowMs: () => performance.now(),
      leastWaitMs: () => (performance.now() - this.#heardAtMs > OUT_OF_TOUCH_MS ? takeOverMs : 0),
      isInDoubt: (pool, macAddress) => this.#isInDoubt(pool, macAddress),
    });
    this.#metrics = createMetrics({
      counters: this.#server.counters,
      leaseEvents: () => this.#events.counts(),
      served: () => new Map([...this.report()].map(([pool, { serving }]) => [pool, serving])),
      election: { isLeading: () => this.#isLeading(), standbyAnswers: () => this.#standbyAnswers },
    });
    this.#ports = this.#createPorts();
    this.#elector = settings.election === undefined ? undefined : this.#createElector(settings.election);
    this.#leaseWatch = settings.election === undefined ? undefined : this.#watchLease();
  }

  /** @throws CommandError where it cannot start at all. */
  async start(): Promise<void> {
    const { http, configs, election } = this.#settings;
    if (http !== undefined) {
      this.#http = await startStatusServer(http, {
        unready: () => this.#unready(),
        registry: this.#metrics.registry,
        pages: { '/leases': leasesPage(() => this.leases()) },
      });
    }
    this.#logger.info(
      { pools: configs.map(({ ipPoolRef }) => ipPoolRef) },
      configs.length === 0 ? 'nothing to serve yet' : 'following pools',
    );
    this.#pools.start();
    this.#ports.start();
    this.#leaseWatch?.start();
    if (election === undefined) this.#lead(Number.MAX_SAFE_INTEGER);
    else this.#elector?.start();
    this.#timers.push(
      setInterval(() => this.#keepHouse(), HOUSEKEEPING_INTERVAL_MS),
      setInterval(() => {
        this.#server.expireLeases();
        this.#pools.expireConflicts();
        this.#conflictProbes.forgetOld();
        this.#standbyGate.forgetOld();
      }, EXPIRY_SCAN_INTERVAL_MS),
    );
  }

  /** Stops answering, takes the server addresses away, and only then lets another one lead. */
  async stop(): Promise<void> {
    this.#stopping = true;
    for (const timer of this.#timers) clearInterval(timer);
    this.#leaseWatch?.stop();
    // Renewing ends first, so that no renewal begins another term; then answering, then the addresses, then the Lease.
    if (this.#elector === undefined) this.#endTerm();
    else await this.#elector.stop(async () => this.#endTerm());
    this.#ports.stop();
    this.#pools.stop();
    this.#http?.close();
    this.#http?.closeAllConnections();
    this.#connection.close();
    this.#leaseConnection.close();
    this.#logger.info('stopped');
  }

  /** Of each pool: whether it is served from here. */
  report(): AgentReport {
    const isLeading = this.#isLeading();
    return new Map(
      this.#settings.configs.map((config) => {
        const { ipPoolRef: key, interfaceName } = config;
        const state = {
          interfaceName,
          followed: this.#pools.get(key),
          version: this.#pools.versionOf(key),
          port: this.#ports.stateOf(interfaceName),
          isWithheld: this.#withheld.has(key),
          term: isLeading ? this.#term : undefined,
          conflicts: this.#pools.conflictsOf(key),
          foreignServers: this.#foreignServers.on(interfaceName),
        };
        return [key, reportOn(state)];
      }),
    );
  }

  *leases(): Generator<LeaseView> {
    for (const lease of this.#server.leases()) yield toLeaseView(lease, undefined);
  }

  #isLeading(): boolean {
    if (this.#stopping || this.#term === undefined) return false;
    return this.#elector?.isLeading() ?? true;
  }

  #followPools(): FollowedPools {
    return new FollowedPools(this.#settings.configs, {
      server: this.#server,
      logger: this.#logger,
      clock: systemClock,
      nowMs: Date.now,
      clientOf: (key) => this.#poolClient(key),
      onChange: () => {
        this.#ports.check();
        this.#term?.check();
        this.#publishReport();
      },
      onFresh: (key, leases) => {
        const config = this.#configOf.get(key);
        if (config !== undefined) this.#conflictProbes.noteFresh(config.interfaceName, leases);
      },
    });
  }

  #createPorts(): PoolPorts {
    return new PoolPorts({
      configs: this.#settings.configs,
      pools: this.#pools,
      logger: this.#logger,
      handlerOf: (config) => this.#handler(config),
      observeBurst: this.#metrics.observeBurst,
      onSendFailure: (name, failure) => this.#onSendFailure(name, failure),
      onStateChange: () => this.#publishReport(),
    });
  }

  /** The leader answers; who stands by answers those whom nobody answers; a pool that is withheld is silent in both. */
  #handler({ interfaceName, ipPoolRef }: AgentNetworkConfig): DhcpPacketHandler {
    const server = this.#server;
    const pools = () => (this.#isSilent(ipPoolRef, interfaceName) ? [] : server.poolsNamed([ipPoolRef]));
    const asLeader = server.handler(interfaceName, pools, {
      whyWithheld: (answer, packet) =>
        this.#conflictProbes.defers(interfaceName, answer, packet) ? 'asking-the-network' : undefined,
    });
    const asStandby = server.handler(interfaceName, pools, {
      whyWithheld: (answer, packet) => {
        if (answer.kind !== 'reply' || !this.#standbyGate.mayAnswer(answer, packet)) return 'standing-by';
        this.#onStandbyAnswer(ipPoolRef, answer.client.macAddress);
        return undefined;
      },
      // Only the leader has the address that ordinary datagrams would come from.
      redirect: (answer) =>
        answer.destination.kind === 'unicast' ? { ...answer, destination: { ...answer.destination, kind: 'link' } } : answer,
    });
    return (packet, into) =>
      this.#isLeading() && this.#term?.hasAddress(interfaceName) ? asLeader(packet, into) : asStandby(packet, into);
  }

  #isSilent(poolKey: string, interfaceName: string): boolean {
    if (this.#withheld.has(poolKey) || this.#stopping) return true;
    const followed = this.#pools.get(poolKey);
    const stops = followed.kind === 'active' && followed.stopsForForeignServer;
    return stops && (this.#foreignServers.on(interfaceName) ?? []).length > 0;
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

  #onConflict(poolKey: string, conflict: Parameters<FollowedPools['noteConflict']>[1]): void {
    this.#pools.noteConflict(poolKey, conflict);
    this.#publishReport();
  }

  #poolClient(key: string): ApiObjectClient<KubernetesObject> {
    const [namespace = '', name = ''] = key.split('/', 2);
    return new ApiObjectClient(this.#connection, { ...Resource.ipPools, namespace, fieldSelector: `metadata.name=${name}` });
  }

  #unready(): string[] {
    const unsynced = this.#pools.unsynced();
    return unsynced.length > 0 ? [`not listed yet: ${unsynced.join(', ')}`] : this.#troubles();
  }

  /** What keeps pools from being served from here, whoever leads. */
  #troubles(): string[] {
    const problems = this.#term?.problems() ?? [];
    const ports = this.#settings.configs.flatMap(({ ipPoolRef, interfaceName }) => {
      const { kind } = this.#ports.stateOf(interfaceName);
      return this.#pools.get(ipPoolRef).kind === 'active' && kind !== 'serving'
        ? [`${ipPoolRef}: interface ${interfaceName} is ${kind}`]
        : [];
    });
    return [...problems, ...ports];
  }

  #keepHouse(): void {
    this.#events.reportSuppressed();
    trimMemory();
    if (!this.#isLeading()) {
      this.#brokenSinceMs = undefined;
      return;
    }
    const wanted = this.#settings.configs.filter(({ interfaceName }) => this.#term?.hasAddress(interfaceName));
    void this.#foreignServers.look(wanted.map(({ interfaceName }) => interfaceName));
    this.#resignIfBroken();
  }

  /** Another replica may be able to do what this one cannot. Where none can, they do not take turns for ever. */
  #resignIfBroken(): void {
    const nowMs = performance.now();
    if (this.#elector === undefined || this.#troubles().length === 0) {
      this.#brokenSinceMs = undefined;
      this.#resignAfterMs = BROKEN_MS;
      return;
    }
    this.#brokenSinceMs ??= nowMs;
    if (nowMs - this.#brokenSinceMs < this.#resignAfterMs) return;
    this.#resignAfterMs = Math.min(this.#resignAfterMs * 4, MOST_BROKEN_MS);
    this.#brokenSinceMs = undefined;
    this.#logger.warn(
      { troubles: this.#troubles() },
      'the lead is left to another replica, which may be able to serve all pools',
    );
    this.#resignedUntilMs = nowMs + RESIGNED_MS;
    void this.#elector.resign(async () => this.#endTerm());
  }

  #createElector(times: ElectionTimes): LeaseElector {
    const { identity, namespace, leaseName } = this.#settings;
    return new LeaseElector({
      ...times,
      identity,
      store: new ApiLeaseStore(this.#leaseConnection, {
        namespace,
        name: leaseName,
        wallTimeMs: Date.now,
        labels: { [AGENT_LABEL]: AGENT_LABEL_VALUE, [AGENT_GROUP_LABEL]: leaseName },
        annotations: (isNew) => this.#formatReport(isNew),
        onAnnotations: (annotations, version) => this.#onAnnotations(annotations, version),
      }),
      clock: systemClock,
      random: Math.random,
      handicapMs: () => (this.#hasTrouble() ? HANDICAP_MS : 0),
      onLeading: () => this.#logger.info('leading'),
      onRenewed: (remainingMs) => this.#lead(safeAddressMs(times, remainingMs)),
      onLost: () => {
        if (!this.#stopping) this.#logger.warn('the lead was lost');
        this.#endTerm();
      },
      onError: (error) => {
        if (this.#leaseWarnings.take(Date.now()))
          this.#logger.warn({ err: String(error) }, 'the Lease cannot be read or written');
      },
    });
  }

  /** What kept it from leading well is often only seen while it leads: it is not over because it does not. */
  #hasTrouble(): boolean {
    return performance.now() < this.#resignedUntilMs || this.#pools.unsynced().length > 0 || this.#troubles().length > 0;
  }

  /** A Lease that somebody deleted is made with what it withheld: that is not over because nobody can read it. */
  #formatReport(isNew: boolean): Readonly<Record<string, string>> {
    const report = this.report();
    this.#published = describeAgentReport(report);
    return {
      ...(isNew && this.#withheldText !== '' && { [WITHHELD_POOLS_ANNOTATION]: this.#withheldText }),
      [WITHHELD_POOLS_SEEN_ANNOTATION]: this.#withheldText,
      [AGENT_REPORT_ANNOTATION]: formatAgentReport(report),
    };
  }

  /** What the Lease says besides who leads: which pools are withheld, and what another leader found out. */
  #onAnnotations(annotations: Readonly<Record<string, string>>, version: string): void {
    this.#heardAtMs = performance.now();
    // A watch may lag behind what was read: what was withheld since would be forgotten.
    if (isOlderVersion(version, this.#leaseVersion)) return;
    this.#leaseVersion = version;
    const text = annotations[WITHHELD_POOLS_ANNOTATION] ?? '';
    const isSame = text === this.#withheldText;
    this.#withheldText = text;
    const withheld = parseWithheldPools(text);
    this.#withheld = withheld;
    if (!isSame) {
      this.#logger.info({ pools: [...withheld] }, 'pools that are not to be served from here now');
      this.#term?.check();
    }
    if (!this.#isLeading()) this.#adopt(parseAgentReport(annotations[AGENT_REPORT_ANNOTATION]));
  }

  #adopt(report: AgentReport): void {
    for (const [poolKey, { conflicts = [], foreignServers }] of report) {
      const config = this.#configOf.get(poolKey);
      if (config === undefined) continue;
      for (const conflict of conflicts) {
        const isOurs = this.#server.leaseOf(poolKey, conflict.macAddress)?.address === conflict.address;
        if (isOurs) this.#pools.noteConflict(poolKey, conflict);
      }
      if (foreignServers !== undefined) this.#foreignServers.adopt(config.interfaceName, foreignServers);
    }
  }

  /** A Lease that was released is taken at once, and one that says something new is read at once. */
  #watchLease(): ObjectCache<KubernetesObject> {
    const { namespace, leaseName } = this.#settings;
    const key = `${namespace}/${leaseName}`;
    const cache: ObjectCache<KubernetesObject> = new ObjectCache({
      port: new ApiObjectClient<KubernetesObject>(this.#connection, {
        ...Resource.leases,
        namespace,
        fieldSelector: `metadata.name=${leaseName}`,
      }),
      clock: systemClock,
      backOff: { firstMs: 500, mostMs: 10_000, random: Math.random },
      onChange: () => {
        if (!this.#stopping) this.#onLeaseSeen(cache.get(key));
      },
    });
    return cache;
  }

  #onLeaseSeen(lease: KubernetesObject | undefined): void {
    if (lease === undefined || this.#elector === undefined) return;
    const { annotations = {}, resourceVersion = '' } = lease.metadata;
    if (!this.#elector.isLeading()) this.#onAnnotations(annotations, resourceVersion);
    // Somebody else wrote into the Lease that we lead by: read it, and say what comes of it.
    else if (
      !isOlderVersion(resourceVersion, this.#leaseVersion) &&
      (annotations[WITHHELD_POOLS_ANNOTATION] ?? '') !== this.#withheldText
    )
      this.#elector.tryNow();
    this.#elector.observe(toStoredLease(lease as LeaseObject));
  }

  #lead(safeMs: number): void {
    if (this.#term !== undefined) {
      this.#term.renew(safeMs);
      return;
    }
    const term = new LeaderTerm({
      configs: this.#settings.configs,
      isLeading: () => this.#elector?.isLeading() ?? true,
      isWithheld: (key) => this.#withheld.has(key),
      pools: this.#pools,
      logger: this.#logger,
      onAddressGiven: (interfaceName) => this.#answerRecent(interfaceName),
      onStateChange: () => this.#publishReport(),
    });
    this.#term = term;
    term.begin(safeMs);
  }

  /** Who asked while nobody led need not ask again. */
  #answerRecent(interfaceName: string): void {
    const config = this.#settings.configs.find((one) => one.interfaceName === interfaceName);
    for (const packet of config === undefined ? [] : this.#standbyGate.takeRecent(config.ipPoolRef)) {
      this.#ports.inject(interfaceName, packet);
    }
  }

  /** False: addresses could not be taken away, and go when their time is over. */
  #endTerm(): boolean {
    const term = this.#term;
    this.#term = undefined;
    return term?.end() ?? true;
  }

  /** The report stands in the Lease: what has changed is told with the next renewal, which is now. */
  #publishReport(): void {
    if (this.#isLeading() && describeAgentReport(this.report()) !== this.#published) this.#elector?.tryNow();
  }

  #onSendFailure(interfaceName: string, { error, count }: { readonly error: string; readonly count: number }): void {
    this.#server.counters.drop('send-failed', count);
    if (this.#sendFailures.take(Date.now()))
      this.#logger.warn({ interface: interfaceName, error, count }, 'replies could not be sent');
  }
}
