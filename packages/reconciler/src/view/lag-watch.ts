import { type Clock, isOlderVersion } from '@vmdhcp/kube-runtime';
import type { PoolView } from './pool-views.js';

/** A leader that uses an old version of a pool for this long does not receive changes. */
const LAGGING_AFTER_MS = 10_000;

/** A version that the leader is expected to receive. */
interface Expectation {
  readonly version: string;
  readonly sinceMs: number;
}

/** Tracks whether leaders receive the changes of their pools. */
export class LagWatch {
  readonly #clock: Clock;
  readonly #expectations = new Map<string, Expectation>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Notes a changed pool or report. @param reported - the version that the leader uses; undefined if there is none. */
  note({ key, object }: Pick<PoolView, 'key' | 'object'>, reported: string | undefined): void {
    if (this.#awaited(key, reported) !== undefined) return;
    this.#expectations.set(key, { version: object.metadata.resourceVersion ?? '', sinceMs: this.#clock.nowMs() });
  }

  forget(key: string): void {
    this.#expectations.delete(key);
  }

  /** True if the leader has used an older version for too long. */
  isLagging(key: string, reported: string | undefined): boolean {
    const awaited = this.#awaited(key, reported);
    return awaited !== undefined && this.#clock.nowMs() - awaited.sinceMs >= LAGGING_AFTER_MS;
  }

  #awaited(key: string, reported: string | undefined): Expectation | undefined {
    const expected = this.#expectations.get(key);
    return reported !== undefined && expected !== undefined && isOlderVersion(reported, expected.version) ? expected : undefined;
  }
}
