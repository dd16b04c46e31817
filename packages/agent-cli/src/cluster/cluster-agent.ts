/**
 * An agent in a cluster: pools from the API server, one leader among its replicas. Every replica knows everything; the one
 * that leads has the server addresses and answers, and its Lease says for each pool whether it is served.
 */
import type { Server } from 'node:http';
import type { PoolCounts } from '@vmdhcp/dhcp-allocator';
import {
  AGENT_REPORT_ANNOTATION,
  type AgentNetworkConfig,
  type AgentReport,
  formatAgentReport,
  type KubernetesObject,
  LeaseElector,
  ObjectCache,
  type PoolReport,
  readText,
  UNIFIED_AGENTS_LEASE,
} from '@vmdhcp/reconciler';
import {
  ApiConnection,
  ApiLeaseStore,
  ApiObjectClient,
  type ClusterConnection,
  Resource,
  systemClock,
} from '@vmdhcp/reconciler/client-node';
import { type ListenAddress, type Logger, startStatusServer } from '@vmdhcp/service-process';
import { leasesPage } from '../http/leases-page.js';
import { createMetrics } from '../http/metrics.js';
import { separateLargeMemory, trimMemory } from '../net/libc.js';
import { RateBudget } from '../rate-budget.js';
import { DhcpServer } from '../serve/dhcp-server.js';
import { LeaseEventLog } from '../serve/lease-event-log.js';
import { type LeaseView, toLeaseView } from '../serve/lease-view.js';
import type { InterfaceState } from '../serve/served-interface.js';
import { FollowedPools } from './followed-pools.js';
import { LeaderTerm } from './leader-term.js';

const HOUSEKEEPING_INTERVAL_MS = 1_000;
const EXPIRY_SCAN_INTERVAL_MS = 5_000;
const USER_AGENT = 'vmdhcp-agent';

export interface ElectionTimes {
  readonly leaseDurationMs: number;
  readonly renewDeadlineMs: number;
  readonly retryPeriodMs: number;
}

export interface ClusterAgentSettings {
  readonly configs: readonly AgentNetworkConfig[];
  readonly cluster: ClusterConnection;
  /** Where the Lease is. */
  readonly namespace: string;
  /** Of this replica, and of no other nor of an earlier run of it. */
  readonly identity: string;
  /** Undefined: there is no other replica. */
  readonly election: ElectionTimes | undefined;
  readonly configureInterfaces: boolean;
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
  readonly #elector: LeaseElector | undefined;
  readonly #leaseWatch: ObjectCache<KubernetesObject> | undefined;
  readonly #metrics: ReturnType<typeof createMetrics>;
  readonly #sendFailures = new RateBudget({ perSecond: 0.2, burst: 3 });
  readonly #timers: NodeJS.Timeout[] = [];
  #term: LeaderTerm | undefined;
  /** The end of the last term: the next one begins after it. False: addresses could not be taken away. */
  #ending: Promise<boolean> = Promise.resolve(true);
  #http: Server | undefined;
  #stopping = false;
  /** The report as the Lease has it. */
  #published = '';
  readonly #leaseWarnings = new RateBudget({ perSecond: 0.05, burst: 1 });

