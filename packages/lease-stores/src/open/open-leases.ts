/**
 * The open pools of an agent: which unknown client leases which address, and where that is stored: in a file, or in API objects.
 * A pool that is no longer served stays known, with its leases.
 */
import {
  type Assignment,
  type BindingRecord,
  BindingRecorder,
  type BindingTable,
  OpenPool,
  type OpenPoolCounts,
  type Pool,
  ServedPool,
} from '@vmdhcp/dhcp-allocator';
import type { Clock } from '@vmdhcp/kube-runtime';
import type { Logger } from '@vmdhcp/service-process';
import type { OpenedRecords, RecordStore } from '../bindings/opened-records.js';
import { viewsOf } from '../bindings/views-of.js';
import type { LeaseView, QuarantineView } from '../lease/lease-view.js';

const RETRY_INTERVAL_MS = 2_000;
const CHECK_INTERVAL_MS = 60_000;

/** Where the leases of open pools are recorded, and who is told. */
export interface OpenLeasesSettings {
  readonly logger: Pick<Logger, 'info' | 'warn' | 'error'>;
  readonly clock: Clock;
  /** Milliseconds since 1970. */
  readonly nowMs: () => number;
  /** Opens the store; rejects with words for a person if it cannot be used. */
  readonly openRecords: () => Promise<OpenedRecords>;
  /** True if something may be stored, so that the store is opened even if no pool is open. */
  readonly hasRecords: () => boolean;
  /** Called after a write with its duration in milliseconds, until its records survived, and the number of them. */
  readonly onRecorded: (durationMs: number, records: number) => void;
}

/** What a pool is served with. */
export interface PoolToServe {
  readonly pool: Pool;
  readonly assignments: readonly Assignment[];
  /** True to probe an address before a client gets it. */
  readonly probes: boolean;
}

interface Failure {
  readonly reason: string;
  readonly callOffRetry: () => void;
}

export class OpenLeases {
  readonly #settings: OpenLeasesSettings;
  readonly #pools = new Map<string, OpenPool>();
  /** Bindings of pools that have not been served since the start. */
  readonly #restored = new Map<string, BindingTable>();
  readonly #probing = new Set<string>();
  /** Pools with declared addresses that are not served yet, because an unknown client uses them. */
  readonly #waiting = new Map<string, number>();
  #store: RecordStore | undefined;
  #recorder: BindingRecorder | undefined;
  #failure: Failure | undefined;
  /** A second opened file would not know what the first one appends. */
  #opening: Promise<void> | undefined;
  #callOffCheck: () => void = () => undefined;
  #isClosed = false;
  /** Counts for metrics. */
  failures = 0;

  constructor(settings: OpenLeasesSettings) {
    this.#settings = settings;
  }

  readonly openPoolOf = (poolName: string): OpenPool | undefined => this.#pools.get(poolName);

  /** True to probe an address of the pool before a client gets it. */
  readonly probes = (poolName: string): boolean => this.#probing.has(poolName);

  all(): Iterable<OpenPool> {
    return this.#pools.values();
  }

  /** Why leases cannot be recorded at the moment; undefined if they can. */
  get problem(): string | undefined {
    return this.#failure?.reason;
  }

