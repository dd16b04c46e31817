/**
 * The lead of an agent among its replicas: the election by the group's Lease, what stands in that besides who leads, and the server
 * addresses that go with the lead.
 */

import { type FollowedPools, LeaderTerm, RateBudget, safeAddressMs } from '@vmdhcp/dhcp-agent';
import {
  AGENT_GROUP_LABEL,
  AGENT_LABEL,
  AGENT_LABEL_VALUE,
  AGENT_LOG_ANNOTATION,
  AGENT_REPORT_ANNOTATION,
  type AgentLogSettings,
  type AgentNetworkConfig,
  type AgentReport,
  describeAgentReport,
  formatAgentReport,
  parseAgentLogSettings,
  parseAgentReport,
  parseSuspendedPools,
  SUSPENDED_POOLS_ANNOTATION,
  SUSPENDED_POOLS_SEEN_ANNOTATION,
} from '@vmdhcp/ippool-api';
import {
  type ElectionTimes,
  isOlderVersion,
  type KubernetesObject,
  LeaseElector,
  ObjectCache,
  readText,
} from '@vmdhcp/kube-runtime';
import {
  ApiConnection,
  ApiLeaseStore,
  ApiObjectClient,
  type ClusterConnection,
  errorForLog,
  type LeaseObject,
  systemClock,
  toStoredLease,
} from '@vmdhcp/kube-runtime/node';
import { Resource } from '@vmdhcp/reconciler';

import type { Logger } from '@vmdhcp/service-process';
import { linuxAddressKernel } from './linux-address-kernel.js';

/** A leader that cannot serve its pools lets others try after this time, and again only after the longer one. */
const BROKEN_MS = 3_000;
const MOST_BROKEN_MS = 300_000;
/** How long others go first while something is broken here. */
const HANDICAP_MS = 1_500;
/** And after it has left the lead to them. */
const RESIGNED_MS = 10_000;

export interface AgentLeadSettings {
  readonly cluster: ClusterConnection;
  readonly userAgent: string;
  /** Where the Lease is. */
  readonly namespace: string;
  readonly leaseName: string;
  /** Of this replica, and of no other nor of an earlier run of it. */
  readonly identity: string;
  readonly times: ElectionTimes;
  /** True: there is no other replica that could do better, so the lead is never left to one. */
  readonly isAlone: boolean;
  /** True: interfaces get no server address. */
  readonly isDryRun: boolean;
  readonly configs: readonly AgentNetworkConfig[];
  readonly pools: FollowedPools;
  readonly logger: Logger;
  /** What this agent says of its pools now. */
  readonly report: () => AgentReport;
  /** What keeps pools from being served from here, whoever leads. */
  readonly troubles: () => readonly string[];
  /** What another leader says. */
  readonly onOthersReport: (report: AgentReport) => void;
  /** What this group's agents log, by the controller. Called whenever the Lease was read. */
  readonly onLogSettings: (settings: AgentLogSettings) => void;
  /** True for an interface that is isolated from the other networks of the pod. */
  readonly isIsolated: (interfaceName: string) => boolean;
  /** The interface has its server address now. */
  readonly onAddressGiven: (interfaceName: string) => void;
}

export class AgentLead {
  readonly #settings: AgentLeadSettings;
  readonly #connection: ApiConnection;
  readonly #elector: LeaseElector;
  readonly #leaseWatch: ObjectCache<KubernetesObject>;
  readonly #warnings = new RateBudget({ perSecond: 0.05, burst: 1 });
  #term: LeaderTerm | undefined;
  #stopping = false;
  /** The report as the Lease has it. */
  #published = '';
  #suspended: ReadonlySet<string> = new Set();
  /** As the Lease has it. */
  #suspendedPoolsText = '';
  /** Of the newest Lease that was read, written or seen. */
  #leaseVersion = '';
  #heardAtMs = Number.NEGATIVE_INFINITY;
  /** By whose name the Lease was held when it was seen last. */
  #otherHolder = '';
  #brokenSinceMs: number | undefined;
  #resignAfterMs = BROKEN_MS;
  #resignedUntilMs = Number.NEGATIVE_INFINITY;

