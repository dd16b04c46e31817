/**
 * One leader among several processes, by a record in a store that refuses a write if another process wrote in between
 * (`coordination.k8s.io` Leases are such).
 *
 * A process trusts only the time that has passed on its own clock:
 * - a leader is leader until `renewDeadlineMs` after it **began** its last successful write;
 * - another process takes over only when it has seen the same record for `leaseDurationMs`, which is longer. The leader began the write before the
 * record was stored, and the other process saw it after that; so leadership has ended before another process takes it. A write that arrives late is
 * refused if the record has changed by then; if it has not, every other process waits anew.
 *
 * A leader may renew less often (`renewPeriodMs`): the record then lasts correspondingly longer. A record never expires before one that the same
 * process wrote earlier, because leadership, and whatever was set to last as long, may rely on the earlier one.
 */
import { isOlderVersion } from '../object/resource-version.js';
import type { LeaseElectorSettings } from './lease-elector-settings.js';
import type { LeaseRecord, StoredLease } from './lease-store.js';
import { MOST_CARRIED_MS, nextSeenRecord, type SeenRecord } from './seen-record.js';

/** The role of this process. */
type Leadership =
  | { readonly kind: 'none' }
  /** The record names this process, but it does not act as leader because it is stopping. */
  | { readonly kind: 'unused'; readonly lease: StoredLease; readonly untilMs: number }
  | { readonly kind: 'leading'; readonly lease: StoredLease; readonly untilMs: number; readonly callOffEnd: () => void };

/** Reading and writing the record: one attempt at a time. */
type Attempt =
  | { readonly kind: 'none' }
  | { readonly kind: 'scheduled'; readonly callOff: () => void }
  /** `again`: something changed meanwhile, so the next attempt follows at once. */
  | { readonly kind: 'running'; again: boolean };

/** Whether there is a record. */
type Missing =
  /** No record was ever seen. */
  | { readonly kind: 'never' }
  | { readonly kind: 'there' }
  /** A record was seen and is missing now. */
  | { readonly kind: 'since'; readonly sinceMs: number; readonly waitMs: number };

/** A write that took effect. */
interface Written {
  readonly lease: StoredLease;
  readonly begunAtMs: number;
  /** How long after it the next write is due. */
  readonly periodMs: number;
  /** The version of the written record. */
  readonly leaseDurationMs: number;
}

const NONE = { kind: 'none' } as const;

/** Attempts of many processes are spread over this part of the period: the next one follows after 1 to 1.2 periods. */
export const ATTEMPT_SPREAD = 0.2;

const THERE: Missing = { kind: 'there' };

/** Elects one leader among several processes, by a record in a store that refuses a write if another process wrote in between. */
export class LeaseElector {
  readonly #settings: LeaseElectorSettings;
  #phase: 'new' | 'running' | 'stopped' = 'new';
  #missing: Missing = { kind: 'never' };
  #leadership: Leadership = NONE;
  #attempt: Attempt = NONE;
  /** When the current attempt ends. */
  #attempted: Promise<void> = Promise.resolve();
  #seen: SeenRecord | undefined;
  /** The value in the record when it was last seen. */
  #transitions: number | undefined;
  /** Until when a record that this process wrote, or may have written, can keep others from leading. */
  #grantedUntilMs = Number.NEGATIVE_INFINITY;
  /** When the last successful write began, and how long after that the next one is due. */
  #renewed: { readonly atMs: number; readonly periodMs: number } | undefined;
  /** Since when this process could have taken the record. */
  #freeSinceMs: number | undefined;
  /** How attempts are scheduled: a watched record is not read before it can be taken. */
  #follows: 'period' | 'watch' = 'period';
  /** How to treat a record that names this process: after it resigned, the record is left to expire, until it is leader again. */
  #ownRecord: 'taken-up' | 'left' = 'taken-up';

  /** @throws RangeError if the times do not leave room for each other, or the identity is empty. */
  constructor(settings: LeaseElectorSettings) {
    const { leaseDurationMs, renewDeadlineMs, retryPeriodMs } = settings;
    if (!(leaseDurationMs > renewDeadlineMs && renewDeadlineMs > retryPeriodMs * 1.2 && retryPeriodMs > 0)) {
      throw new RangeError('leaseDurationMs must exceed renewDeadlineMs, and that 1.2 times retryPeriodMs');
    }
    if (settings.identity === '')
      throw new RangeError('identity is empty, which means that there is no leader; give the name of this process');
    this.#settings = settings;
  }

