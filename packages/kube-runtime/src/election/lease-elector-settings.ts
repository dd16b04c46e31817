/** What a leader election needs, and its times. */
import type { Clock } from '../clock/clock.js';
import type { LeaseStore } from './lease-store.js';

export interface LeaseElectorSettings {
  /** Unique to this process: neither another process nor an earlier run of it may have it. */
  readonly identity: string;
  readonly store: LeaseStore;
  readonly clock: Clock;
  /** How long a record must stay unchanged before another process takes over. */
  readonly leaseDurationMs: number;
  /** How long a leader stays leader without a renewal; shorter than `leaseDurationMs`. */
  readonly renewDeadlineMs: number;
  /** Between attempts; shorter than `renewDeadlineMs`. */
  readonly retryPeriodMs: number;
  /**
   * Returns how long a leader waits after a successful renewal; called at each write. Any time beyond `retryPeriodMs` is added, with the spread of
   * attempts, to `leaseDurationMs` and `renewDeadlineMs`, so that the same number of attempts fits in before leadership ends. Default:
   * `retryPeriodMs`.
   */
  readonly renewPeriodMs?: () => number;
  /** 0 up to, not including, 1: attempts of many are spread over a fifth of the period. */
  readonly random: () => number;
  /** Leadership begins. Check `isLeading` before everything that only the leader may do. */
  readonly onLeading: () => void;
  /** Leadership lasts until `untilMs` by the clock, unless it is renewed again; also called when it begins. */
  readonly onRenewed?: (untilMs: number) => void;
  /** Leadership has ended, or ends now, before another process can become leader. */
  readonly onLost: () => void;
  /** The store could not be read or written. */
  readonly onError?: (error: unknown) => void;
  /** How long this process lets others go first: above 0 while it could not do the work of a leader. Default: 0. */
  readonly handicapMs?: () => number;
}

/** The times of an election. */
export type ElectionTimes = Pick<LeaseElectorSettings, 'leaseDurationMs' | 'renewDeadlineMs' | 'retryPeriodMs'>;
