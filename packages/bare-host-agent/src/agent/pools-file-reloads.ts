/** Reloads a pools file that changes: one reading after the other, and it takes effect only if it has no problems. */
import type { Logger } from '@vmdhcp/service-process';
import type { LoadedPoolsFile } from '../pools-file/load-pools-file.js';
import type { PoolsFile } from '../pools-file/parse-pools-file.js';
import { describePoolsFileFinding } from '../pools-file/pools-file-finding.js';

export interface PoolsFileReloadsSettings {
  readonly path: string;
  readonly logger: Pick<Logger, 'info' | 'warn' | 'error'>;
  readonly load: () => Promise<LoadedPoolsFile>;
  /** Plans, saves and serves. Returns false if it is not in effect yet because it could not be saved. */
  readonly configure: (file: PoolsFile) => Promise<boolean>;
  /** Called after the file is in effect, to prepare the interfaces for its pools. Never rejects. */
  readonly onInEffect: () => Promise<void>;
}

export class PoolsFileReloads {
  readonly #settings: PoolsFileReloadsSettings;
  #isStopped = false;
  #last: Promise<void> = Promise.resolve();
  #problems: readonly string[] = [];

  constructor(settings: PoolsFileReloadsSettings) {
    this.#settings = settings;
  }

  /** Why the file on the disk is not the one in effect, a line each: the refusal and each of its problems. Empty if it is. */
  get problems(): readonly string[] {
    return this.#problems;
  }

  /** Reads the file again, after the reading in progress. Never rejects. */
  reload(): Promise<void> {
    const { logger } = this.#settings;
    this.#last = this.#last.then(() => this.#reload()).catch((error) => logger.error({ err: error }, 'reload failed'));
    return this.#last;
  }

  /** Stops reading it. */
  stop(): void {
    this.#isStopped = true;
  }

  async #reload(): Promise<void> {
    if (this.#isStopped) return;
    const { path, logger, load, configure, onInEffect } = this.#settings;
    const result = await load();
    if (this.#isStopped) return;
    if (!result.ok) {
      const problems = result.problems.map((problem) => describePoolsFileFinding(path, problem));
      const refusal = 'the changed pools file is refused: the pools stay as they were';
      logger.error({ file: path, problems }, refusal);
      this.#problems = [refusal, ...problems];
      return;
    }
    this.#problems = [];
    for (const warning of result.warnings) logger.warn(describePoolsFileFinding(path, warning));
    if (!(await configure(result.file))) {
      logger.warn({ file: path }, 'the changed pools file is not in effect: its leases cannot be saved yet');
      return;
    }
    await onInEffect();
    logger.info({ file: path, pools: result.file.pools.size }, 'the changed pools file is in effect');
  }
}