  /** True while no other process can be leader. It reads the clock, so it is correct even right after the process was frozen. */
  isLeading(): boolean {
    return this.#leadership.kind === 'leading' && this.#settings.clock.nowMs() < this.#leadership.untilMs;
  }

  /**
   * The number of this leadership, greater than that of every earlier leader; undefined if this process is not leader. A fence for effects that
   * outlive the leadership.
   */
  get term(): number | undefined {
    return this.#leadership.kind === 'leading' && this.isLeading() ? this.#leadership.lease.record.transitions : undefined;
  }

  start(): void {
    if (this.#phase !== 'new') return;
    this.#phase = 'running';
    this.#try();
  }

  /** Reads the record now, or writes it if this process is leader. Call it when the record has changed, or when its content should. */
  tryNow(): void {
    if (this.#phase !== 'running') return;
    if (this.#attempt.kind === 'running') this.#attempt.again = true;
    else this.#try();
  }

  /** Notes the record as a watch shows it: it is not read again before it can be taken. */
  observe({ record, version }: StoredLease): void {
    if (this.#phase !== 'running' || this.#leadership.kind === 'leading') return;
    this.#follows = 'watch';
    // Ignore late watch events.
    const isLate = isOlderVersion(version, this.#seen?.version ?? '');
    if (record.holder === '') {
      if (!isLate) this.#seen = undefined;
      this.tryNow();
      return;
    }
    if (record.holder === this.#settings.identity || isLate) return;
    this.#note({ record, version });
    if (this.#attempt.kind !== 'running') this.#schedule(this.#nextTryMs(this.#settings.clock.nowMs()));
  }

  /**
   * Ends leadership in favour of a process that can serve better, then takes part in the election again.
   *
   * @param finish - runs before another process may become leader. If it resolves to false, the record is left to expire.
   */
  async resign(finish: () => Promise<boolean>): Promise<void> {
    if (!this.isLeading() || this.#phase !== 'running') return;
    this.#unschedule();
    await this.#attempted;
    this.#unschedule();
    this.#ownRecord = 'left';
    await this.#giveUp(finish);
    // The record may have changed meanwhile: keep to one attempt at a time, and one timer.
    if (this.#isRunning() && this.#attempt.kind !== 'running') this.#schedule(this.#settings.retryPeriodMs);
  }

  /**
   * Stops renewing. Leadership lasts for its remaining time, and is no longer reported as begun or renewed.
   *
   * @param finish - runs while leadership lasts, before another process may become leader. If it resolves to false it failed, and the record is left
   * to expire.
   */
  async stop(finish: () => Promise<boolean> = async () => true): Promise<void> {
    this.#phase = 'stopped';
    this.#unschedule();
    await this.#attempted;
    await this.#giveUp(finish);
  }

  async #giveUp(finish: () => Promise<boolean>): Promise<void> {
    const isFinished = await finish();
    const { clock, store, onError } = this.#settings;
    const leadership = this.#leadership;
    this.#lose();
    if (!isFinished || leadership.kind === 'none' || clock.nowMs() >= leadership.untilMs) return;
    const { record, version } = leadership.lease;
    try {
      await this.#answerOf(store.write({ ...record, holder: '' }, version));
    } catch (error) {
      onError?.(error);
    }
  }

  #isRunning(): boolean {
    return this.#phase === 'running';
  }

  #schedule(delayMs: number): void {
    this.#unschedule();
    this.#attempt = { kind: 'scheduled', callOff: this.#settings.clock.after(delayMs, () => this.#try()) };
  }

  #unschedule(): void {
    if (this.#attempt.kind !== 'scheduled') return;
    this.#attempt.callOff();
    this.#attempt = NONE;
  }

  #try(): void {
    this.#unschedule();
    const attempt = { kind: 'running', again: false } as const as Extract<Attempt, { readonly kind: 'running' }>;
    this.#attempt = attempt;
    const begunAtMs = this.#settings.clock.nowMs();
    // Always settles: errors are reported.
    this.#attempted = this.#renewOrAcquire().then(() => {
      this.#attempt = NONE;
      if (this.#isRunning()) this.#schedule(attempt.again ? 0 : this.#nextTryMs(begunAtMs));
    });
  }

  /** One period after the last attempt began, however long that took; earlier if the record can be taken by then. */
  #nextTryMs(begunAtMs: number): number {
    const { clock, retryPeriodMs, random } = this.#settings;
    const wholeMs = this.#renewed !== undefined && this.#renewed.atMs >= begunAtMs ? this.#renewed.periodMs : retryPeriodMs;
    const periodMs = Math.max(0, wholeMs * (1 + ATTEMPT_SPREAD * random()) - (clock.nowMs() - begunAtMs));
    if (this.#seen === undefined || this.isLeading()) return periodMs;
    const remainingMs = this.#seen.freeAtMs - clock.nowMs();
    if (remainingMs <= 0) return periodMs;
    const takeMs = remainingMs + retryPeriodMs * 0.05 * random();
    return this.#follows === 'watch' ? takeMs : Math.min(periodMs, takeMs);
  }

  async #renewOrAcquire(): Promise<void> {
    try {
      if (this.#leadership.kind === 'leading' && this.isLeading()) await this.#renew(this.#leadership.lease);
      else await this.#acquire();
    } catch (error) {
      this.#settings.onError?.(error);
    }
  }

  async #renew({ record, version }: StoredLease): Promise<void> {
    const written = await this.#write({ ...record, leaseDurationMs: this.#nextDurationMs() }, version);
    if (written !== undefined) this.#lead(written);
    // Either another process wrote the record, or this very write took effect and its answer was lost.
    else await this.#acquire();
  }

  async #acquire(): Promise<void> {
    const stored = await this.#answerOf(this.#settings.store.read());
    if (stored === undefined) this.#missing = this.#nextMissing();
    else this.#look(stored);
    if (!this.#mayTake(stored)) {
      this.#lose();
      return;
    }
    const written = await this.#write(this.#nextRecord(stored), stored?.version);
    if (written !== undefined) this.#lead(written);
    else if (!this.isLeading()) this.#lose();
  }

  async #write(record: LeaseRecord, version: string | undefined): Promise<Written | undefined> {
    const begunAtMs = this.#settings.clock.nowMs();
    const periodMs = this.#renewPeriodMs();
    // Set before it is sent: the write may take effect even if its answer is lost.
    this.#grantedUntilMs = Math.max(this.#grantedUntilMs, begunAtMs + record.leaseDurationMs);
    const lease = await this.#answerOf(this.#settings.store.write(record, version));
    return lease && { lease, begunAtMs, periodMs, leaseDurationMs: record.leaseDurationMs };
  }

  #renewPeriodMs(): number {
    const { retryPeriodMs, renewPeriodMs } = this.#settings;
    return Math.max(retryPeriodMs, renewPeriodMs?.() ?? retryPeriodMs);
  }

