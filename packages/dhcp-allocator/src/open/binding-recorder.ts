import type { BindingRecord } from '../binding/binding.js';
import type { BindingStore } from './binding-store.js';
import type { OpenPool } from './open-pool.js';

/** The store of bindings, the pools that they belong to, a clock, and who is told of failures. */
export interface BindingRecorderPorts {
  readonly store: BindingStore;
  readonly openPoolOf: (poolName: string) => OpenPool | undefined;
  readonly nowMs: () => number;
  /** Called once for each append or replacement that failed. */
  readonly onFailed: (error: unknown) => void;
}

interface Waiting {
  readonly record: BindingRecord;
  readonly settle: (isRecorded: boolean) => void;
}

/**
 * Records bindings in groups: records that arrive while the store writes go into its next write, so that one flush of the disk serves many clients.
 * It passes the outcome to the pool of each record, in order.
 */
export class BindingRecorder {
  readonly #ports: BindingRecorderPorts;
  #waiting: Waiting[] = [];
  #replacement: { readonly records: () => Iterable<BindingRecord>; readonly settle: (isDone: boolean) => void } | undefined;
  #isWriting = false;

  constructor(ports: BindingRecorderPorts) {
    this.#ports = ports;
  }

  /**
   * Resolves to true when the record survives a crash and has taken effect in its pool; to false if it may not survive, so its client gets no reply.
   * Never rejects.
   */
  record(record: BindingRecord): Promise<boolean> {
    return new Promise((settle) => {
      this.#waiting.push({ record, settle });
      void this.#write();
    });
  }

  /**
   * Replaces what is stored, between two writes. Resolves to true when that is done; to false if the store is unchanged or another replacement is
   * already waiting.
   *
   * @param records - called just before the replacement; returns all bindings of all pools.
   */
  replace(records: () => Iterable<BindingRecord>): Promise<boolean> {
    if (this.#replacement !== undefined) return Promise.resolve(false);
    return new Promise((settle) => {
      this.#replacement = { records, settle };
      void this.#write();
    });
  }

  async #write(): Promise<void> {
    if (this.#isWriting) return;
    this.#isWriting = true;
    // Records that are requested in the same turn of the event loop go together.
    await Promise.resolve();
    while (this.#waiting.length > 0 || this.#replacement !== undefined) {
      await this.#writeReplacement();
      await this.#writeGroup();
    }
    this.#isWriting = false;
  }

  async #writeReplacement(): Promise<void> {
    const replacement = this.#replacement;
    if (replacement === undefined) return;
    const isDone = await this.#try(() => this.#ports.store.replace(replacement.records()));
    this.#replacement = undefined;
    replacement.settle(isDone);
  }

  async #writeGroup(): Promise<void> {
    const group = this.#waiting;
    if (group.length === 0) return;
    this.#waiting = [];
    const isRecorded = await this.#try(() => this.#ports.store.append(group.map(({ record }) => record)));
    const nowMs = this.#ports.nowMs();
    for (const { record, settle } of group) {
      const pool = this.#ports.openPoolOf(record.poolName);
      if (isRecorded) pool?.recorded(record, nowMs);
      else pool?.notRecorded(record, nowMs);
      settle(isRecorded);
    }
  }

  async #try(write: () => Promise<void>): Promise<boolean> {
    try {
      await write();
      return true;
    } catch (error) {
      this.#ports.onFailed(error);
      return false;
    }
  }
}
