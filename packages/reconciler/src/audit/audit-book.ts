/**
 * Tracks, for each pool, the assignments that have not ended and the records that are not stored yet. It receives observations and confirmations of
 * stored records, and decides nothing about addresses. It never guesses: after a crash, or when records were lost, it compares the stored records
 * with the pool, and the time in between becomes a gap.
 */
import type { Ipv4Address } from '@vmdhcp/dhcp-allocator';
import type { AssignedClient, AssignmentRecord, Moment } from './assignment-record.js';
import { type AuditState, withGap } from './audit-state.js';
import { type ChangeFacts, followPool, NO_RECORDS, type OpenRecords } from './follow-pool.js';
import { openRecordsOf, type PoolLog } from './pool-log.js';

/** Who has which address of a pool. */
export interface Observation {
  readonly clients: Iterable<AssignedClient>;
  /** The addresses that may have another client than in the last observation, and the only ones of `clients`; undefined if any may. */
  readonly among?: ReadonlySet<Ipv4Address> | undefined;
  /** True if no client had an address of the pool before the last announced write. */
  readonly wasEmpty: boolean;
  readonly facts: Omit<ChangeFacts, 'when' | 'late' | 'among'>;
}

/** The next records of a pool to store. */
export interface PendingBatch {
  readonly records: readonly AssignmentRecord[];
  readonly completeFromMs: number | undefined;
}

interface PoolPages {
  open: OpenRecords;
  /** By serial, so that a record that ends before it was stored is stored once. */
  readonly pending: Map<number, AssignmentRecord>;
  /** The earliest time of their events; undefined if there are none. */
  pendingSinceMs: number | undefined;
  /** Since when a write to the pool has been in progress: its addresses may have changed already. */
  writingSinceMs: number | undefined;
  /** `stored` if nothing was compared since the records were read. `new` if there are none. */
  state: 'new' | 'stored' | 'followed';
  completeFromMs: number | undefined;
  /** All assignments that ended after this have records, stored or pending. */
  reachesBackToMs: number;
}

/** Times are whole seconds: an event within a second counts as before its end. */
const SECOND_MS = 1_000;
/** The number of records of all pools that are not stored yet. */
const MOST_PENDING = 50_000;

const POOL_IS_GONE: Observation['facts'] = {
  network: '',
  whyBegan: () => 'assigned',
  whyEnded: () => 'pool-deleted',
  isInConflict: () => false,
};

export class AuditBook {
  readonly #pools = new Map<string, PoolPages>();
  #pending = 0;
  #gaps: AuditState['gaps'];
  readonly #startedMs: number;
  readonly #storedUntilMs: number | undefined;

  /** @param state - undefined if none is stored. */
  constructor(logs: ReadonlyMap<string, PoolLog>, state: AuditState | undefined, nowMs: number) {
    this.#startedMs = nowMs;
    this.#storedUntilMs = state?.completeUntilMs;
    // Records without a state: a user deleted it, and with it all knowledge about times.
    const { completeUntilMs = logs.size === 0 ? nowMs : 0, gaps = [] } = state ?? {};
    // Records of the future come from a clock that was ahead: what happens at their times is not known.
    const untilMs = Math.max(completeUntilMs, nowMs, ...[...logs.values()].map(lastTimeOf)) + SECOND_MS;
    this.#gaps = withGap(gaps, { fromMs: Math.min(completeUntilMs, nowMs), untilMs });
    for (const [pool, log] of logs) {
      const reachesBackToMs = log.completeFromMs;
      this.#pools.set(pool, { ...newPages(), open: openRecordsOf(log), state: 'stored', reachesBackToMs });
    }
  }