  /** Long enough for renewals at the current period, and for what earlier records promised. */
  #nextDurationMs(): number {
    const { clock, leaseDurationMs, retryPeriodMs } = this.#settings;
    const forPeriodMs = leaseDurationMs + (1 + ATTEMPT_SPREAD) * (this.#renewPeriodMs() - retryPeriodMs);
    return Math.round(Math.max(forPeriodMs, this.#grantedUntilMs - clock.nowMs()));
  }

  /** Give up early enough for another attempt. A write that takes effect later is seen when the record is read. */
  async #answerOf<Answer>(answer: Promise<Answer>): Promise<Answer> {
    const { clock, renewDeadlineMs } = this.#settings;
    const limit = Promise.withResolvers<never>();
    const limitMs = renewDeadlineMs / 2;
    const callOff = clock.after(limitMs, () => limit.reject(new Error(`no answer from the Lease's store within ${limitMs} ms`)));
    try {
      return await Promise.race([answer, limit.promise]);
    } finally {
      callOff();
    }
  }

  /** Notes the current record. */
  #look({ record, version }: StoredLease): void {
    this.#missing = THERE;
    this.#transitions = record.transitions;
    if (record.holder === '' || this.#isOwn(record)) this.#seen = undefined;
    else this.#note({ record, version });
    if (!this.#isOwn(record) && !this.#hasSeenHolder()) this.#freeSinceMs ??= this.#settings.clock.nowMs();
  }

  /** @param stored - the noted record. */
  #mayTake(stored: StoredLease | undefined): boolean {
    if (stored === undefined) return this.#mayCreate();
    if (this.#isOwn(stored.record)) return true;
    const { clock, handicapMs } = this.#settings;
    // Other processes go first, for a while.
    return this.#freeSinceMs !== undefined && clock.nowMs() - this.#freeSinceMs >= (handicapMs?.() ?? 0);
  }

  #nextMissing(): Missing {
    if (this.#missing.kind !== 'there') return this.#missing;
    const { clock, leaseDurationMs } = this.#settings;
    const sinceMs = clock.nowMs();
    const { waitMs = 0, freeAtMs = sinceMs } = this.#seen ?? {};
    return {
      kind: 'since',
      sinceMs,
      waitMs: Math.max(leaseDurationMs, Math.min(Math.max(waitMs, freeAtMs - sinceMs), MOST_CARRIED_MS)),
    };
  }

  /**
   * Deleting a record by hand does not end leadership: its holder may not know yet, and may not be the one last seen here. So the leader creates it
   * again at once, and another process only after it has been missing for its duration.
   */
  #mayCreate(): boolean {
    if (this.#missing.kind !== 'since' || this.isLeading()) return true;
    return this.#settings.clock.nowMs() - this.#missing.sinceMs >= this.#missing.waitMs;
  }

  /** True if this process takes up its own record again. */
  #isOwn({ holder }: LeaseRecord): boolean {
    return holder === this.#settings.identity && this.#ownRecord === 'taken-up';
  }

  #hasSeenHolder(): boolean {
    return this.#seen !== undefined && this.#settings.clock.nowMs() < this.#seen.freeAtMs;
  }

