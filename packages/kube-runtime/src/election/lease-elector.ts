/**
 * One leader among several processes, by a record in a store that refuses a write if another process wrote in between
 * (`coordination.k8s.io` Leases are such).
 *
 * A process believes its own clock only, and of that only how much time has passed:
 * - a leader is leader until `renewDeadlineMs` after it **began** its last successful write;
 * - another process takes over only when it has seen the same record for `leaseDurationMs`, which is longer.
 * As the record was written after the leader began to write it and seen after that, leadership has ended before it is taken. A
 * write that takes effect late is refused, as the record has changed by then; if it has not, every other process waits anew.
 *
 * A leader may renew more rarely (`renewPeriodMs`): the record then lasts longer, by as much. The duration of a record never ends before
 * that of a record which the same process wrote earlier, as leadership, and what was done for its time, may last as long as that one.
 */
import type { Clock } from '../clock/clock.js';
import { isOlderVersion } from '../object/resource-version.js';
import type { LeaseRecord, LeaseStore, StoredLease } from './lease-store.js';
import { nextSeenRecord, type SeenRecord } from './seen-record.js';

export interface LeaseElectorSettings {
  /** Of this process, and of no other nor of an earlier run of it. */
  readonly identity: string;
  readonly store: LeaseStore;
  readonly clock: Clock;
  /** How long a record must stand still before another one takes over. */
  readonly leaseDurationMs: number;
  /** How long a leader is leader without having renewed; shorter than `leaseDurationMs`. */
  readonly renewDeadlineMs: number;
  /** Between attempts; shorter than `renewDeadlineMs`. */
  readonly retryPeriodMs: number;
  /**
   * How long a leader waits after a renewal that succeeded, asked at each write. What is more than `retryPeriodMs` is added, with the spread
   * of attempts, to `leaseDurationMs` and `renewDeadlineMs`: as many attempts as without it fit in before leadership ends. Default: `retryPeriodMs`.
   */
  readonly renewPeriodMs?: () => number;
  /** 0 up to, not including, 1: attempts of many are spread over a fifth of the period. */
  readonly random: () => number;
  /** Leadership begins. What is done under it asks `isLeading` before it does anything that only the leader may. */
  readonly onLeading: () => void;
  /** Leadership lasts until `untilMs` by the clock, unless it is renewed again; also called when it begins. */
  readonly onRenewed?: (untilMs: number) => void;
  /** Leadership has ended, or ends now, before another process can have it. */
  readonly onLost: () => void;
  /** The store could not be read or written. */
  readonly onError?: (error: unknown) => void;
  /** How long this process lets others go first: above 0 while it could not do what a leader has to. Default: never. */
  readonly handicapMs?: () => number;
}

/** The times of an election. */
export type ElectionTimes = Pick<LeaseElectorSettings, 'leaseDurationMs' | 'renewDeadlineMs' | 'retryPeriodMs'>;

/** What this process is. */
type Leadership =
  | { readonly kind: 'none' }
  /** The record names this process, and nothing was begun under it, as the process is stopping. */
  | { readonly kind: 'unused'; readonly lease: StoredLease; readonly untilMs: number }
  | { readonly kind: 'leading'; readonly lease: StoredLease; readonly untilMs: number; readonly callOffEnd: () => void };

/** Reading and writing the record: one attempt at a time. */
type Attempt =
  | { readonly kind: 'none' }
  | { readonly kind: 'scheduled'; readonly callOff: () => void }
  /** `again`: there was news meanwhile, so the next one follows at once. */
  | { readonly kind: 'running'; again: boolean };

/** Whether there is a record. */
type Missing =
  /** None was ever seen. */
  | { readonly kind: 'never' }
  | { readonly kind: 'there' }
  /** There has been one. */
  | { readonly kind: 'since'; readonly sinceMs: number; readonly waitMs: number };

/** A write that took effect. */
interface Written {
  readonly lease: StoredLease;
  readonly begunAtMs: number;
  /** How long after it the next one is due. */
  readonly periodMs: number;
  /** Of the record as it was written. */
  readonly leaseDurationMs: number;
}

const NONE = { kind: 'none' } as const;
/** Attempts of many processes are spread over so much of the period: one follows another after 1 to 1.2 periods. */
export const ATTEMPT_SPREAD = 0.2;
const THERE: Missing = { kind: 'there' };

export class LeaseElector {
  readonly #settings: LeaseElectorSettings;
  #phase: 'new' | 'running' | 'stopped' = 'new';
  #missing: Missing = { kind: 'never' };
  #leadership: Leadership = NONE;
  #attempt: Attempt = NONE;
  /** When the attempt that runs ends. */
  #attempted: Promise<void> = Promise.resolve();
  #seen: SeenRecord | undefined;
  /** As the record had it when it was last seen. */
  #transitions: number | undefined;
  /** Until when a record that this process wrote, or may have written, may keep others away. */
  #grantedUntilMs = Number.NEGATIVE_INFINITY;
  /** When the last write that succeeded began, and how long after that the next one is due. */
  #renewed: { readonly atMs: number; readonly periodMs: number } | undefined;
  /** Since when the record could be taken. */
  #freeSinceMs: number | undefined;
  /** How attempts follow each other: a record that is watched is not read before it can be taken. */
  #follows: 'period' | 'watch' = 'period';
  /** What becomes of a record that names this process: after it resigned it is left to expire, until it is leader again. */
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