  /** @param connection - for watching; the election has one of its own. */
  constructor(settings: AgentLeadSettings, connection: ApiConnection) {
    this.#settings = settings;
    const { cluster, userAgent, times } = settings;
    // A Lease that cannot be renewed in time is lost: its requests must fail sooner than that, and wait for nothing else.
    this.#connection = new ApiConnection(cluster, { userAgent, timeoutMs: times.renewDeadlineMs * 0.6 });
    this.#elector = this.#createElector(times);
    this.#leaseWatch = this.#watchLease(connection);
  }

  start(): void {
    this.#leaseWatch.start();
    this.#elector.start();
  }

  /** Renewing ends first, so that no renewal begins another term; then answering, then the addresses, then the Lease. */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.#leaseWatch.stop();
    await this.#elector.stop(async () => this.#endTerm());
    this.#connection.close();
  }

  isLeading(): boolean {
    if (this.#stopping || this.#term === undefined) return false;
    return this.#elector.isLeading();
  }

  /** What goes with the lead; undefined while another one has it. */
  get term(): LeaderTerm | undefined {
    return this.isLeading() ? this.#term : undefined;
  }

  /** True for a pool that must not be served from here now, whoever leads. */
  isSuspended(poolKey: string): boolean {
    return this.#suspended.has(poolKey);
  }

  /** How long ago, in milliseconds, the API server last said anything about the Lease. */
  heardAgoMs(): number {
    return performance.now() - this.#heardAtMs;
  }

  /** Brings addresses in line with the pools as they are now. */
  check(): void {
    this.#term?.check();
  }

  /** The report stands in the Lease: what has changed is told with the next renewal, which is now. */
  publish(): void {
    if (this.isLeading() && describeAgentReport(this.#settings.report()) !== this.#published) this.#elector.tryNow();
  }

  /** Another replica may be able to do what this one cannot. Where none can, they do not take turns for ever. To be called every second. */
  resignIfBroken(): void {
    const { troubles, logger } = this.#settings;
    const nowMs = performance.now();
    if (this.#settings.isAlone || !this.isLeading() || troubles().length === 0) {
      this.#brokenSinceMs = undefined;
      if (this.isLeading()) this.#resignAfterMs = BROKEN_MS;
      return;
    }
    this.#brokenSinceMs ??= nowMs;
    if (nowMs - this.#brokenSinceMs < this.#resignAfterMs) return;
    this.#resignAfterMs = Math.min(this.#resignAfterMs * 4, MOST_BROKEN_MS);
    this.#brokenSinceMs = undefined;
    this.#resignedUntilMs = nowMs + RESIGNED_MS;
    logger.warn({ troubles: troubles() }, 'stepping down: this replica cannot serve all pools, another one may');
    void this.#elector.resign(async () => this.#endTerm());
  }

  #createElector(times: ElectionTimes): LeaseElector {
    const { identity, namespace, leaseName, logger } = this.#settings;
    return new LeaseElector({
      ...times,
      identity,
      store: new ApiLeaseStore(this.#connection, {
        namespace,
        name: leaseName,
        wallTimeMs: Date.now,
        labels: { [AGENT_LABEL]: AGENT_LABEL_VALUE, [AGENT_GROUP_LABEL]: leaseName },
        annotations: (isNew) => this.#annotations(isNew),
        onAnnotations: (annotations, version) => this.#onAnnotations(annotations, version),
      }),
      clock: systemClock,
      random: Math.random,
      handicapMs: () => (!this.#settings.isAlone && this.#hasTrouble() ? HANDICAP_MS : 0),
      onLeading: () => logger.info('leading'),
      onRenewed: (remainingMs) => this.#lead(safeAddressMs(times, remainingMs)),
      onLost: () => {
        if (!this.#stopping) logger.warn('leadership lost');
        this.#endTerm();
      },
      onError: (error) => {
        if (this.#warnings.take(Date.now()))
          logger.warn({ err: errorForLog(error) }, 'the Lease cannot be read or written; it is tried again');
      },
    });
  }

  /** What kept it from leading well is often only seen while it leads: it is not over because it does not. */
  #hasTrouble(): boolean {
    const { pools, troubles } = this.#settings;
    return performance.now() < this.#resignedUntilMs || pools.unsynced().length > 0 || troubles().length > 0;
  }

  /** A Lease that somebody deleted is made with what it suspended: that is not over because nobody can read it. */
  #annotations(isNew: boolean): Readonly<Record<string, string>> {
    const report = this.#settings.report();
    this.#published = describeAgentReport(report);
    return {
      ...(isNew && this.#suspendedPoolsText !== '' && { [SUSPENDED_POOLS_ANNOTATION]: this.#suspendedPoolsText }),
      [SUSPENDED_POOLS_SEEN_ANNOTATION]: this.#suspendedPoolsText,
      [AGENT_REPORT_ANNOTATION]: formatAgentReport(report),
    };
  }

  /** What the Lease says besides who leads: which pools are suspended, and what another leader found out. */
  #onAnnotations(annotations: Readonly<Record<string, string>>, version: string): void {
    this.#heardAtMs = performance.now();
    // A watch may lag behind what was read: what was suspended since would be forgotten.
    if (isOlderVersion(version, this.#leaseVersion)) return;
    this.#leaseVersion = version;
    this.#suspend(annotations[SUSPENDED_POOLS_ANNOTATION] ?? '');
    this.#settings.onLogSettings(parseAgentLogSettings(annotations[AGENT_LOG_ANNOTATION]));
    if (!this.isLeading()) this.#settings.onOthersReport(parseAgentReport(annotations[AGENT_REPORT_ANNOTATION]));
  }

  #suspend(text: string): void {
    if (text === this.#suspendedPoolsText) return;
    this.#suspendedPoolsText = text;
    this.#suspended = parseSuspendedPools(text);
    const message =
      this.#suspended.size === 0
        ? 'no pool is suspended for this agent'
        : 'another group serves these pools: this agent does not';
    this.#settings.logger.info({ pools: [...this.#suspended] }, message);
    this.check();
  }

  /** A Lease that was released is taken at once, and one that says something new is read at once. */
  #watchLease(connection: ApiConnection): ObjectCache<KubernetesObject> {
    const { namespace, leaseName } = this.#settings;
    const key = `${namespace}/${leaseName}`;
    const cache: ObjectCache<KubernetesObject> = new ObjectCache({
      port: new ApiObjectClient<KubernetesObject>(connection, {
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
    if (lease === undefined) return;
    this.#noteHolder(readText(lease.spec, 'holderIdentity') ?? '');
    const { annotations = {}, resourceVersion = '' } = lease.metadata;
    if (!this.#elector.isLeading()) this.#onAnnotations(annotations, resourceVersion);
    else if (this.#isOthersWord(annotations, resourceVersion)) this.#elector.tryNow();
    this.#elector.observe(toStoredLease(lease as LeaseObject));
  }

  /** Two that lead would be two servers with one address: who is to be alone and is not waits, and says so. */
  #noteHolder(holder: string): void {
    const { isAlone, identity, logger, leaseName } = this.#settings;
    if (holder === this.#otherHolder) return;
    this.#otherHolder = holder;
    if (!isAlone || holder === '' || holder === identity) return;
    logger.warn(
      { holder, lease: leaseName },
      'another agent holds the Lease, so this one does not lead: with --no-leader-election there must be no other replica. It leads when that one has ended or has not renewed the Lease for as long as it lasts',
    );
  }

  /** True if somebody else wrote into the Lease that this agent leads by: it has to be read, and what comes of it said. */
  #isOthersWord(annotations: Readonly<Record<string, string>>, version: string): boolean {
    const isNew = !isOlderVersion(version, this.#leaseVersion);
    return isNew && (annotations[SUSPENDED_POOLS_ANNOTATION] ?? '') !== this.#suspendedPoolsText;
  }

  #lead(safeMs: number): void {
    if (this.#term !== undefined) {
      this.#term.renew(safeMs);
      return;
    }
    const { configs, pools, logger, isIsolated, onAddressGiven } = this.#settings;
    const term = new LeaderTerm({
      configs,
      isLeading: () => this.#elector.isLeading(),
      isSuspended: (key) => this.#settings.isDryRun || this.isSuspended(key),
      kernel: linuxAddressKernel,
      clock: systemClock,
      isIsolated,
      pools,
      logger,
      onAddressGiven,
      onStateChange: () => this.publish(),
    });
    this.#term = term;
    term.begin(safeMs);
  }

  /** False: addresses could not be taken away, and go when their time is over. */
  #endTerm(): boolean {
    const term = this.#term;
    this.#term = undefined;
    return term?.end() ?? true;
  }
}
