/**
 * Stores the history of addresses in ConfigMaps. It writes after addresses are recorded, and nothing waits for it: one request at a time, with a rest
 * after each. Unstored records wait, up to a limit; beyond that, and after a conflict, it begins again with the stored ones.
 */

import { Resource } from '@vmdhcp/ippool-api/resources';
import {
  type ApiResource,
  type Clock,
  KeyedQueue,
  type KubernetesObject,
  type MergePatch,
  type ObjectClient,
  parseTime,
  type ReconcileResult,
  toReconcileResult,
} from '@vmdhcp/kube-runtime';
import type { PoolPlan } from '../assignment/plan-pools.js';
import type { AssignmentRecord } from '../audit/assignment-record.js';
import { AuditBook, type PendingBatch } from '../audit/audit-book.js';
import type { AuditFacts } from '../audit/audit-facts.js';
import { batchesToDrop, planSlotDrop, planSlotWrite, readBatches, type SlotDrop } from '../audit/audit-slots.js';
import { formatAuditState, parseAuditState } from '../audit/audit-state.js';
import { formatBatch } from '../audit/pool-log.js';
import type { PoolView } from '../view/pool-views.js';
import { type ObservedPlan, observationOf, observedPlan } from './assigned-clients.js';
import { AuditConfigMaps, type RefusedWrite } from './audit-config-maps.js';
import type { AssignmentSources, AuditTrail } from './audit-trail.js';

/** Where records of assignments are kept, and how large they may become. */
export interface AuditSettings {
  /** The namespace of the ConfigMaps. */
  readonly namespace: string;
  /** The maximum octets of all records; assignments that have not ended always have room. */
  readonly mostOctets: number;
  /** The maximum octets of one ConfigMap, as long as there are empty ones; default 131,072. */
  readonly slotOctets?: number;
}

export interface AuditKeeperSettings extends AuditSettings {
  readonly clientOf: (resource: ApiResource) => ObjectClient<KubernetesObject>;
  readonly clock: Clock;
  /** RFC 3339, now. */
  readonly now: () => string;
  /** 0 up to, not including, 1. */
  readonly random: () => number;
  /** Assignments began or ended. */
  readonly onRecords: ((pool: string, records: readonly AssignmentRecord[]) => void) | undefined;
  /** Records are lost. */
  readonly onDropped: ((why: 'limit' | 'not-stored', count: number) => void) | undefined;
  /** A read or a write failed, and is retried. */
  readonly onError: (error: unknown) => void;
  /** The stored records are known: observe all pools now. */
  readonly onLoaded: () => void;
}

const ALL = 'audit';
/** Records within this time go into one write. */
const GATHER_MS = 2_000;
/** The rest between two requests. */
const REST_MS = 250;
const STATE_MS = 60_000;
/** Times have whole seconds; a larger difference means that the clock was set. */
const MOST_CLOCK_ERROR_MS = 2_000;
const MOST_RECORDS = 200;
const BACK_OFF = { firstMs: 500, mostMs: 30_000 };
/** How long a stopping controller still writes. */
const STOP_MS = 2_000;
const AGAIN: ReconcileResult = { kind: 'recheck', afterMs: REST_MS };

export class AuditKeeper implements AuditTrail {
  readonly #settings: AuditKeeperSettings;
  readonly #configMaps: AuditConfigMaps;
  readonly #queue: KeyedQueue;
  #isLeading = false;
  #isStopping = false;
  #book: AuditBook | undefined;
  /** By the key of the pool: what the book has observed, so that only differences are compared. */
  readonly #observed = new Map<string, ObservedPlan>();
  #stateWrittenMs = Number.NEGATIVE_INFINITY;
  /** The last time, by the clock on the wall, and by one that is never set. */
  #lastTime: { readonly wallMs: number; readonly steadyMs: number } | undefined;
  /** Pools with records that are not stored. */
  readonly #waiting = new Set<string>();