  constructor(settings: ClusterAgentSettings, logger: Logger) {
    separateLargeMemory();
    this.#settings = settings;
    this.#logger = logger;
    this.#events = new LeaseEventLog(logger, Date.now);
    this.#server = new DhcpServer({
      logger,
      events: this.#events,
      nowMs: Date.now,
      onBindingChanged: () => undefined,
      onDeclined: (lease) => this.#pools.decline(lease),
    });
    this.#connection = new ApiConnection(settings.cluster, { userAgent: USER_AGENT });
    // A Lease that cannot be renewed in time is lost: its requests must fail sooner than that, and wait for nothing else.
    const timeoutMs = settings.election === undefined ? 10_000 : settings.election.renewDeadlineMs * 0.6;
    this.#leaseConnection = new ApiConnection(settings.cluster, { userAgent: USER_AGENT, timeoutMs });
    this.#pools = new FollowedPools(settings.configs, {
      server: this.#server,
      logger,
      clientOf: (key) => this.#poolClient(key),
      onChange: () => {
        void this.#term?.check();
        this.#publishReport();
      },
    });
    this.#metrics = createMetrics({
      counters: this.#server.counters,
      leaseEvents: () => this.#events.counts(),
      poolCounts: () => this.#poolCounts(),
      served: () => new Map([...this.report()].map(([pool, { serving }]) => [pool, serving])),
      refusedClaims: () => new Map(),
    });
    this.#elector = settings.election === undefined ? undefined : this.#createElector(settings.election);
    this.#leaseWatch = settings.election === undefined ? undefined : this.#watchLease();
  }

  /** @throws CommandError where it cannot start at all. */
  async start(): Promise<void> {
    const { http, configs } = this.#settings;
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
    this.#leaseWatch?.start();
    if (this.#elector === undefined) this.#lead(Number.MAX_SAFE_INTEGER);
    else this.#elector.start();
    this.#timers.push(
      setInterval(() => {
        this.#events.reportSuppressed();
        trimMemory();
      }, HOUSEKEEPING_INTERVAL_MS),
      setInterval(() => this.#server.expireLeases(), EXPIRY_SCAN_INTERVAL_MS),
    );
  }

  /** Stops answering, takes the server addresses away, and only then lets another one lead. */
  async stop(): Promise<void> {
    this.#stopping = true;
    for (const timer of this.#timers) clearInterval(timer);
    this.#leaseWatch?.stop();
    // Renewing ends first, so that no renewal begins another term; then answering, then the addresses, then the Lease.
    await (this.#elector === undefined ? this.#endTerm() : this.#elector.stop(() => this.#endTerm()));
    this.#pools.stop();
    this.#http?.close();
    this.#http?.closeAllConnections();
    this.#connection.close();
    this.#leaseConnection.close();
    this.#logger.info('stopped');
  }

  /** Of each pool: whether it is served from here. */
  report(): AgentReport {
    return new Map(this.#settings.configs.map((config) => [config.ipPoolRef, this.#reportOn(config)]));
  }

  *leases(): Generator<LeaseView> {
    for (const lease of this.#server.leases()) yield toLeaseView(lease, undefined);
  }

  #poolClient(key: string): ApiObjectClient<KubernetesObject> {
    const [namespace = '', name = ''] = key.split('/', 2);
    return new ApiObjectClient(this.#connection, { ...Resource.ipPools, namespace, fieldSelector: `metadata.name=${name}` });
  }

  #reportOn({ ipPoolRef, interfaceName }: AgentNetworkConfig): PoolReport {
    const pool = this.#pools.get(ipPoolRef);
    if (pool.kind === 'paused') return { serving: false, reason: 'Paused', message: 'the pool is paused' };
    if (pool.kind === 'unserved') return { serving: false, reason: pool.reason, message: pool.message };
    if (this.#term === undefined) return { serving: false, reason: 'NotLeading', message: 'this replica does not lead' };
    const problem = this.#term.addressProblem(interfaceName);
    if (problem !== undefined) return { serving: false, reason: 'AddressFailed', message: problem };
    return toReport(interfaceName, this.#term.stateOf(interfaceName));
  }

  #unready(): string[] {
    const unsynced = this.#pools.unsynced();
    if (unsynced.length > 0) return [`not listed yet: ${unsynced.join(', ')}`];
    if (this.#term === undefined) return [];
    return [...this.report()].flatMap(([pool, { serving, reason, message }]) =>
      serving || reason === 'Paused' || reason === 'PoolMissing' ? [] : [`${pool}: ${message}`],
    );
  }

  #createElector(times: ElectionTimes): LeaseElector {
    const { identity, namespace } = this.#settings;
    return new LeaseElector({
      ...times,
      identity,
      store: new ApiLeaseStore(this.#leaseConnection, {
        namespace,
        name: UNIFIED_AGENTS_LEASE,
        wallTimeMs: Date.now,
        annotations: () => {
          this.#published = formatAgentReport(this.report());
          return { [AGENT_REPORT_ANNOTATION]: this.#published };
        },
      }),
      clock: systemClock,
      random: Math.random,
      onLeading: () => this.#logger.info('leading'),
      onRenewed: (remainingMs) => this.#lead(remainingMs),
      onLost: () => {
        if (!this.#stopping) this.#logger.warn('the lead was lost');
        void this.#endTerm();
      },
      onError: (error) => {
        if (this.#leaseWarnings.take(Date.now()))
          this.#logger.warn({ err: String(error) }, 'the Lease cannot be read or written');
      },
    });
  }

  /** A Lease that was released is taken at once, not at the next turn. */
  #watchLease(): ObjectCache<KubernetesObject> {
    const { namespace } = this.#settings;
    const key = `${namespace}/${UNIFIED_AGENTS_LEASE}`;
    const cache: ObjectCache<KubernetesObject> = new ObjectCache({
      port: new ApiObjectClient<KubernetesObject>(this.#connection, {
        ...Resource.leases,
        namespace,
        fieldSelector: `metadata.name=${UNIFIED_AGENTS_LEASE}`,
      }),
      clock: systemClock,
      backOff: { firstMs: 500, mostMs: 10_000, random: Math.random },
      onChange: () => {
        if (!readText(cache.get(key)?.spec, 'holderIdentity') && !this.#stopping) this.#elector?.tryNow();
      },
    });
    return cache;
  }

  #lead(remainingMs: number): void {
    if (this.#term !== undefined) {
      this.#term.renew(remainingMs);
      return;
    }
    const { configs, configureInterfaces } = this.#settings;
    const term = new LeaderTerm({
      configs,
      configureInterfaces,
      isLeading: () => this.#elector?.isLeading() ?? true,
      pools: this.#pools,
      server: this.#server,
      logger: this.#logger,
      observeBurst: this.#metrics.observeBurst,
      onSendFailure: (name, failure) => this.#onSendFailure(name, failure),
      onStateChange: () => this.#publishReport(),
    });
    this.#term = term;
    void this.#ending.then(() => {
      if (this.#term === term) term.begin(remainingMs);
    });
  }

  #endTerm(): Promise<boolean> {
    const term = this.#term;
    this.#term = undefined;
    if (term !== undefined) this.#ending = this.#ending.then(() => term.end());
    return this.#ending;
  }

  /** The report stands in the Lease: what has changed is told with the next renewal, which is now. */
  #publishReport(): void {
    if (this.#term !== undefined && formatAgentReport(this.report()) !== this.#published) this.#elector?.tryNow();
  }

  #onSendFailure(interfaceName: string, { error, count }: { readonly error: string; readonly count: number }): void {
    this.#server.counters.drop('send-failed', count);
    if (this.#sendFailures.take(Date.now()))
      this.#logger.warn({ interface: interfaceName, error, count }, 'replies could not be sent');
  }

  #poolCounts(): ReadonlyMap<string, PoolCounts> {
    return new Map();
  }
}

function toReport(interfaceName: string, state: InterfaceState): PoolReport {
  switch (state.kind) {
    case 'serving':
      return { serving: true };
    case 'opening':
      return { serving: false, reason: 'Opening', message: `interface ${interfaceName} is being opened` };
    case 'missing':
      return {
        serving: false,
        reason: 'InterfaceMissing',
        message: `the pod has no interface ${interfaceName}; look at its Multus networks`,
      };
    case 'failed':
      return { serving: false, reason: 'SocketFailed', message: state.message };
  }
}
