import { type Clock, isOlderVersion } from '@vmdhcp/kube-runtime';
import type { PoolView } from './cluster-view.js';

/** A leader that goes by an old version of a pool for so long does not hear of changes. */
const LAGGING_AFTER_MS = 10_000;

/** A version that the leader is expected to hear of. */
interface Expectation {
  readonly version: string;
  readonly sinceMs: number;
}

/** Whether leaders see the changes of pools. */
export class LagWatch {
  readonly #clock: Clock;
  readonly #expectations = new Map<string, Expectation>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** True if the leader has not seen that version of the pool for too long. @param reported - the version it goes by. */
  isLagging({ key, object }: Pick<PoolView, 'key' | 'object'>, reported: string | undefined): boolean {
    const nowMs = this.#clock.nowMs();
    const version = object.metadata.resourceVersion ?? '';
    const expected = this.#expectations.get(key);
    if (reported === undefined || expected === undefined || !isOlderVersion(reported, expected.version)) {
      this.#expectations.set(key, { version, sinceMs: nowMs });
      return false;
    }
    return nowMs - expected.sinceMs >= LAGGING_AFTER_MS;
  }
}