  /** Opens the store, if something is stored or a pool is open. Call it before pools are served. @throws CommandError if it cannot be used. */
  async prepare(pools: Iterable<Pool>): Promise<void> {
    const isOpen = [...pools].some(({ dynamic }) => dynamic.length > 0);
    if (this.#store !== undefined || !(isOpen || this.#settings.hasRecords())) return;
    this.#opening ??= this.#open().finally(() => {
      this.#opening = undefined;
    });
    await this.#opening;
  }

  async #open(): Promise<void> {
    const { openRecords, nowMs, logger } = this.#settings;
    const { store, tables, reports } = await openRecords();
    for (const { level, fields, message } of reports) logger[level](fields, message);
    for (const [name, table] of tables) this.#restored.set(name, table);
    this.#store = store;
    this.#recorder = new BindingRecorder({
      store: { append: (records) => this.#append(store, records), replace: (records) => store.replace(records) },
      openPoolOf: this.openPoolOf,
      nowMs,
      onFailed: (error) => this.#onFailed(error),
    });
    this.#shortenIfLong();
    this.#checkLater(store);
  }

  /** Serves the current version of the pool. @returns the assignments that may be served: those whose address no unknown client uses. */
  setPool({ pool, assignments, probes }: PoolToServe): readonly Assignment[] {
    const nowMs = this.#settings.nowMs();
    const open = this.#openPool(pool, nowMs);
    if (open === undefined) return assignments;
    if (probes) this.#probing.add(pool.name);
    else this.#probing.delete(pool.name);
    open.declare(assignments, nowMs);
    const waiting = new Set(open.waitingDeclarations(nowMs).map(({ declared }) => declared.address));
    this.#waiting.set(pool.name, waiting.size);
    return waiting.size === 0 ? assignments : assignments.filter(({ address }) => !waiting.has(address));
  }

  /** Pools in which fewer declared addresses wait for unknown clients than when they were last served. */
  poolsThatWaitNoMore(): string[] {
    const nowMs = this.#settings.nowMs();
    return [...this.#waiting].flatMap(([name, count]) => {
      if (count === 0) return [];
      return (this.#pools.get(name)?.waitingDeclarations(nowMs).length ?? 0) < count ? [name] : [];
    });
  }

  /** Resolves to true when the record survives a crash and its pool uses it. Never rejects. */
  readonly record = async (record: BindingRecord): Promise<boolean> => {
    const recorder = this.#recorder;
    if (recorder === undefined) return false;
    const isRecorded = await recorder.record(record);
    if (isRecorded) this.#shortenIfLong();
    return isRecorded;
  };

  /** The addresses for unknown clients of each pool that has some. */
  counts(): ReadonlyMap<string, OpenPoolCounts> {
    const nowMs = this.#settings.nowMs();
    const counted = [...this.#pools].map(([name, open]) => [name, open.counts(nowMs)] as const);
    return new Map(counted.filter(([, { size }]) => size > 0));
  }

  /** The leases of unknown clients that have not ended. */
  *leases(): Generator<LeaseView> {
    const nowMs = this.#settings.nowMs();
    for (const [poolName, { bindings }] of this.#pools) yield* viewsOf(poolName, bindings.bindings(), nowMs);
  }

  /** The addresses that unknown clients found in use, including those whose time is over. */
  *quarantines(): Generator<QuarantineView> {
    for (const [pool, { bindings }] of this.#pools)
      for (const [address, untilMs] of bindings.quarantines()) yield { pool, address, untilMs };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#failure?.callOffRetry();
    this.#callOffCheck();
    await this.#store?.close();
  }

  #openPool(pool: Pool, nowMs: number): OpenPool | undefined {
    const known = this.#pools.get(pool.name);
    if (known !== undefined) {
      if (known.pool !== pool) known.setPool(new ServedPool(pool), nowMs);
      return known;
    }
    const restored = this.#restored.get(pool.name);
    if (pool.dynamic.length === 0 && restored === undefined) return undefined;
    const open = new OpenPool(new ServedPool(pool), restored ?? [], nowMs);
    this.#restored.delete(pool.name);
    this.#pools.set(pool.name, open);
    return open;
  }

  async #append(store: RecordStore, records: readonly BindingRecord[]): Promise<void> {
    const startedAt = performance.now();
    await store.append(records);
    this.#settings.onRecorded(performance.now() - startedAt, records.length);
    this.#onSaved();
  }

  #shortenIfLong(): void {
    const counting = [...this.#tables()].reduce((sum, { size }) => sum + size, 0);
    if (this.#store?.isLong(counting) === true) void this.#recorder?.replace(() => this.#records());
  }

  *#tables(): Generator<Pick<BindingTable, 'records' | 'size'>> {
    for (const { bindings } of this.#pools.values()) yield bindings;
    yield* this.#restored.values();
  }

  /** A snapshot takes a while, in which pools begin to be served: their tables are the same, but no longer among the restored ones. */
  *#records(): Generator<BindingRecord> {
    for (const table of [...this.#tables()]) yield* table.records();
  }

  #onFailed(error: unknown): void {
    this.failures += 1;
    const { logger, clock } = this.#settings;
    const reason = error instanceof Error ? error.message : String(error);
    if (this.#failure?.reason !== reason)
      logger.error(
        `${reason}; unknown clients get no new lease and none is renewed until it can be written; those that have a lease keep it until it ends`,
      );
    this.#failure?.callOffRetry();
    if (this.#isClosed) return;
    this.#failure = { reason, callOffRetry: clock.after(RETRY_INTERVAL_MS, () => void this.#retry()) };
  }

  /** A snapshot shows that a whole file can be written. */
  async #retry(): Promise<void> {
    const repair = this.#store?.repair?.();
    const isDone =
      repair === undefined
        ? await this.#recorder?.replace(() => this.#records())
        : await repair.then(
            () => true,
            (error: unknown) => this.#onFailed(error),
          );
    if (isDone === true) this.#onSaved();
  }

  #checkLater(store: RecordStore): void {
    if (store.check !== undefined && !this.#isClosed)
      this.#callOffCheck = this.#settings.clock.after(CHECK_INTERVAL_MS, () => void this.#check(store));
  }

  /** Restores from memory what another program deleted or changed. */
  async #check(store: RecordStore): Promise<void> {
    const problems = (await store.check?.().catch(() => [])) ?? [];
    for (const problem of problems) this.#settings.logger.warn(problem);
    if (problems.length > 0) await this.#recorder?.replace(() => this.#records());
    this.#checkLater(store);
  }

  #onSaved(): void {
    if (this.#failure === undefined) return;
    this.#failure.callOffRetry();
    this.#failure = undefined;
    this.#settings.logger.info('leases of unknown clients can be recorded again');
  }
}
