/** Connects the parts of an agent on a bare host, which do not know each other. */

import { AgentProcess, arpProbe, NtpNames } from '@vmdhcp/agent-process';
import {
  AddressUsers,
  ConflictedLeases,
  ConflictProbes,
  DECOYS,
  DhcpServer,
  type LeaseEnd,
} from '@vmdhcp/dhcp-agent/packet-path';
import type { Ipv4Address } from '@vmdhcp/dhcp-allocator';
import { systemClock } from '@vmdhcp/kube-runtime/node';
import type { StateDirectory, StoredState } from '@vmdhcp/lease-stores';
import { hasBindingFile, OpenLeases, openFileRecords } from '@vmdhcp/lease-stores';
import { mayUseArp } from '@vmdhcp/linux-sockets';
import type { Logger } from '@vmdhcp/service-process';
import { AddressBook } from '../addresses/address-book.js';
import type { PlannedPool } from '../addresses/planned-pool.js';
import { loadPoolsFile } from '../pools-file/load-pools-file.js';
import type { PoolsFile } from '../pools-file/parse-pools-file.js';
import { createBareHostInterface } from './bare-host-interface.js';
import { BareHostStatus } from './bare-host-status.js';
import { linuxHostAddresses } from './host-addresses.js';
import { HostInterfaces } from './host-interfaces.js';
import { LeaseSaving } from './lease-saving.js';
import { PlannedPools } from './planned-pools.js';
import { PoolsFileReloads } from './pools-file-reloads.js';
import { RefusalLog } from './refusal-log.js';

export interface BareHostPartsSettings {
  readonly poolsPath: string;
  /** The pools served on each interface, in order. */
  readonly poolsOfInterface: ReadonlyMap<string, readonly string[]>;
  readonly configureInterfaces: boolean;
  /** True to log whole packets. */
  readonly logPackets: boolean;
}

/** The initial state of an agent. */
export interface BareHostBeginning {
  readonly settings: BareHostPartsSettings;
  readonly logger: Logger;
  readonly directory: StateDirectory;
  /** The state that was saved before. */
  readonly state: StoredState;
}

export class BareHostParts {
  readonly #settings: BareHostPartsSettings;
  readonly logger: Logger;
  readonly directory: StateDirectory;
  readonly process: AgentProcess;
  readonly open: OpenLeases;
  readonly server: DhcpServer;
  readonly #addressUsers: AddressUsers;
  readonly book: AddressBook;
  readonly ntpNames: NtpNames;
  readonly #conflictProbes: ConflictProbes;
  readonly mayProbe = mayUseArp();
  readonly status: BareHostStatus;
  readonly interfaces: HostInterfaces;
  readonly planned: PlannedPools;
  readonly reloads: PoolsFileReloads;
  readonly saving: LeaseSaving;
  readonly #refusals: RefusalLog;
  #file: PoolsFile = { pools: new Map(), ntpNames: new Set() };
  /** True if clients began or stopped using their addresses since the last save. */
  #hasUnsavedBindings = false;

  constructor({ settings, logger, directory, state }: BareHostBeginning) {
    this.#settings = settings;
    this.logger = logger;
    this.directory = directory;
    this.process = new AgentProcess({ logger, logPackets: settings.logPackets });
    this.#refusals = new RefusalLog(logger);
    this.open = this.#createOpenLeases();
    this.server = this.#createServer();
    this.#addressUsers = this.#createAddressUsers();
    this.book = this.#createBook(state);
    this.#conflictProbes = this.#createConflictProbes();
    this.status = this.#createBareHostStatus();
    this.interfaces = this.#createHostInterfaces();
    this.saving = this.#createLeaseSaving();
    this.planned = this.#createPlannedPools();
    this.reloads = this.#createPoolsFileReloads();
    this.ntpNames = this.#createNtpNames();
  }

  /** False if it is not in effect yet because it could not be saved. */
  async configure(file: PoolsFile): Promise<boolean> {
    this.#file = file;
    this.ntpNames.want(file.ntpNames);
    for (const [name, { log }] of file.pools) this.process.packetLog.setPool(name, log);
    try {
      await this.open.prepare([...file.pools.values()].map(({ pool }) => pool));
      await this.book.configure(file);
      return true;
    } catch (error) {
      this.saving.onFailure(error);
      return false;
    }
  }

  /** Saves until when clients use their addresses. A failed save is tried again. */
  saveExpiries(): void {
    this.#hasUnsavedBindings = false;
    void this.book.saveExpiries().catch((error) => this.saving.onFailure(error));
  }

  /** Does the same, but only if this has changed for a client since the last save. */
  saveChangedExpiries(): void {
    if (this.#hasUnsavedBindings) this.saveExpiries();
  }

  /**
   * Ends the lease of the unknown client that has the address, or the quarantine of the address. A host that still uses an address which was in
   * quarantine is found again when the next client is to get it. Never rejects.
   */
  async endLease(address: Ipv4Address): Promise<LeaseEnd> {
    let end: LeaseEnd = { kind: 'no-lease' };
    for (const { pool } of this.open.all()) {
      const [interfaceName] = this.interfaces.interfacesOf.get(pool.name) ?? [];
      if (interfaceName !== undefined && end.kind === 'no-lease')
        end = await this.server.endLease(pool.name, address, interfaceName);
    }
    if (end.kind === 'no-lease') end = await this.#endQuarantine(address);
    if (end.kind !== 'no-lease') return end;
    const holder = this.planned.holderOf(address);
    return holder === undefined ? end : { kind: 'kept', macAddress: holder, reason: 'declared' };
  }

  async #endQuarantine(address: Ipv4Address): Promise<LeaseEnd> {
    try {
      if (!(await this.book.endQuarantine(address))) return { kind: 'no-lease' };
      this.planned.endConflict(address);
      return { kind: 'quarantine-ended' };
    } catch (error) {
      this.saving.onFailure(error);
      return { kind: 'not-recorded' };
    }
  }