  constructor(settings: AuditKeeperSettings) {
    this.#settings = settings;
    const { namespace, clock, random } = settings;
    this.#configMaps = new AuditConfigMaps(settings.clientOf({ ...Resource.configMaps, namespace }), namespace);
    this.#queue = new KeyedQueue({
      clock,
      backOff: { ...BACK_OFF, random },
      reconcile: () => this.#step(),
      onRetry: (_key, { reason, error }) =>
        settings.onError(error ?? new Error(`ConfigMaps in namespace ${namespace}: ${reason}`)),
      onTerminal: (_key, reason) => settings.onError(new Error(`ConfigMaps in namespace ${namespace}: ${reason}`)),
    });
  }

  /** Begins to read the records of the former leader. */
  lead(): void {
    this.#isLeading = true;
    this.#queue.add(ALL);
  }

  /** Stores pending records, for a short time; resolves when nothing is in progress. Ignores further observations. */
  async stop(): Promise<void> {
    if (this.#isStopping) return;
    this.#isStopping = true;
    await this.#queue.stop();
    if (!this.#isLeading || this.#book === undefined) return;
    const { clock } = this.#settings;
    await Promise.race([this.#storeRest(), new Promise<void>((resolve) => clock.after(STOP_MS, resolve))]);
  }

  writing(pool: string): (() => void) | undefined {
    return this.#book?.writing(pool, this.#nowMs());
  }

  observe(sources: AssignmentSources, pool: PoolView, plan: PoolPlan): void {
    if (this.#book === undefined) return;
    const observation = observationOf(sources, { pool, plan }, this.#observed.get(pool.key));
    this.#observed.set(pool.key, observedPlan(sources, pool, plan));
    this.#note(pool.key, this.#book.observe(pool.key, observation, this.#nowMs()));
  }

  gone(pool: string): void {
    this.#observed.delete(pool);
    if (this.#book !== undefined) this.#note(pool, this.#book.gone(pool, this.#nowMs()));
  }

  /** Pools that have records. */
  pools(): readonly string[] {
    return this.#book?.pools() ?? [];
  }

  /** The state of the records; undefined if this controller keeps none now, because it is not leader or has not read the stored records. */
  facts(): AuditFacts | undefined {
    const book = this.#book;
    if (book === undefined) return undefined;
    return {
      storedOctets: [...this.#configMaps.slots.values()].reduce((sum, { octets }) => sum + octets, 0),
      mostOctets: this.#settings.mostOctets,
      pendingRecords: book.pendingCount,
      completeUntilMs: book.state(this.#nowMs()).completeUntilMs,
      reachBackMs: book.reachBack(),
    };
  }

  #note(pool: string, records: readonly AssignmentRecord[]): void {
    if (records.length > 0) this.#settings.onRecords?.(pool, records);
    if (this.#book?.pendingOf(pool, 1) === undefined) return;
    this.#waiting.add(pool);
    this.#queue.addAfter(ALL, GATHER_MS);
  }

  #nowMs(): number {
    const { clock, now } = this.#settings;
    const [wallMs, steadyMs] = [parseTime(now()), clock.nowMs()];
    const last = this.#lastTime ?? { wallMs, steadyMs };
    this.#lastTime = { wallMs, steadyMs };
    const expectedMs = last.wallMs + steadyMs - last.steadyMs;
    // Times before and after belong to other events than they seem to. The gap is stored with the time until which all is recorded.
    if (Math.abs(wallMs - expectedMs) > MOST_CLOCK_ERROR_MS)
      this.#book?.clockWasSet(Math.min(last.wallMs, wallMs), Math.max(expectedMs, wallMs));
    return wallMs;
  }

  /** Makes one request, or prepares the next one. */
  async #step(): Promise<ReconcileResult> {
    const book = this.#book;
    if (book === undefined || book.isOverfull) return await this.#load();
    const [pool] = this.#waiting;
    if (pool !== undefined) return await this.#storePool(book, pool);
    const drop = batchesToDrop(this.#configMaps.slots, this.#settings, (key) => book.openRecords(key).size);
    if (drop !== undefined) return await this.#drop(book, drop);
    const inMs = this.#stateWrittenMs + STATE_MS - this.#settings.clock.nowMs();
    return inMs > 0 ? { kind: 'recheck', afterMs: inMs } : await this.#storeState(book);
  }

  async #load(): Promise<ReconcileResult> {
    const { now, random, onLoaded } = this.#settings;
    this.#giveUpBook();
    this.#waiting.clear();
    const claimed = await this.#configMaps.claimAll(`${now()} ${random().toString(36).slice(2)}`);
    if (!claimed.ok) return this.#refused(claimed);
    const { logs, state } = claimed.stored;
    const book = new AuditBook(logs, parseAuditState(state), this.#nowMs());
    // The gap is stored before anything that relies on it.
    const result = await this.#storeState(book);
    if (result.kind !== 'recheck') return result;
    this.#book = book;
    onLoaded();
    return AGAIN;
  }

  async #storePool(book: AuditBook, pool: string): Promise<ReconcileResult> {
    const batch = book.pendingOf(pool, MOST_RECORDS);
    if (batch !== undefined) return (await this.#storeBatch(book, pool, batch)) ?? AGAIN;
    this.#waiting.delete(pool);
    return { kind: 'recheck', afterMs: 0 };
  }

  /** Undefined if it was stored. */
  async #storeBatch(book: AuditBook, pool: string, batch: PendingBatch): Promise<ReconcileResult | undefined> {
    const write = planSlotWrite(this.#configMaps.slots, { pool, text: formatBatch(batch) }, this.#settings.slotOctets);
    if (write === undefined)
      return { kind: 'retry', reason: 'no room for more records: more assignments than can be stored have not ended' };
    const refused = await this.#patch(write.slot.name, write.patch);
    if (refused === undefined) book.stored(pool, batch);
    return refused;
  }

  /** Assignments that have not ended are stored again before their batch is deleted. */
  async #drop(book: AuditBook, drop: SlotDrop): Promise<ReconcileResult> {
    const read = await this.#configMaps.read(drop.slot);
    if (!read.ok) return this.#refused(read);
    const dropped = readBatches(read.object, drop.numbers);
    const kept = book.drop(drop.pool, dropped);
    for (
      let batch = book.pendingOf(drop.pool, MOST_RECORDS);
      batch !== undefined;
      batch = book.pendingOf(drop.pool, MOST_RECORDS)
    ) {
      const refused = await this.#storeBatch(book, drop.pool, batch);
      if (refused !== undefined) return refused;
    }
    const refused = await this.#patch(drop.slot, planSlotDrop(drop));
    if (refused === undefined) this.#settings.onDropped?.('limit', dropped.records.size - kept);
    return refused ?? AGAIN;
  }

  /** Undefined: it is written. */
  async #patch(slot: string, patch: MergePatch): Promise<ReconcileResult | undefined> {
    const result = await this.#configMaps.patch(slot, patch);
    if (!result.ok) return this.#refused(result);
    return undefined;
  }

  async #storeState(book: AuditBook): Promise<ReconcileResult> {
    const result = await this.#configMaps.storeState(formatAuditState(book.state(this.#nowMs())));
    if (!result.ok) return this.#refused(result);
    this.#stateWrittenMs = this.#settings.clock.nowMs();
    return { kind: 'recheck', afterMs: STATE_MS };
  }

  /** Another client has written: read the stored records again. */
  #refused(result: RefusedWrite): ReconcileResult {
    if (result.reason === 'conflict' || result.reason === 'already-exists' || result.reason === 'not-found') this.#giveUpBook();
    return toReconcileResult(result);
  }

  /** Pending records are found again, with less exact times, when the stored records are compared with the pools. */
  #giveUpBook(): void {
    const lost = this.#book?.pendingCount ?? 0;
    this.#book = undefined;
    this.#observed.clear();
    if (lost > 0) this.#settings.onDropped?.('not-stored', lost);
  }

  async #storeRest(): Promise<void> {
    const book = this.#book;
    if (book === undefined) return;
    try {
      for (const pool of this.#waiting) {
        let batch = book.pendingOf(pool, MOST_RECORDS);
        for (; batch !== undefined; batch = book.pendingOf(pool, MOST_RECORDS)) {
          if ((await this.#storeBatch(book, pool, batch)) !== undefined) return;
        }
      }
      await this.#storeState(book);
    } catch (error) {
      this.#settings.onError(error);
    }
  }
}
