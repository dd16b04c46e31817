/**
 * An agent on a bare host: pools from a file, addresses in a state directory, packets on real interfaces. The parts
 * know nothing of each other; this is where they are put together, and where every timer is.
 */
import type { Server } from 'node:http';
import {
  AddressUsers,
  AgentTraffic,
  ConflictedLeases,
  ConflictProbes,
  DECOYS,
  DhcpServer,
  every,
  PacketCaptures,
} from '@vmdhcp/dhcp-agent/packet-path';
import { systemClock } from '@vmdhcp/kube-runtime/node';
import { mayUseArp } from '@vmdhcp/linux-sockets';
import type { ListenAddress, Logger } from '@vmdhcp/service-process';
import { keepProgramPagesFew, separateLargeMemory, trimMemory } from '@vmdhcp/service-process/memory';
import { hasBindingFile, openFileRecords } from '../bindings/file-records.js';
import { arpProbe } from '../cluster/linux-probes.js';
import { startAgentControl } from '../control/agent-control.js';
import { AgentLog } from '../log/agent-log.js';
import { LeaseEventLog } from '../log/lease-event-log.js';
import { PacketLog } from '../log/packet-log.js';
import { loadPoolsFile } from '../pools-file/load-pools-file.js';
import { NtpNames } from '../pools-file/ntp-names.js';
import type { PoolsFile } from '../pools-file/parse-pools-file.js';
import { watchFile } from '../pools-file/watch-file.js';
import { AddressBook, type PlannedPool } from '../state/address-book.js';
import { StateDirectory } from '../state/state-directory.js';
import type { StoredState } from '../state/state-format.js';
import { createBareHostInterface } from './bare-host-interface.js';
import type { BareHostView } from './bare-host-source.js';
import { BareHostStatus } from './bare-host-status.js';
import { linuxHostAddresses } from './host-addresses.js';
import { HostInterfaces } from './host-interfaces.js';
import { LeaseSaving } from './lease-saving.js';
import { OpenLeases } from './open-leases.js';
import { PlannedPools } from './planned-pools.js';
import { PoolsFileReloads } from './pools-file-reloads.js';
import { RefusalLog } from './refusal-log.js';

const INTERFACE_CHECK_INTERVAL_MS = 250;
const HOUSEKEEPING_INTERVAL_MS = 1_000;
const EXPIRY_SCAN_INTERVAL_MS = 5_000;
const EXPIRY_SAVE_INTERVAL_MS = 30_000;

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

type Life =
  | { readonly kind: 'starting' }
  | { readonly kind: 'running'; readonly ends: readonly (() => void)[] }
  | { readonly kind: 'stopped' };

/** What an agent begins with. */
interface Beginning {
  readonly settings: BareHostSettings;
  readonly logger: Logger;
  readonly directory: StateDirectory;
  readonly state: StoredState;
}