  #onPlanned(pools: ReadonlyMap<string, PlannedPool>): void {
    this.planned.replace(pools);
    this.interfaces.onPoolsChanged();
    this.#refusals.report([...pools.values()].flatMap(({ refused }) => refused));
    this.status.reportReadiness();
  }

  #createOpenLeases(): OpenLeases {
    return new OpenLeases({
      logger: this.logger,
      clock: systemClock,
      nowMs: Date.now,
      hasRecords: () => hasBindingFile(this.directory.path),
      openRecords: () => openFileRecords({ folder: this.directory.path, nowMs: Date.now }),
      onRecorded: (durationMs, records) => this.status.metrics.observeRecorded(durationMs, records),
    });
  }

  #createAddressUsers(): AddressUsers {
    return new AddressUsers({
      observer: this.process.log,
      nowMs: () => performance.now(),
      probe: arpProbe(),
      decoysOf: (poolName) => this.server.decoysOf(poolName, DECOYS, Math.random),
    });
  }

  #createConflictProbes(): ConflictProbes {
    return new ConflictProbes({
      observer: this.process.log,
      nowMs: () => performance.now(),
      isLeader: () => true,
      findUsers: this.#addressUsers.findUsers,
      onConflict: (poolName, conflict) => this.planned.onConflict(poolName, conflict),
      inject: (name, packet) => this.server.again(() => this.interfaces.inject(name, packet)),
    });
  }

  #createBareHostStatus(): BareHostStatus {
    return new BareHostStatus({
      logger: this.logger,
      counters: this.server.counters,
      events: this.process.leaseEvents,
      open: this.open,
      planned: () => this.planned,
      interfaces: () => this.interfaces,
      file: () => this.#file,
      fileProblems: () => this.reloads.problems,
    });
  }

  #createHostInterfaces(): HostInterfaces {
    return new HostInterfaces({
      logger: this.logger,
      host: linuxHostAddresses,
      server: this.server,
      poolsOfInterface: this.#settings.poolsOfInterface,
      configuresInterfaces: this.#settings.configureInterfaces,
      open: (parts) =>
        createBareHostInterface(parts, {
          log: this.process.log,
          server: this.server,
          conflictProbes: this.#conflictProbes,
          metrics: this.status.metrics,
          onStateChange: () => this.status.reportReadiness(),
        }),
    });
  }

  #createLeaseSaving(): LeaseSaving {
    return new LeaseSaving({
      logger: this.logger,
      clock: systemClock,
      directory: this.directory.path,
      retry: () => void this.configure(this.#file),
    });
  }

  #createPlannedPools(): PlannedPools {
    return new PlannedPools({
      logger: this.logger,
      nowMs: Date.now,
      steadyMs: systemClock.nowMs,
      server: this.server,
      book: this.book,
      conflicts: new ConflictedLeases(),
      open: this.open,
      probes: this.#conflictProbes,
      mayProbe: this.mayProbe,
      interfacesOf: this.interfaces.interfacesOf,
      onSaveFailure: (error) => this.saving.onFailure(error),
    });
  }

  #createPoolsFileReloads(): PoolsFileReloads {
    return new PoolsFileReloads({
      path: this.#settings.poolsPath,
      logger: this.logger,
      load: () => loadPoolsFile(this.#settings.poolsPath, this.ntpNames.known),
      configure: async (file) => {
        const isInEffect = await this.configure(file);
        this.status.reportPoolsWithoutInterface();
        return isInEffect;
      },
      onInEffect: async () => this.interfaces.prepareServed(),
    });
  }

  #createNtpNames(): NtpNames {
    return new NtpNames({
      onChange: () => void this.reloads.reload(),
      onFailure: (name, error) =>
        this.logger.warn({ name, err: error.message }, 'NTP server name cannot be resolved: it is omitted from option 42'),
    });
  }

  #createServer(): DhcpServer {
    const { log, packetLog, traffic, captures } = this.process;
    return new DhcpServer({
      ...{ observer: log, packetLog, traffic, captures },
      nowMs: Date.now,
      onBindingChanged: () => {
        this.#hasUnsavedBindings = true;
      },
      findUsers: (interfaceName, lease) => this.#addressUsers.findUsers(interfaceName, lease),
      open: {
        openPoolOf: this.open.openPoolOf,
        all: () => this.open.all(),
        record: this.open.record,
        probes: this.open.probes,
        interfacesOf: (poolName) => [...(this.interfaces.interfacesOf.get(poolName) ?? [])],
        send: (name, replies) => this.interfaces.send(name, replies),
        again: (name, packet) => this.interfaces.inject(name, packet),
      },
      onDeclined: (lease) => void this.book.decline(lease).catch((error) => this.saving.onFailure(error)),
    });
  }

  #createBook(state: StoredState): AddressBook {
    const book: AddressBook = new AddressBook(
      {
        directory: { save: (toSave) => this.directory.save(toSave).then(() => this.saving.onSaved()) },
        nowMs: Date.now,
        // For a pool that is not served (yet), the earlier knowledge stays valid.
        expiryOf: (poolName, macAddress) =>
          this.planned.all.has(poolName)
            ? this.server.leaseOf(poolName, macAddress)?.expiresAtMs
            : book.restoredExpiry(poolName, macAddress),
        onPlanned: (pools) => this.#onPlanned(pools),
      },
      state,
    );
    return book;
  }
}