  /** True while no other process can be leader. Also right after the process was frozen: it asks the clock. */
  isLeading(): boolean {
    return this.#leadership.kind === 'leading' && this.#settings.clock.nowMs() < this.#leadership.untilMs;
  }

  /** The number of this leadership, greater than that of every leader before; undefined: not leader. A fence for what outlives it. */
  get term(): number | undefined {
    return this.#leadership.kind === 'leading' && this.isLeading() ? this.#leadership.lease.record.transitions : undefined;
  }

  start(): void {
    if (this.#phase !== 'new') return;
    this.#phase = 'running';
    this.#try();
  }

  /** Reads the record now, or writes it if this process is leader: it was seen to change, or there is something to write into it. */
  tryNow(): void {
    if (this.#phase !== 'running') return;
    if (this.#attempt.kind === 'running') this.#attempt.again = true;
    else this.#try();
  }

  /** The record is watched, and this is how it is now: it is not read again before it can be taken. */
  observe({ record, version }: StoredLease): void {
    if (this.#phase !== 'running' || this.#leadership.kind === 'leading') return;
    this.#follows = 'watch';
    // What a watch brings late is of no use.
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
   * Ends leadership in favour of a process that can do better, and takes part in the election again.
   *
   * @param finish - what has to be over before another process may be leader. False: the record is left to expire.
   */
  async resign(finish: () => Promise<boolean>): Promise<void> {
    if (!this.isLeading() || this.#phase !== 'running') return;
    this.#unschedule();
    await this.#attempted;
    this.#unschedule();
    this.#ownRecord = 'left';
    await this.#giveUp(finish);
    // The record may have been seen to change meanwhile: one attempt at a time, and one timer.
    if (this.#isRunning() && this.#attempt.kind !== 'running') this.#schedule(this.#settings.retryPeriodMs);
  }

  /**
   * Renews no more. Leadership lasts for what is left of it, and is not reported as begun or renewed any more.
   *
   * @param finish - what has to be over before another process may be leader; done while leadership lasts. False: it did not end as
   *   it should, so the record is left to expire.
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
    // Settles always: what is thrown is reported.
    this.#attempted = this.#renewOrAcquire().then(() => {
      this.#attempt = NONE;
      if (this.#isRunning()) this.#schedule(attempt.again ? 0 : this.#nextTryMs(begunAtMs));
    });
  }

  /** A period after the last attempt began, however long that took; sooner where the record can be taken by then. */
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
    // Before it is sent: it may take effect although its answer is lost.
    this.#grantedUntilMs = Math.max(this.#grantedUntilMs, begunAtMs + record.leaseDurationMs);
    const lease = await this.#answerOf(this.#settings.store.write(record, version));
    return lease && { lease, begunAtMs, periodMs, leaseDurationMs: record.leaseDurationMs };
  }

  #renewPeriodMs(): number {
    const { retryPeriodMs, renewPeriodMs } = this.#settings;
    return Math.max(retryPeriodMs, renewPeriodMs?.() ?? retryPeriodMs);
  }

  /** Long enough for renewals at the period of now, and for what earlier records allowed. */
  #nextDurationMs(): number {
    const { clock, leaseDurationMs, retryPeriodMs } = this.#settings;
    const forPeriodMs = leaseDurationMs + (1 + ATTEMPT_SPREAD) * (this.#renewPeriodMs() - retryPeriodMs);
    return Math.round(Math.max(forPeriodMs, this.#grantedUntilMs - clock.nowMs()));
  }

  /** Not waited for so long that there is no time for another attempt. What takes effect later is met with when the record is read. */
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

  /** Notes what the record is now. */
  #look({ record, version }: StoredLease): void {
    this.#missing = THERE;
    this.#transitions = record.transitions;
    if (record.holder === '' || this.#isOwn(record)) this.#seen = undefined;
    else this.#note({ record, version });
    if (this.#isOwn(record)) return;
    this.#freeSinceMs = this.#hasSeenHolder() ? undefined : (this.#freeSinceMs ?? this.#settings.clock.nowMs());
  }

  /** @param stored - as it was noted. */
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
    return { kind: 'since', sinceMs, waitMs: Math.max(leaseDurationMs, waitMs, freeAtMs - sinceMs) };
  }

  /**
   * A record that was deleted by hand ends no leadership: its holder may not know yet, and need not be the one that was seen here last. So the
   * leader creates it again at once, and another process when it has been missing for as long as it lasts.
   */
  #mayCreate(): boolean {
    if (this.#missing.kind !== 'since' || this.isLeading()) return true;
    return this.#settings.clock.nowMs() - this.#missing.sinceMs >= this.#missing.waitMs;
  }

  /** True for a record of this process that is taken up again. */
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
  }

  #nextRecord(stored: StoredLease | undefined): LeaseRecord {
    const { identity } = this.#settings;
    // A record that was deleted and is created again goes on where the one before was.
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
      // The answer came too late to be of use.
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
