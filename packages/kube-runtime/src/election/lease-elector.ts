/**
 * One leader among several processes, by a record in a store that refuses a write if somebody else wrote in between
 * (`coordination.k8s.io` Leases are such).
 *
 * Nobody's clock is believed but one's own, and of that only how much time has passed:
 * - a leader holds the lead until `renewDeadlineMs` after it **began** its last successful write;
 * - another one takes over only when it has seen the same record for `leaseDurationMs`, which is longer.
 * As the record was written after the leader began to write it and seen after that, the lead has ended before it is taken. A
 * write that takes effect late is refused, as the record has changed by then; if it has not, everybody waits anew.
 */
import type { Clock } from '../clock/clock.js';
import { isOlderVersion } from '../object/resource-version.js';

/** What the record says. Times of day stand in the store's own record; they are for people. */
export interface LeaseRecord {
  /** Empty: released. */
  readonly holder: string;
  readonly leaseDurationMs: number;
  /** How often the lead changed hands. */
  readonly transitions: number;
}

export interface StoredLease {
  readonly record: LeaseRecord;
  /** Differs after every write. */
  readonly version: string;
}

/** Where the record is. What goes wrong on the way there is thrown, and tried again. */
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
  /** How long a leader leads without having renewed; shorter than `leaseDurationMs`. */
  readonly renewDeadlineMs: number;
  /** Between attempts; shorter than `renewDeadlineMs`. */
  readonly retryPeriodMs: number;
  /** 0 up to, not including, 1: attempts of many are spread over a fifth of the period. */
  readonly random: () => number;
  /** The lead begins. What is done under it asks `isLeading` before it does anything that only the leader may. */
  readonly onLeading: () => void;
  /** The lead lasts `remainingMs` more from now, unless it is renewed again; also called when it begins. */
  readonly onRenewed?: (untilMs: number) => void;
  /** The lead has ended, or ends now, before anybody else can have it. */
  readonly onLost: () => void;
  /** The store could not be read or written. */
  readonly onError?: (error: unknown) => void;
  /** How long this process lets others go first: above 0 while it could not do what a leader has to. Default: never. */
  readonly handicapMs?: () => number;
}

/** The times of an election. */
export type ElectionTimes = Pick<LeaseElectorSettings, 'leaseDurationMs' | 'renewDeadlineMs' | 'retryPeriodMs'>;

export class LeaseElector {
  readonly #settings: LeaseElectorSettings;
  #seen: { readonly version: string; readonly sinceMs: number; readonly waitMs: number } | undefined;
  #held: StoredLease | undefined;
  /** Until when the lead lasts; in the past: there is none. */
  #leadsUntilMs = Number.NEGATIVE_INFINITY;
  #leading = false;
  #callOffTry: () => void = () => undefined;
  #callOffEnd: () => void = () => undefined;
  #trying: Promise<void> = Promise.resolve();
  #started = false;
  /** Since when the record has been there for the taking. */
  #freeSinceMs: number | undefined;
  /** Somebody tells when the record changes: it need not be asked for. */
  #isFollowed = false;
  /** There has been a record. */
  #hasExisted = false;
  /** Since when there is none any more. */
  #missingSinceMs: number | undefined;
  #isTrying = false;
  /** The lead was left to others, until it is taken again. */
  #hasResigned = false;
  /** Somebody had news while the record was being looked at. */
  #tryAgain = false;
  #stopped = false;

  /** @throws RangeError if the times do not leave room for each other. */
  constructor(settings: LeaseElectorSettings) {
    const { leaseDurationMs, renewDeadlineMs, retryPeriodMs } = settings;
    if (!(leaseDurationMs > renewDeadlineMs && renewDeadlineMs > retryPeriodMs * 1.2 && retryPeriodMs > 0)) {
      throw new RangeError('leaseDurationMs must exceed renewDeadlineMs, and that 1.2 times retryPeriodMs');
    }
    this.#settings = settings;
  }

  /** True while nobody else can have the lead. Also right after the process was frozen: it asks the clock. */
  isLeading(): boolean {
    return this.#leading && this.#settings.clock.nowMs() < this.#leadsUntilMs;
  }

  start(): void {
    this.#started = true;
    this.#try();
  }