  /** Pools that have records. */
  pools(): string[] {
    return [...this.#pools.keys()];
  }

  /** Assignments of a pool that have not ended. */
  openRecords(pool: string): OpenRecords['byAddress'] {
    return (this.#pools.get(pool)?.open ?? NO_RECORDS).byAddress;
  }

  /** The number of assignments that have not ended. */
  get openCount(): number {
    return [...this.#pools.values()].reduce((sum, { open }) => sum + open.byAddress.size, 0);
  }

  /** The number of records that are not stored yet. */
  get pendingCount(): number {
    return this.#pending;
  }

  /** Since when the records of each pool are complete, in milliseconds since 1970; pools for which this is unknown are left out. */
  reachBack(): ReadonlyMap<string, number> {
    const known = [...this.#pools].map(([pool, { reachesBackToMs }]) => [pool, reachesBackToMs] as const);
    return new Map(known.filter(([, ms]) => Number.isFinite(ms)));
  }

  /** True if too many records wait: then the caller must begin again with the stored records. */
  get isOverfull(): boolean {
    return this.#pending > MOST_PENDING;
  }

  /** Notes that the addresses of the pool are about to be written. @returns call it if the write was refused: then an earlier one may still count. */
  writing(pool: string, nowMs: number): () => void {
    const pages = this.#pagesOf(pool);
    const before = pages.writingSinceMs;
    pages.writingSinceMs ??= nowMs;
    return () => {
      pages.writingSinceMs = before;
    };
  }

  /** Notes that the clock was set: nothing is known about these times. */
  clockWasSet(fromMs: number, untilMs: number): void {
    this.#gaps = withGap(this.#gaps, { fromMs, untilMs: untilMs + SECOND_MS });
  }

  /** Observes the recorded addresses of the pool. @returns the changes. */
  observe(pool: string, { clients, among, wasEmpty, facts }: Observation, nowMs: number): readonly AssignmentRecord[] {
    const pages = this.#pagesOf(pool);
    const { late, when } = this.#knowledge(pages, wasEmpty, nowMs);
    if (pages.state === 'new') {
      pages.completeFromMs = late === 'adopted' ? nowMs + SECOND_MS : when.notBeforeMs;
      pages.reachesBackToMs = pages.completeFromMs;
    }
    const { open, records } = followPool(pages.open, clients, { ...facts, when, ...(late && { late }), ...(among && { among }) });
    pages.open = open;
    pages.state = 'followed';
    pages.writingSinceMs = undefined;
    this.#add(pages, records);
    return records;
  }

  /** Notes that the pool does not exist. */
  gone(pool: string, nowMs: number): readonly AssignmentRecord[] {
    const pages = this.#pools.get(pool);
    if (pages === undefined) return [];
    const { late, when } = this.#knowledge(pages, false, nowMs);
    const { open, records } = followPool(pages.open, [], { ...POOL_IS_GONE, when, ...(late && { late }) });
    pages.open = open;
    if (pages.state === 'stored') pages.state = 'followed';
    pages.writingSinceMs = undefined;
    this.#add(pages, records);
    return records;
  }

  /** The first records of the pool to store; undefined if there are none. */
  pendingOf(pool: string, most: number): PendingBatch | undefined {
    const pages = this.#pools.get(pool);
    if (pages === undefined || (pages.pending.size === 0 && pages.completeFromMs === undefined)) return undefined;
    const records: AssignmentRecord[] = [];
    for (const record of pages.pending.values()) if (records.push(record) >= most) break;
    return { records, completeFromMs: pages.completeFromMs };
  }

  /** Notes that records are stored. @param batch - the result of `pendingOf`. */
  stored(pool: string, batch: PendingBatch): void {
    const pages = this.#pools.get(pool);
    if (pages === undefined) return;
    for (const record of batch.records) {
      if (pages.pending.get(record.serial) !== record) continue;
      pages.pending.delete(record.serial);
      this.#pending--;
    }
    if (pages.completeFromMs === batch.completeFromMs) pages.completeFromMs = undefined;
    if (pages.pending.size === 0) pages.pendingSinceMs = undefined;
  }

  /**
   * A slice with this content is about to be deleted: stores again its assignments that have not ended, and since when the records are complete.
   *
   * @returns the number of assignments that have not ended.
   */
  drop(pool: string, slice: PoolLog): number {
    const pages = this.#pagesOf(pool);
    const kept: AssignmentRecord[] = [];
    let completeFromMs = Math.max(slice.completeFromMs, pages.completeFromMs ?? Number.NEGATIVE_INFINITY);
    for (const record of slice.records.values()) {
      const open = pages.open.byAddress.get(record.address);
      if (open?.serial === record.serial) kept.push(open);
      else if (record.end !== undefined) completeFromMs = Math.max(completeFromMs, record.end.to.notAfterMs + SECOND_MS);
    }
    if (completeFromMs > Number.NEGATIVE_INFINITY) pages.completeFromMs = completeFromMs;
    pages.reachesBackToMs = Math.max(pages.reachesBackToMs, completeFromMs);
    for (const record of kept) this.#keep(pages, record);
    return kept.length;
  }

  /** The state of all records without the pending ones. */
  state(nowMs: number): AuditState {
    const open = [...this.#pools.values()].flatMap((pages) => [
      ...(pages.pendingSinceMs === undefined ? [] : [pages.pendingSinceMs]),
      ...(pages.writingSinceMs === undefined ? [] : [pages.writingSinceMs]),
    ]);
    return { completeUntilMs: Math.min(nowMs, ...open), gaps: this.#gaps };
  }

  /** When a change that is observed now happened, and whether it was observed too late. */
  #knowledge(
    { state, writingSinceMs }: PoolPages,
    wasEmpty: boolean,
    nowMs: number,
  ): { readonly late: ChangeFacts['late']; readonly when: Moment } {
    const notBeforeMs = Math.min(writingSinceMs ?? nowMs, nowMs);
    if (state === 'followed' || (state === 'new' && wasEmpty))
      return { late: undefined, when: { notBeforeMs, notAfterMs: nowMs } };
    if (state === 'new') return { late: 'adopted', when: { notBeforeMs: Number.NEGATIVE_INFINITY, notAfterMs: nowMs } };
    const storedUntilMs = this.#storedUntilMs ?? Number.NEGATIVE_INFINITY;
    return { late: 'not-recorded', when: { notBeforeMs: Math.min(storedUntilMs, nowMs), notAfterMs: nowMs } };
  }

  #pagesOf(pool: string): PoolPages {
    const pages = this.#pools.get(pool) ?? newPages();
    this.#pools.set(pool, pages);
    return pages;
  }

  #add(pages: PoolPages, records: readonly AssignmentRecord[]): void {
    for (const record of records) {
      this.#keep(pages, record);
      const sinceMs = Math.max(this.#startedMs, record.end?.to.notBeforeMs ?? record.from.notBeforeMs);
      pages.pendingSinceMs = Math.min(pages.pendingSinceMs ?? sinceMs, sinceMs);
    }
  }

  #keep({ pending }: PoolPages, record: AssignmentRecord): void {
    if (!pending.has(record.serial)) this.#pending++;
    pending.set(record.serial, record);
  }
}

function lastTimeOf({ records }: PoolLog): number {
  let lastMs = Number.NEGATIVE_INFINITY;
  for (const { from, end } of records.values()) lastMs = Math.max(lastMs, from.notAfterMs, end?.to.notAfterMs ?? lastMs);
  return lastMs;
}

function newPages(): PoolPages {
  return {
    open: NO_RECORDS,
    pending: new Map(),
    pendingSinceMs: undefined,
    writingSinceMs: undefined,
    state: 'new',
    completeFromMs: undefined,
    reachesBackToMs: Number.NEGATIVE_INFINITY,
  };
}
