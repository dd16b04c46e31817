/**
 * An agent on a bare host: pools from a file, addresses in a state directory, packets on real interfaces. The parts
 * know nothing of each other; this is where they are put together, and where every timer is.
 */
import type { Server } from 'node:http';
import {
  AddressInquiry,
  ConflictedLeases,
  ConflictProbes,
  DECOYS,
  DhcpServer,
  LeaseEventLog,
  RateBudget,
  ServedInterface,
  type UnservedPool,
  unservedPools,
} from '@vmdhcp/dhcp-agent';
import { formatIpv4Address, type PoolCounts } from '@vmdhcp/dhcp-allocator';
import { libc, listAddresses, mayUseArp, separateLargeMemory, trimMemory } from '@vmdhcp/linux-sockets';
import type { AddressConflict, RefusedClaim } from '@vmdhcp/reconciler';
import { type ListenAddress, type Logger, startStatusServer } from '@vmdhcp/service-process';
import { linuxHostAddresses } from '../bare-host/host-addresses.js';
import { ServerAddresses } from '../bare-host/server-addresses.js';
import { linuxDhcpSockets } from '../cluster/linux-dhcp-sockets.js';
import { arpProbe } from '../cluster/linux-probes.js';
import { leasesPage } from '../http/leases-page.js';
import { createMetrics } from '../http/metrics.js';
import { PacketLog } from '../log/packet-log.js';
import { describeFinding } from '../pools-file/finding.js';
import { loadPoolsFile } from '../pools-file/load-pools-file.js';
import { NtpNames } from '../pools-file/ntp-names.js';
import type { PoolsFile } from '../pools-file/parse-pools-file.js';
import { watchFile } from '../pools-file/watch-file.js';
import { AddressBook, type PlannedPool, QUARANTINE_MS } from '../state/address-book.js';
import { ownersOf } from '../state/owners-of.js';
import { StateDirectory } from '../state/state-directory.js';
import { type LeaseView, toLeaseView } from './lease-view.js';

const INTERFACE_CHECK_INTERVAL_MS = 250;
const HOUSEKEEPING_INTERVAL_MS = 1_000;
const EXPIRY_SCAN_INTERVAL_MS = 5_000;
const EXPIRY_SAVE_INTERVAL_MS = 30_000;
const SAVE_RETRY_INTERVAL_MS = 2_000;
/** How long the client of a reserved address that another machine uses gets no reply, before the address is probed again. */
const RECHECK_MS = 60_000;

export interface BareHostSettings {
  readonly poolsPath: string;
  /** `fileState` of it from before it was read. */
  readonly poolsFileState: string;
  readonly statePath: string;
  /** Interface to the pools that are served on it, in order. */
  readonly poolsOfInterface: ReadonlyMap<string, readonly string[]>;
  readonly configureInterfaces: boolean;
  /** Undefined: no HTTP. */
  readonly http: ListenAddress | undefined;
  /** True: whole packets are logged. */
  readonly logPackets: boolean;
}

export class BareHostAgent {
  readonly #settings: BareHostSettings;
  readonly #logger: Logger;
  readonly #directory: StateDirectory;
  readonly #events: LeaseEventLog;
  readonly #packetLog: PacketLog;
  readonly #server: DhcpServer;
  readonly #inquiry: AddressInquiry;
  readonly #book: AddressBook;
  readonly #ntpNames: NtpNames;
  readonly #conflictProbes: ConflictProbes;
  readonly #conflicts = new ConflictedLeases();
  readonly #mayProbe = mayUseArp();
  readonly #interfaces = new Map<string, ServedInterface>();
  readonly #interfacesOf = new Map<string, readonly string[]>();
  readonly #stopping = new AbortController();
  readonly #timers: NodeJS.Timeout[] = [];
  readonly #serverAddresses: ServerAddresses;
  readonly #sendFailures = new RateBudget({ perSecond: 0.2, burst: 3 });
  /** What to do when the server's pools are others than before. */
  readonly #onPoolsChanged: (() => void)[] = [];
  #reloading: Promise<void> = Promise.resolve();
  #http: Server | undefined;
  #file: PoolsFile = { pools: new Map(), ntpNames: new Set() };
  #planned: ReadonlyMap<string, PlannedPool> = new Map();
  #lastRefusals = new Set<string>();
  #wasReady = false;
  #bindingsChanged = false;
  #retry: NodeJS.Timeout | undefined;
  /** Why the last save failed; undefined: it did not. */
  #saveFailure: string | undefined;