  /** Looks at the record now, or writes it if this process leads: somebody has seen it change, or has something to tell. */
  tryNow(): void {
    if (!this.#started || this.#stopped) return;
    if (this.#isTrying) {
      this.#tryAgain = true;
      return;
    }
    this.#callOffTry();
    this.#try();
  }

  /** Somebody watches the record, and this is how it is now: it is not read again before it can be taken. */
  observe({ record, version }: StoredLease): void {
    if (!this.#started || this.#stopped || this.#leading) return;
    this.#isFollowed = true;
    if (record.holder === '') {
      this.tryNow();
      return;
    }
    // What a watch brings late is of no use.
    if (record.holder === this.#settings.identity || isOlderVersion(version, this.#seen?.version ?? '')) return;
    this.#note(record, version);
    if (this.#isTrying) return;
    this.#callOffTry();
    this.#callOffTry = this.#settings.clock.after(this.#nextTryMs(this.#settings.clock.nowMs()), () => this.#try());
  }

  /**
   * Ends the lead for somebody who can do better, and takes part in the election again.
   *
   * @param finish - what has to be over before another one may lead. False: the record is left to run out.
   */
  async resign(finish: () => Promise<boolean>): Promise<void> {
    if (!this.isLeading() || this.#stopped) return;
    this.#callOffTry();
    await this.#trying;
    this.#callOffTry();
    this.#hasResigned = true;
    await this.#giveUp(finish);
    // Who watches may have had it looked at meanwhile: one attempt at a time, and one timer.
    if (this.#stopped || this.#isTrying) return;
    this.#callOffTry();
    this.#callOffTry = this.#settings.clock.after(this.#settings.retryPeriodMs, () => this.#try());
  }

  /**
   * Renews no more. The lead lasts for what is left of it, and is not told as begun or renewed any more.
   *
   * @param finish - what has to be over before another one may lead; done while the lead lasts. False: it did not end as it
   *   should, so the record is left to run out.
   */
  async stop(finish: () => Promise<boolean> = async () => true): Promise<void> {
    this.#stopped = true;
    this.#callOffTry();
    await this.#trying;
    await this.#giveUp(finish);
  }

  async #giveUp(finish: () => Promise<boolean>): Promise<void> {
    const isFinished = await finish();
    const { identity, clock } = this.#settings;
    const isHeld = this.#held?.record.holder === identity && clock.nowMs() < this.#leadsUntilMs;
    const held = isHeld && isFinished ? this.#held : undefined;
    this.#lose();
    if (held === undefined) return;
    try {
      await this.#settings.store.write({ ...held.record, holder: '' }, held.version);
    } catch (error) {
      this.#settings.onError?.(error);
    }
  }

  #try(): void {
    this.#isTrying = true;
    const begunAtMs = this.#settings.clock.nowMs();
    // Settles always: what is thrown is told.
    this.#trying = this.#attempt().then(() => {
      this.#isTrying = false;
      if (!this.#stopped) this.#callOffTry = this.#settings.clock.after(this.#nextTryMs(begunAtMs), () => this.#try());
    });
  }

  /** A turn after the last one began, however long that took; sooner where the record can be taken, or there is news. */
  #nextTryMs(begunAtMs: number): number {
    const { clock, retryPeriodMs, random } = this.#settings;
    const turnMs = Math.max(0, retryPeriodMs * (1 + 0.2 * random()) - (clock.nowMs() - begunAtMs));
    if (this.#tryAgain) {
      this.#tryAgain = false;
      return 0;
    }
    if (this.#seen === undefined || this.isLeading()) return turnMs;
    const remainingMs = this.#seen.sinceMs + this.#seen.waitMs - clock.nowMs();
    if (remainingMs <= 0) return turnMs;
    const takeMs = remainingMs + retryPeriodMs * 0.05 * random();
    return this.#isFollowed ? takeMs : Math.min(turnMs, takeMs);
  }

  async #attempt(): Promise<void> {
    try {
      if (this.isLeading() && this.#held !== undefined) await this.#renew(this.#held);
      else await this.#acquire();
    } catch (error) {
      this.#settings.onError?.(error);
    }
  }

  async #renew(held: StoredLease): Promise<void> {
    const begunAtMs = this.#settings.clock.nowMs();
    const written = await this.#settings.store.write(held.record, held.version);
    if (written !== undefined) this.#lead(written, begunAtMs);
    // Somebody wrote: either the record is another's now, or this very write took effect and its answer was lost.
    else await this.#acquire();
  }

  async #acquire(): Promise<void> {
    const { store, identity, clock } = this.#settings;
    const stored = await store.read();
    if (stored !== undefined) this.#noteExistence();
    if (stored === undefined ? !this.#mayCreate() : !this.#mayTake(stored)) {
      this.#lose();
      return;
    }
    const begunAtMs = clock.nowMs();
    const written = await store.write(this.#nextRecord(stored), stored?.version);
    if (written !== undefined) this.#lead(written, begunAtMs);
    else if (this.#held?.record.holder === identity && !this.isLeading()) this.#lose();
  }

  #mayTake({ record, version }: StoredLease): boolean {
    const { identity, clock } = this.#settings;
    // One's own record is taken up again, unless it was left to run out.
    if (record.holder === identity && !this.#hasResigned) {
      this.#seen = undefined;
      return true;
    }
    if (record.holder === '') this.#seen = undefined;
    else if (this.#seen?.version !== version) this.#note(record, version);
    const isFree = this.#seen === undefined || clock.nowMs() - this.#seen.sinceMs >= this.#seen.waitMs;
    return isFree ? this.#isMyTurn() : this.#notFree();
  }

  #notFree(): false {
    this.#freeSinceMs = undefined;
    return false;
  }

  /** Others go first, for a while. */
  #isMyTurn(): boolean {
    const { clock, handicapMs } = this.#settings;
    this.#freeSinceMs ??= clock.nowMs();
    return clock.nowMs() - this.#freeSinceMs >= (handicapMs?.() ?? 0);
  }

  #noteExistence(): void {
    this.#hasExisted = true;
    this.#missingSinceMs = undefined;
  }

