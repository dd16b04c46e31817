/**
 * Runs an agent on a bare host: pools from a file, addresses in a state directory, packets on real interfaces. This file has its
 * start, its end and every timer; its parts are in `bare-host-parts.ts`.
 */
import type { Server } from 'node:http';
import { every } from '@vmdhcp/dhcp-agent/packet-path';
import { systemClock } from '@vmdhcp/kube-runtime/node';
import { StateDirectory } from '@vmdhcp/lease-stores';
import type { ListenAddress, Logger } from '@vmdhcp/service-process';
import type { PoolsFile } from '../pools-file/parse-pools-file.js';
import { watchFile } from '../pools-file/watch-file.js';
import { BareHostParts, type BareHostPartsSettings } from './bare-host-parts.js';
import type { BareHostView } from './bare-host-view.js';

const INTERFACE_CHECK_INTERVAL_MS = 250;
const EXPIRY_SCAN_INTERVAL_MS = 5_000;
const EXPIRY_SAVE_INTERVAL_MS = 30_000;

export interface BareHostSettings extends BareHostPartsSettings {
  /** `fileState` of the pools file, determined before the file was read. */
  readonly poolsFileState: string;
  readonly statePath: string;
  /** Undefined for no HTTP. */
  readonly http: ListenAddress | undefined;
}

/** An agent without Kubernetes: its pools come from a file, its leases survive in a folder. */
export class BareHostAgent {
  readonly #settings: BareHostSettings;
  readonly #parts: BareHostParts;
  /** What ends what has begun. */
  readonly #ends: (() => void)[] = [];

  /**
   * Starts everything; resolves when the existing interfaces are served.
   * @throws CommandError if it cannot start at all.
   */
  static async start(settings: BareHostSettings, file: PoolsFile, logger: Logger): Promise<BareHostAgent> {
    const directory = await StateDirectory.open(settings.statePath);
    const { state, reports } = await directory.load();
    for (const report of reports) {
      logger.error(
        report,
        `state file cannot be used: ${report.reason}; it was renamed so that you can inspect it, and the agent continues without it`,
      );
    }
    const agent = new BareHostAgent(settings, new BareHostParts({ settings, logger, directory, state }));
    try {
      await agent.#start(file);
    } catch (error) {
      // A process that lives on without serving would look well to its service manager. Nothing is saved: not everything was read.
      await agent.#end(async () => undefined);
      throw error;
    }
    return agent;
  }

  private constructor(settings: BareHostSettings, parts: BareHostParts) {
    this.#settings = settings;
    this.#parts = parts;
  }

  /** The content of the page. */
  get view(): BareHostView {
    const { planned, status, interfaces } = this.#parts;
    return {
      planned: () => planned.all,
      leases: () => planned.leases(),
      quarantines: () => planned.quarantines(),
      unserved: () => status.unserved(),
      interfacesOf: interfaces.interfacesOf,
    };
  }

  /** Stops serving, saves the state, and removes what was added to interfaces. */
  async stop(): Promise<void> {
    const { book, logger } = this.#parts;
    await this.#end(() => book.saveExpiries().catch((error) => logger.error({ err: error }, 'expiry times could not be saved')));
  }

  /** @param save - after which nothing changes any more. */
  async #end(save: () => Promise<void>): Promise<void> {
    const { logger, directory, reloads, saving, ntpNames, interfaces, open } = this.#parts;
    for (const end of this.#ends.splice(0)) end();
    reloads.stop();
    saving.stop();
    ntpNames.stop();
    interfaces.stop();
    await save();
    interfaces.releaseAddresses();
    await open.close();
    await directory.close();
    logger.info('stopped');
  }

  async #start(file: PoolsFile): Promise<void> {
    const { http, poolsPath: path, poolsFileState: since } = this.#settings;
    const { process, logger, directory, status, open, reloads, interfaces, mayProbe } = this.#parts;
    const server = http === undefined ? undefined : await status.startServer(http);
    this.#ends.push(() => closeAtOnce(server));
    if (!mayProbe)
      logger.warn('no CAP_NET_RAW: new addresses are not probed for conflicts; grant it, or set spec.conflictProbe: Disabled');
    // An error at the start does not prevent serving without probes.
    await open.prepare([...file.pools.values()].map(({ pool }) => pool));
    await this.#parts.configure(file);
    status.reportPoolsWithoutInterface();
    const watching = new AbortController();
    watchFile({ path, since, signal: watching.signal }, () => void reloads.reload());
    this.#ends.push(
      () => watching.abort(),
      () => process.close(),
    );
    await interfaces.check();
    await process.start({
      control: {
        stateDirectory: directory.path,
        pools: () => interfaces.interfacesOf,
        endLease: (address) => this.#parts.endLease(address),
      },
      keepHouse: () => this.#keepHouse(),
    });
    this.#ends.push(...this.#startTimers());
  }

  #startTimers(): (() => void)[] {
    const { interfaces, server, planned } = this.#parts;
    return [
      every(systemClock, INTERFACE_CHECK_INTERVAL_MS, () => void interfaces.check()),
      every(systemClock, EXPIRY_SCAN_INTERVAL_MS, () => {
        server.expireLeases();
        planned.endConflicts();
      }),
      every(systemClock, EXPIRY_SAVE_INTERVAL_MS, () => this.#parts.saveExpiries()),
    ];
  }

  #keepHouse(): void {
    const { book, saving, interfaces } = this.#parts;
    void book.endQuarantines().catch((error) => saving.onFailure(error));
    this.#parts.saveChangedExpiries();
    interfaces.keepAddresses();
  }
}

function closeAtOnce(server: Server | undefined): void {
  server?.close();
  server?.closeAllConnections();
}