export class BareHostAgent {
  readonly #settings: BareHostSettings;
  readonly #logger: Logger;
  readonly #directory: StateDirectory;
  readonly #events: LeaseEventLog;
  readonly #packetLog: PacketLog;
  readonly #log: AgentLog;
  readonly #open: OpenLeases;
  readonly #server: DhcpServer;
  readonly #addressUsers: AddressUsers;
  readonly #book: AddressBook;
  readonly #ntpNames: NtpNames;
  readonly #conflictProbes: ConflictProbes;
  readonly #mayProbe = mayUseArp();
  readonly #status: BareHostStatus;
  readonly #interfaces: HostInterfaces;
  readonly #planned: PlannedPools;
  readonly #reloads: PoolsFileReloads;
  readonly #saving: LeaseSaving;
  readonly #refusals: RefusalLog;
  readonly #traffic = new AgentTraffic({ nowMs: Date.now, random: Math.random });
  readonly #captures = new PacketCaptures();
  #life: Life = { kind: 'starting' };
  #file: PoolsFile = { pools: new Map(), ntpNames: new Set() };
  /** Clients began or ceased to use their addresses since the last save. */
  #hasUnsavedBindings = false;

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
    const agent = new BareHostAgent({ settings, logger, directory, state });
    await agent.#start(file);
    return agent;
  }

  private constructor({ settings, logger, directory, state }: Beginning) {
    this.#settings = settings;
    this.#logger = logger;
    this.#directory = directory;
    this.#events = new LeaseEventLog(logger, Date.now);
    this.#packetLog = new PacketLog(logger, { packets: settings.logPackets, nowMs: Date.now });
    this.#log = new AgentLog({
      logger,
      leaseEvents: this.#events,
      packetLog: this.#packetLog,
      nowMs: () => performance.now(),
    });
    this.#refusals = new RefusalLog(logger);
    this.#open = new OpenLeases({
      logger,
      clock: systemClock,
      nowMs: Date.now,
      hasRecords: () => hasBindingFile(directory.path),
      openRecords: () => openFileRecords({ folder: directory.path, nowMs: Date.now }),
      onRecorded: (durationMs, records) => this.#status.metrics.observeRecorded(durationMs, records),
    });
    this.#server = this.#createServer();
    this.#addressUsers = new AddressUsers({
      observer: this.#log,
      nowMs: () => performance.now(),
      probe: arpProbe(),
      decoysOf: (poolName) => this.#server.decoysOf(poolName, DECOYS, Math.random),
    });
    this.#book = this.#createBook(state);
    this.#conflictProbes = new ConflictProbes({
      observer: this.#log,
      nowMs: () => performance.now(),
      isLeader: () => true,
      findUsers: this.#addressUsers.findUsers,
      onConflict: (poolName, conflict) => this.#planned.onConflict(poolName, conflict),
      inject: (name, packet) => this.#server.again(() => this.#interfaces.inject(name, packet)),
    });
    this.#status = new BareHostStatus({
      logger,
      counters: this.#server.counters,
      events: this.#events,
      open: this.#open,
      planned: () => this.#planned,
      interfaces: () => this.#interfaces,
      file: () => this.#file,
    });
    this.#interfaces = new HostInterfaces({
      logger,
      host: linuxHostAddresses,
      server: this.#server,
      poolsOfInterface: settings.poolsOfInterface,
      configuresInterfaces: settings.configureInterfaces,
      open: (parts) =>
        createBareHostInterface(parts, {
          log: this.#log,
          server: this.#server,
          conflictProbes: this.#conflictProbes,
          metrics: this.#status.metrics,
          onStateChange: () => this.#status.reportReadiness(),
        }),
    });
    this.#saving = new LeaseSaving({
      logger,
      clock: systemClock,
      directory: directory.path,
      retry: () => void this.#configure(this.#file),
    });
    this.#planned = new PlannedPools({
      logger,
      nowMs: Date.now,
      server: this.#server,
      book: this.#book,
      conflicts: new ConflictedLeases(),
      open: this.#open,
      probes: this.#conflictProbes,
      mayProbe: this.#mayProbe,
      interfacesOf: this.#interfaces.interfacesOf,
      onSaveFailure: (error) => this.#saving.onFailure(error),
    });
    this.#reloads = new PoolsFileReloads({
      path: settings.poolsPath,
      logger,
      load: () => loadPoolsFile(settings.poolsPath, this.#ntpNames.known),
      configure: async (file) => {
        const isInEffect = await this.#configure(file);
        this.#status.reportPoolsWithoutInterface();
        return isInEffect;
      },
      onInEffect: async () => this.#interfaces.prepareServed(),
    });
    this.#ntpNames = new NtpNames({
      onChange: () => void this.#reloads.reload(),
      onFailure: (name, error) =>
        logger.warn({ name, err: error.message }, 'NTP server name cannot be looked up: it is left out of option 42'),
    });
  }

  /** What the page shows. */
  get view(): BareHostView {
    return {
      planned: () => this.#planned.all,
      leases: () => this.#planned.leases(),
      quarantines: () => this.#planned.quarantines(),
      unserved: () => this.#status.unserved(),
      interfacesOf: this.#interfaces.interfacesOf,
    };
  }

  /** Stops serving, saves what is known, and removes what was added to interfaces. */
  async stop(): Promise<void> {
    const ends = this.#life.kind === 'running' ? this.#life.ends : [];
    this.#life = { kind: 'stopped' };
    for (const end of ends) end();
    this.#reloads.stop();
    this.#saving.stop();
    this.#ntpNames.stop();
    this.#interfaces.stop();
    await this.#book.saveExpiries().catch((error) => this.#logger.error({ err: error }, 'expiry times could not be saved'));
    this.#interfaces.releaseAddresses();
    await this.#open.close();
    await this.#directory.close();
    this.#logger.info('stopped');
  }

  async #start(file: PoolsFile): Promise<void> {
    const { http, poolsPath: path, poolsFileState: since } = this.#settings;
    const server = http === undefined ? undefined : await this.#status.startServer(http);
    if (!this.#mayProbe)
      this.#logger.warn(
        'no CAP_NET_RAW: new addresses are not probed for conflicts; grant it, or set spec.conflictProbe: Disabled',
      );
    // What cannot be opened at the start is no reason to serve without it.
    await this.#open.prepare([...file.pools.values()].map(({ pool }) => pool));
    await this.#configure(file);
    this.#status.reportPoolsWithoutInterface();
    const watching = new AbortController();
    watchFile({ path, since, signal: watching.signal }, () => void this.#reloads.reload());
    await this.#interfaces.check();
    const control = await startAgentControl({
      stateDirectory: this.#directory.path,
      logger: this.#logger,
      traffic: this.#traffic,
      captures: this.#captures,
      pools: () => this.#interfaces.interfacesOf,
    });
    trimMemory();
    keepProgramPagesFew((error) => this.#logger.warn({ err: error }, 'memory of the program cannot be returned'));
    const ends = [...this.#startTimers(), () => watching.abort(), () => control.close(), () => closeAtOnce(server)];
    this.#life = { kind: 'running', ends };
  }

  #startTimers(): (() => void)[] {
    return [
      every(systemClock, INTERFACE_CHECK_INTERVAL_MS, () => void this.#interfaces.check()),
      every(systemClock, HOUSEKEEPING_INTERVAL_MS, () => this.#keepHouse()),
      every(systemClock, EXPIRY_SCAN_INTERVAL_MS, () => {
        this.#server.expireLeases();
        this.#planned.endConflicts();
      }),
      every(systemClock, EXPIRY_SAVE_INTERVAL_MS, () => this.#saveExpiries()),
    ];
  }

  #keepHouse(): void {
    this.#events.reportSuppressed();
    this.#packetLog.reportSuppressed();
    void this.#book.endQuarantines().catch((error) => this.#saving.onFailure(error));
    if (this.#hasUnsavedBindings) this.#saveExpiries();
    trimMemory();
    this.#interfaces.keepAddresses();
  }

  #saveExpiries(): void {
    this.#hasUnsavedBindings = false;
    void this.#book.saveExpiries().catch((error) => this.#saving.onFailure(error));
  }

  /** False if it is not in effect yet, as it could not be saved. */
  async #configure(file: PoolsFile): Promise<boolean> {
    this.#file = file;
    this.#ntpNames.want(file.ntpNames);
    for (const [name, { log }] of file.pools) this.#packetLog.setPool(name, log);
    try {
      await this.#open.prepare([...file.pools.values()].map(({ pool }) => pool));
      await this.#book.configure(file);
      return true;
    } catch (error) {
      this.#saving.onFailure(error);
      return false;
    }
  }

  #onPlanned(pools: ReadonlyMap<string, PlannedPool>): void {
    this.#planned.replace(pools);
    this.#interfaces.onPoolsChanged();
    this.#refusals.report([...pools.values()].flatMap(({ refused }) => refused));
    this.#status.reportReadiness();
  }

  #createServer(): DhcpServer {
    return new DhcpServer({
      observer: this.#log,
      packetLog: this.#packetLog,
      traffic: this.#traffic,
      captures: this.#captures,
      nowMs: Date.now,
      onBindingChanged: () => {
        this.#hasUnsavedBindings = true;
      },
      findUsers: (interfaceName, lease) => this.#addressUsers.findUsers(interfaceName, lease),
      open: {
        openPoolOf: this.#open.openPoolOf,
        all: () => this.#open.all(),
        record: this.#open.record,
        probes: this.#open.probes,
        send: (name, replies) => this.#interfaces.send(name, replies),
      },
      onDeclined: (lease) => void this.#book.decline(lease).catch((error) => this.#saving.onFailure(error)),
    });
  }

  #createBook(state: StoredState): AddressBook {
    const book: AddressBook = new AddressBook(
      {
        directory: { save: (toSave) => this.#directory.save(toSave).then(() => this.#saving.onSaved()) },
        nowMs: Date.now,
        // Of a pool that is not served (yet), what was known before is still what is known.
        expiryOf: (poolName, macAddress) =>
          this.#planned.all.has(poolName)
            ? this.#server.leaseOf(poolName, macAddress)?.expiresAtMs
            : book.restoredExpiry(poolName, macAddress),
        onPlanned: (pools) => this.#onPlanned(pools),
      },
      state,
    );
    return book;
  }
}

function closeAtOnce(server: Server | undefined): void {
  server?.close();
  server?.closeAllConnections();
}