  /**
   * Starts everything; resolves when the interfaces that are there are being served.
   * @throws CommandError where it cannot start at all.
   */
  static async start(settings: BareHostSettings, file: PoolsFile, logger: Logger): Promise<BareHostAgent> {
    separateLargeMemory();
    const directory = await StateDirectory.open(settings.statePath);
    const { state, reports } = await directory.load();
    for (const report of reports) {
      logger.error(
        report,
        `state file cannot be used: ${report.reason}; it was set aside for you to look at, the agent goes on without it`,
      );
    }
    const agent = new BareHostAgent({ settings, logger, directory }, state);
    await agent.#start(file);
    return agent;
  }

  private constructor(
    { settings, logger, directory }: { settings: BareHostSettings; logger: Logger; directory: StateDirectory },
    state: ConstructorParameters<typeof AddressBook>[1],
  ) {
    this.#settings = settings;
    this.#logger = logger;
    this.#directory = directory;
    this.#serverAddresses = new ServerAddresses(linuxHostAddresses, logger);
    this.#events = new LeaseEventLog(logger, Date.now);
    this.#packetLog = new PacketLog(logger, { packets: settings.logPackets, nowMs: Date.now });
    this.#server = new DhcpServer({
      logger,
      events: this.#events,
      packetLog: this.#packetLog,
      nowMs: Date.now,
      onBindingChanged: () => {
        this.#bindingsChanged = true;
      },
      whoUses: (interfaceName, lease) => this.#inquiry.whoUses(interfaceName, lease),
      onDeclined: (lease) => void this.#book.decline(lease).catch((error) => this.#onSaveFailure(error)),
    });
    this.#inquiry = new AddressInquiry({
      logger,
      nowMs: () => performance.now(),
      probe: arpProbe(),
      decoysOf: (poolName) => this.#server.decoysOf(poolName, DECOYS, Math.random),
    });
    this.#book = new AddressBook(
      {
        directory: { save: (state) => directory.save(state).then(() => this.#onSaved()) },
        nowMs: Date.now,
        // Of a pool that is not served (yet), what was known before is still what is known.
        expiryOf: (poolName, macAddress) =>
          this.#planned.has(poolName)
            ? this.#server.leaseOf(poolName, macAddress)?.expiresAtMs
            : this.#book.restoredExpiry(poolName, macAddress),
        onPlanned: (pools) => this.#onPlanned(pools),
      },
      state,
    );
    this.#conflictProbes = new ConflictProbes({
      logger,
      nowMs: () => performance.now(),
      isLeading: () => true,
      whoUses: this.#inquiry.whoUses,
      onConflict: (poolName, conflict) => this.#onConflict(poolName, conflict),
      inject: (name, packet) => this.#interfaces.get(name)?.inject(packet),
    });
    this.#ntpNames = new NtpNames({
      onChange: () => void this.#reload(),
      onFailure: (name, error) =>
        logger.warn({ name, err: error.message }, 'NTP server name cannot be looked up: it is left out of option 42'),
    });
    for (const [interfaceName, pools] of settings.poolsOfInterface) {
      for (const pool of pools) this.#interfacesOf.set(pool, [...(this.#interfacesOf.get(pool) ?? []), interfaceName]);
    }
  }

  /** The pools that are not served, each with its reason; empty if all are. */
  unserved(): UnservedPool[] {
    const active = [...this.#file.pools].filter(([, { paused }]) => !paused).map(([name]) => name);
    return unservedPools({
      wanted: new Set([...active, ...this.#interfacesOf.keys()]),
      planned: new Set(this.#planned.keys()),
      paused: new Set([...this.#file.pools].filter(([, { paused }]) => paused).map(([name]) => name)),
      interfacesOf: this.#interfacesOf,
      stateOf: (name) => this.#interfaces.get(name)?.state ?? { kind: 'opening' },
    });
  }

  *leases(): Generator<LeaseView> {
    for (const [poolName, planned] of this.#planned) {
      const owners = ownersOf(planned);
      for (const lease of this.#server.leases(poolName)) yield toLeaseView(lease, owners.get(lease.macAddress));
    }
  }

  /** Stops serving, writes down what is known, and takes back what was done to interfaces. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    for (const timer of this.#timers) clearInterval(timer);
    clearTimeout(this.#retry);
    this.#ntpNames.stop();
    for (const served of this.#interfaces.values()) served.stop();
    this.#http?.close();
    this.#http?.closeAllConnections();
    await this.#book.saveExpiries().catch((error) => this.#logger.error({ err: error }, 'expiry times could not be saved'));
    this.#serverAddresses.release();
    await this.#directory.close();
    this.#logger.info('stopped');
  }

  async #start(file: PoolsFile): Promise<void> {
    const metrics = createMetrics({
      counters: this.#server.counters,
      leaseEvents: () => this.#events.counts(),
      served: () => this.#servedPools(),
      allocation: {
        poolCounts: () => this.#poolCounts(),
        refusedClaims: () => new Map([...this.#planned].map(([name, { refused }]) => [name, refused.length])),
      },
    });
    for (const [name, pools] of this.#settings.poolsOfInterface)
      this.#interfaces.set(name, this.#createInterface(name, pools, metrics.observeBurst));
    if (this.#settings.http !== undefined) {
      this.#http = await startStatusServer(this.#settings.http, {
        unready: () => this.unserved().map(({ pool, reason }) => `${pool}: ${reason}`),
        registry: metrics.registry,
        pages: { '/leases': leasesPage(() => this.leases()) },
      });
    }
    if (!this.#mayProbe)
      this.#logger.warn(
        'no CAP_NET_RAW: the network is not asked whether a new address is in use; grant it, or set spec.conflictProbe: Disabled',
      );
    await this.#configure(file);
    this.#reportPoolsWithoutInterface();
    const { poolsPath: path, poolsFileState: since } = this.#settings;
    watchFile({ path, since, signal: this.#stopping.signal }, () => void this.#reload());
    await this.#checkInterfaces();
    trimMemory();
    this.#every(INTERFACE_CHECK_INTERVAL_MS, () => void this.#checkInterfaces());
    this.#every(HOUSEKEEPING_INTERVAL_MS, () => {
      this.#events.reportSuppressed();
      this.#packetLog.reportSuppressed();
      void this.#book.endQuarantines().catch((error) => this.#onSaveFailure(error));
      if (this.#bindingsChanged) this.#saveExpiries();
      trimMemory();
      this.#keepAddresses();
    });
    this.#every(EXPIRY_SCAN_INTERVAL_MS, () => {
      this.#server.expireLeases();
      for (const poolName of this.#conflicts.expire(Date.now())) this.#servePool(poolName, this.#planned.get(poolName));
    });
    this.#every(EXPIRY_SAVE_INTERVAL_MS, () => this.#saveExpiries());
  }

  #saveExpiries(): void {
    this.#bindingsChanged = false;
    void this.#book.saveExpiries().catch((error) => this.#onSaveFailure(error));
  }

  #createInterface(name: string, pools: readonly string[], observeBurst: (durationNs: number) => void): ServedInterface {
    let served = this.#server.poolsNamed(pools);
    this.#onPoolsChanged.push(() => {
      served = this.#server.poolsNamed(pools);
    });
    return new ServedInterface(name, {
      logger: this.#logger,
      nowMs: Date.now,
      handler: this.#server.handler(name, () => served, {
        whyNotSent: (answer, packet) => (this.#conflictProbes.defers(name, answer, packet) ? 'address-being-probed' : undefined),
      }),
      sockets: linuxDhcpSockets,
      socketEvents: {
        onBurst: observeBurst,
        onSendFailure: ({ error, count }) => {
          this.#server.counters.drop('send-failed', count);
          if (this.#sendFailures.take(Date.now()))
            this.#logger.warn({ interface: name, error, count }, 'replies could not be sent');
        },
      },
      prepare: () => this.#prepareInterface(name, pools),
      onStateChange: () => this.#reportReadiness(),
    });
  }

  async #prepareInterface(interfaceName: string, names: readonly string[]): Promise<void> {
    const pools = this.#server.poolsNamed(names).map(({ pool }) => pool);
    if (this.#settings.configureInterfaces) {
      this.#serverAddresses.ensure(interfaceName, pools);
      return;
    }
    for (const pool of pools) {
      if (listAddresses(libc.ifNameToIndex(interfaceName)).some(({ address }) => address === pool.serverAddress)) continue;
      const address = formatIpv4Address(pool.serverAddress);
      this.#logger.warn(
        { interface: interfaceName, address, pool: pool.name },
        'the interface does not have the server address: renewals cannot reach the server; add it, or give --configure-interfaces',
      );
    }
  }

  #keepAddresses(): void {
    if (!this.#settings.configureInterfaces) return;
    const pools = [...this.#settings.poolsOfInterface].map(
      ([name, names]) => [name, this.#server.poolsNamed(names).map(({ pool }) => pool)] as const,
    );
    this.#serverAddresses.keep(
      new Map(pools),
      (name) => this.#interfaces.get(name)?.state.kind === 'serving' && libc.ifNameToIndex(name) !== 0,
    );
  }

  async #checkInterfaces(): Promise<void> {
    await Promise.all([...this.#interfaces.values()].map((served) => served.check()));
  }

  /** Reads the file again, after whatever reading is under way. */
  #reload(): Promise<void> {
    this.#reloading = this.#reloading
      .then(() => this.#reloadNow())
      .catch((error) => this.#logger.error({ err: error }, 'reload failed'));
    return this.#reloading;
  }

  async #reloadNow(): Promise<void> {
    if (this.#stopping.signal.aborted) return;
    const { poolsPath } = this.#settings;
    const result = await loadPoolsFile(poolsPath, this.#ntpNames.known);
    if (!result.ok) {
      this.#logger.error(
        { file: poolsPath, problems: result.problems.map((problem) => describeFinding(poolsPath, problem)) },
        'the changed pools file is refused: the pools stay as they were',
      );
      return;
    }
    for (const warning of result.warnings) this.#logger.warn(describeFinding(poolsPath, warning));
    const isInEffect = await this.#configure(result.file);
    this.#reportPoolsWithoutInterface();
    if (!isInEffect) {
      this.#logger.warn({ file: poolsPath }, 'the changed pools file is not in effect: its leases cannot be saved yet');
      return;
    }
    await Promise.all([...this.#settings.poolsOfInterface].map(([name, pools]) => this.#prepareIfServing(name, pools)));
    this.#logger.info({ file: poolsPath, pools: result.file.pools.size }, 'the changed pools file is in effect');
  }

  async #prepareIfServing(name: string, pools: readonly string[]): Promise<void> {
    if (this.#interfaces.get(name)?.state.kind !== 'serving') return;
    await this.#prepareInterface(name, pools).catch((error) =>
      this.#logger.error({ err: error, interface: name }, 'interface could not be configured'),
    );
  }

  /** False if it is not in effect yet, as it could not be saved. */
  async #configure(file: PoolsFile): Promise<boolean> {
    this.#file = file;
    this.#ntpNames.want(file.ntpNames);
    for (const [name, { log }] of file.pools) this.#packetLog.setPool(name, log);
    try {
      await this.#book.configure(file);
      return true;
    } catch (error) {
      this.#onSaveFailure(error);
      return false;
    }
  }

  /** Nothing that is not saved is served; it is tried again until it is. */
  #onSaveFailure(error: unknown): void {
    const why = error instanceof Error ? error.message : String(error);
    if (this.#saveFailure !== why)
      this.#logger.error(
        { directory: this.#directory.path },
        `leases cannot be saved: ${why}; clients keep the leases that are saved, and changes wait until they can be saved`,
      );
    this.#saveFailure = why;
    if (this.#stopping.signal.aborted) return;
    clearTimeout(this.#retry);
    this.#retry = setTimeout(() => void this.#configure(this.#file), SAVE_RETRY_INTERVAL_MS);
  }

  #onSaved(): void {
    if (this.#saveFailure !== undefined) this.#logger.info({ directory: this.#directory.path }, 'leases can be saved again');
    this.#saveFailure = undefined;
  }

  #onPlanned(pools: ReadonlyMap<string, PlannedPool>): void {
    for (const name of this.#planned.keys()) {
      if (!pools.has(name)) this.#server.removePool(name);
    }
    for (const [name, planned] of pools) this.#servePool(name, planned);
    this.#planned = pools;
    for (const update of this.#onPoolsChanged) update();
    this.#reportRefusals([...pools.values()].flatMap(({ refused }) => refused));
    this.#reportReadiness();
  }

  #servePool(name: string, planned: PlannedPool | undefined): void {
    if (planned === undefined) return;
    const { configured, assignments } = planned;
    const recorded = this.#conflicts.without(name, assignments);
    const fresh = this.#server.setPool(configured.pool, recorded, (macAddress) => this.#book.restoredExpiry(name, macAddress));
    if (!configured.probesConflicts || !this.#mayProbe) return;
    // Of a pool that was not served yet, every lease that no client is known to have used.
    const isFirst = !this.#planned.has(name);
    const unused = isFirst ? [...this.#server.leases(name)].filter(({ expiresAtMs }) => expiresAtMs === undefined) : fresh;
    const [interfaceName] = this.#interfacesOf.get(name) ?? [];
    if (interfaceName !== undefined && unused.length > 0) this.#conflictProbes.noteFresh(interfaceName, unused);
  }

  /** The client is not answered before it has another address. What a person has reserved has no substitute: it is asked about again. */
  #onConflict(poolName: string, { macAddress, address }: AddressConflict): void {
    const planned = this.#planned.get(poolName);
    if (planned === undefined) return;
    const isReserved = planned.configured.pool.reservations.get(macAddress)?.address === address;
    this.#conflicts.note({ poolName, macAddress, address, untilMs: Date.now() + (isReserved ? RECHECK_MS : QUARANTINE_MS) });
    this.#servePool(poolName, planned);
    if (isReserved) {
      this.#logger.warn(
        { pool: poolName, address: formatIpv4Address(address), mac: macAddress },
        'the address is reserved, so its client gets no other one and no reply: free the address, or change the reservation; it is asked about again every minute',
      );
      return;
    }
    void this.#book.decline({ poolName, macAddress, address }).catch((error) => this.#onSaveFailure(error));
  }

  #reportRefusals(refused: readonly RefusedClaim[]): void {
    const messages = new Set(refused.map(({ message }) => message));
    for (const { owner, macAddress, reason, message } of refused) {
      if (!this.#lastRefusals.has(message)) this.#logger.warn({ owner, mac: macAddress, reason }, message);
    }
    this.#lastRefusals = messages;
  }

  #reportPoolsWithoutInterface(): void {
    for (const [pool, { paused }] of this.#file.pools) {
      if (paused || this.#interfacesOf.has(pool)) continue;
      this.#logger.warn(
        { pool },
        `the pool has no interface and is not served: give --interface ${pool}=IFACE and start the agent again, or set spec.paused: true`,
      );
    }
  }

  #reportReadiness(): void {
    const unserved = this.unserved();
    if (unserved.length === 0 && !this.#wasReady) {
      this.#logger.info({ pools: [...this.#planned.keys()], interfaces: [...this.#interfaces.keys()] }, 'serving');
    } else if (unserved.length > 0 && this.#wasReady) {
      this.#logger.warn({ unserved }, 'not every pool is served');
    }
    this.#wasReady = unserved.length === 0;
  }

  #poolCounts(): ReadonlyMap<string, PoolCounts> {
    return new Map([...this.#planned].map(([name, { counts }]) => [name, counts]));
  }

  #servedPools(): ReadonlyMap<string, boolean> {
    const unserved = new Set(this.unserved().map(({ pool }) => pool));
    const names = new Set([...this.#planned.keys(), ...unserved]);
    return new Map([...names].map((name) => [name, !unserved.has(name)]));
  }

  #every(intervalMs: number, work: () => void): void {
    this.#timers.push(setInterval(work, intervalMs));
  }
}