  #note(record: LeaseRecord, version: string): void {
    const { clock, leaseDurationMs } = this.#settings;
    this.#noteExistence();
    if (this.#seen?.version === version) return;
    this.#seen = { version, sinceMs: clock.nowMs(), waitMs: Math.max(record.leaseDurationMs, leaseDurationMs) };
  }

  /**
   * A record that was deleted by hand ends no leadership: its holder may not know yet, and need not be the one that was seen here last. So it is
   * created again by the leader at once, and by another process only after it has been missing for as long as a record lasts.
   */
  #mayCreate(): boolean {
    const { clock, leaseDurationMs } = this.#settings;
    if (!this.#hasExisted || this.isLeading()) return true;
    this.#missingSinceMs ??= clock.nowMs();
    return clock.nowMs() - this.#missingSinceMs >= Math.max(leaseDurationMs, this.#seen?.waitMs ?? 0);
  }

  #nextRecord(stored: StoredLease | undefined): LeaseRecord {
    const { identity, leaseDurationMs } = this.#settings;
    const before = stored?.record;
    const changesHands = before !== undefined && before.holder !== identity;
    return { holder: identity, leaseDurationMs, transitions: (before?.transitions ?? 0) + (changesHands ? 1 : 0) };
  }

  #lead(written: StoredLease, begunAtMs: number): void {
    const { clock, renewDeadlineMs, onLeading } = this.#settings;
    this.#held = written;
    this.#noteExistence();
    this.#hasResigned = false;
    this.#freeSinceMs = undefined;
    this.#leadsUntilMs = begunAtMs + renewDeadlineMs;
    this.#callOffEnd();
    if (this.#stopped) return;
    if (clock.nowMs() >= this.#leadsUntilMs) {
      // The answer came too late to be of use.
      this.#lose();
      return;
    }
    this.#callOffEnd = clock.after(this.#leadsUntilMs - clock.nowMs(), () => this.#lose());
    if (!this.#leading) {
      this.#leading = true;
      onLeading();
    }
    this.#settings.onRenewed?.(this.#leadsUntilMs);
  }

  #lose(): void {
    this.#callOffEnd();
    this.#leadsUntilMs = Number.NEGATIVE_INFINITY;
    if (!this.#leading) return;
    this.#leading = false;
    this.#settings.onLost();
  }
}
