/**
 * One leader among several processes, by a record in a store that refuses a write if another process wrote in between
 * (`coordination.k8s.io` Leases are such).
 *
 * A process believes its own clock only, and of that only how much time has passed:
 * - a leader is leader until `renewDeadlineMs` after it **began** its last successful write;
 * - another process takes over only when it has seen the same record for `leaseDurationMs`, which is longer.
 * As the record was written after the leader began to write it and seen after that, leadership has ended before it is taken. A
 * write that takes effect late is refused, as the record has changed by then; if it has not, every other process waits anew.
 */
import type { Clock } from '../clock/clock.js';
import { isOlderVersion } from '../object/resource-version.js';

/** The content of the record. Times of day are in the store's own record; they are for people. */
export interface LeaseRecord {
  /** Empty: released. */
  readonly holder: string;
  readonly leaseDurationMs: number;
  /** How often leadership changed hands. */
  readonly transitions: number;
}

export interface StoredLease {
  readonly record: LeaseRecord;
  /** Differs after every write. */
  readonly version: string;
}

/** Where the record is. What goes wrong on the way there is thrown, and tried again; what takes more than half of `renewDeadlineMs`, too. */
export interface LeaseStore {
  /** Undefined if there is none yet. */
  readonly read: () => Promise<StoredLease | undefined>;
  /** Writes if the record is still at `version` (undefined: if there is none); undefined if it is not. */
  readonly write: (record: LeaseRecord, version: string | undefined) => Promise<StoredLease | undefined>;
}

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

const NONE = { kind: 'none' } as const;
const THERE: Missing = { kind: 'there' };

export class LeaseElector {
  readonly #settings: LeaseElectorSettings;
  #phase: 'new' | 'running' | 'stopped' = 'new';
  #missing: Missing = { kind: 'never' };
  #leadership: Leadership = NONE;
  #attempt: Attempt = NONE;
  /** When the attempt that runs ends. */
  #attempted: Promise<void> = Promise.resolve();
  /** The record of another process, since when it has not changed, and how long it must not. */
  #seen: { readonly version: string; readonly sinceMs: number; readonly waitMs: number } | undefined;
  /** As the record had it when it was last seen. */
  #transitions: number | undefined;
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
    if (record.holder === '') {
      this.tryNow();
      return;
    }
    // What a watch brings late is of no use.
    if (record.holder === this.#settings.identity || isOlderVersion(version, this.#seen?.version ?? '')) return;
    this.#note(record, version);
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
    const periodMs = Math.max(0, retryPeriodMs * (1 + 0.2 * random()) - (clock.nowMs() - begunAtMs));
    if (this.#seen === undefined || this.isLeading()) return periodMs;
    const remainingMs = this.#seen.sinceMs + this.#seen.waitMs - clock.nowMs();
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

  async #renew(lease: StoredLease): Promise<void> {
    const begunAtMs = this.#settings.clock.nowMs();
    const written = await this.#answerOf(this.#settings.store.write(lease.record, lease.version));
    if (written !== undefined) this.#lead(written, begunAtMs);
    // Either another process wrote the record, or this very write took effect and its answer was lost.
    else await this.#acquire();
  }

  async #acquire(): Promise<void> {
    const { store, clock } = this.#settings;
    const stored = await this.#answerOf(store.read());
    if (stored === undefined) this.#missing = this.#nextMissing();
    else this.#look(stored);
    if (!this.#mayTake(stored)) {
      this.#lose();
      return;
    }
    const begunAtMs = clock.nowMs();
    const written = await this.#answerOf(store.write(this.#nextRecord(stored), stored?.version));
    if (written !== undefined) this.#lead(written, begunAtMs);
    else if (!this.isLeading()) this.#lose();
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
    else this.#note(record, version);
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
    return { kind: 'since', sinceMs: clock.nowMs(), waitMs: Math.max(leaseDurationMs, this.#seen?.waitMs ?? 0) };
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
    return this.#seen !== undefined && this.#settings.clock.nowMs() - this.#seen.sinceMs < this.#seen.waitMs;
  }

  #note(record: LeaseRecord, version: string): void {
    const { clock, leaseDurationMs } = this.#settings;
    this.#missing = THERE;
    if (this.#seen?.version === version) return;
    this.#seen = { version, sinceMs: clock.nowMs(), waitMs: Math.max(record.leaseDurationMs, leaseDurationMs) };
  }

  #nextRecord(stored: StoredLease | undefined): LeaseRecord {
    const { identity, leaseDurationMs } = this.#settings;
    // A record that was deleted and is created again goes on where the one before was.
    const before = stored?.record.transitions ?? this.#transitions;
    const isNew = !this.isLeading() && before !== undefined;
    return { holder: identity, leaseDurationMs, transitions: (before ?? 0) + (isNew ? 1 : 0) };
  }

  #lead(lease: StoredLease, begunAtMs: number): void {
    const { clock, renewDeadlineMs, onLeading, onRenewed } = this.#settings;
    const before = this.#leadership;
    const untilMs = begunAtMs + renewDeadlineMs;
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