  #note(stored: StoredLease): void {
    const { clock, leaseDurationMs } = this.#settings;
    this.#missing = THERE;
    this.#seen = nextSeenRecord(this.#seen, stored, { nowMs: clock.nowMs(), leastWaitMs: leaseDurationMs });
    if (this.#hasSeenHolder()) this.#freeSinceMs = undefined;
  }

  #nextRecord(stored: StoredLease | undefined): LeaseRecord {
    const { identity } = this.#settings;
    // A record that is created again after a deletion continues the term of the former one.
    const before = stored?.record.transitions ?? this.#transitions;
    const isNew = !this.isLeading() && before !== undefined;
    return { holder: identity, leaseDurationMs: this.#nextDurationMs(), transitions: (before ?? 0) + (isNew ? 1 : 0) };
  }

  #lead({ lease, begunAtMs, periodMs, leaseDurationMs }: Written): void {
    const { clock, onLeading, onRenewed } = this.#settings;
    const before = this.#leadership;
    const untilMs = begunAtMs + leaseDurationMs - (this.#settings.leaseDurationMs - this.#settings.renewDeadlineMs);
    this.#renewed = { atMs: begunAtMs, periodMs };
    this.#ownRecord = 'taken-up';
    this.#missing = THERE;
    this.#transitions = lease.record.transitions;
    this.#freeSinceMs = undefined;
    if (before.kind === 'leading') before.callOffEnd();
    if (!this.#isRunning()) {
      this.#leadership = before.kind === 'leading' ? { ...before, lease, untilMs } : { kind: 'unused', lease, untilMs };
      return;
    }
    if (clock.nowMs() >= untilMs) {
      // The answer came too late.
      this.#lose();
      return;
    }
    const callOffEnd = clock.after(untilMs - clock.nowMs(), () => this.#lose());
    this.#leadership = { kind: 'leading', lease, untilMs, callOffEnd };
    if (before.kind !== 'leading') onLeading();
    onRenewed?.(untilMs);
  }

  #lose(): void {
    const before = this.#leadership;
    this.#leadership = NONE;
    if (before.kind !== 'leading') return;
    before.callOffEnd();
    this.#settings.onLost();
  }
}
