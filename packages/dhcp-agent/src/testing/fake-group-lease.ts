import type { Clock, LeaseRecord, LeaseStore, StoredLease } from '@vmdhcp/kube-runtime';
import type { GroupLease, LeaseContent, SeenLease } from '../ports.js';
import type { FakeProcess } from './fake-process.js';

type Annotations = Readonly<Record<string, string>>;

/** The fate of one request. */
export interface RequestFate {
  /** The time until the server has it. */
  readonly thereMs: number;
  /** The time from there to the answer. */
  readonly backMs: number;
  /** `request`: it never arrives. `answer`: it takes effect, and its sender never learns of it. */
  readonly lost?: 'request' | 'answer';
}

const CUT_OFF_RETRY_MS = 500;
const QUICK: RequestFate = { thereMs: 2, backMs: 2 };

/** The connection of a replica to the Lease. */
export interface LeasePath {
  readonly process: FakeProcess;
  /** A request times out after this; it may take effect later. */
  readonly timeoutMs: number;
  /** Called for each request. Default: a few milliseconds. */
  readonly fate?: () => RequestFate;
  /** Called for each change: the delay until the watch reports it. Default: 2 ms. */
  readonly watchLagMs?: () => number;
  /** True while nothing reaches the server, and the watch reports nothing; changes are reported afterwards. */
  readonly isCutOff?: () => boolean;
}

/** A Lease in an API server, which several replicas reach over separate connections. */
export class FakeGroupLease {
  /** The duration of a Lease that a client other than an agent creates: as long as an earlier one may last. */
  createdMs = 3_000;
  readonly #clock: Clock;
  #stored: SeenLease | undefined;
  #version = 0;
  readonly #watchers = new Set<() => void>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The Lease on the server. */
  get stored(): SeenLease | undefined {
    return this.#stored;
  }

  /** Another client deletes it. */
  delete(): void {
    this.#stored = undefined;
    for (const tell of this.#watchers) tell();
  }

  /**
   * Sets annotations as another client; undefined removes one. A missing Lease is created.
   * @param holder - the holder of a new Lease, whose leadership may not be over. Default: none.
   */
  annotate(changes: Readonly<Record<string, string | undefined>>, holder = ''): void {
    const { stored, annotations } = this.#stored ?? { stored: undefined, annotations: {} };
    const record = stored?.record ?? { holder, leaseDurationMs: this.createdMs, transitions: 0 };
    const changed = Object.entries({ ...annotations, ...changes }).filter(([, value]) => value !== undefined);
    this.#put(record, Object.fromEntries(changed) as Annotations);
  }

  /** The port of one replica. */
  reachedBy(path: LeasePath): GroupLease {
    return { store: (content) => this.#store(path, content), watch: (onSeen) => this.#watch(path, onSeen) };
  }

  #put(record: LeaseRecord, annotations: Annotations): SeenLease {
    this.#stored = { stored: { record, version: String(++this.#version) }, annotations };
    for (const tell of this.#watchers) tell();
    return this.#stored;
  }

  #store(path: LeasePath, content: LeaseContent): LeaseStore {
    const noted = async (answer: Promise<SeenLease | undefined>): Promise<StoredLease | undefined> => {
      const seen = await answer;
      if (seen !== undefined) content.onAnnotations(seen.annotations, seen.stored.version);
      return seen?.stored;
    };
    return {
      read: () => noted(this.#request(path, () => this.#stored)),
      write: (record, version) => {
        const given = content.annotations(version === undefined);
        return noted(this.#request(path, () => this.#write(record, version, given)));
      },
    };
  }

  #write(record: LeaseRecord, version: string | undefined, given: Annotations): SeenLease | undefined {
    if (this.#stored?.stored.version !== version) return undefined;
    return this.#put(record, { ...this.#stored?.annotations, ...given });
  }

  #request<Answer>(path: LeasePath, act: () => Answer): Promise<Answer> {
    const { process, timeoutMs, isCutOff = () => false, fate = () => QUICK } = path;
    const { thereMs, backMs, lost } = fate();
    const isLost = isCutOff() || lost === 'request';
    // A process that was frozen during a call sends when it wakes.
    const sentMs = process.timeMs - this.#clock.nowMs();
    const answer = new Promise<Answer>((resolve, reject) => {
      this.#clock.after(sentMs + timeoutMs, () => reject(new Error('the request timed out')));
      if (isLost) return;
      this.#clock.after(sentMs + thereMs, () => {
        const outcome = act();
        if (lost !== 'answer' && !isCutOff()) this.#clock.after(backMs, () => resolve(outcome));
      });
    });
    return process.settled(answer);
  }

  /** Reports changes in order. */
  #watch(
    { process, watchLagMs = () => 2, isCutOff = () => false }: LeasePath,
    onSeen: (lease: SeenLease | undefined) => void,
  ): () => void {
    let lastAtMs = 0;
    let isEnded = false;
    const tell = () => {
      const seen = this.#stored;
      lastAtMs = Math.max(lastAtMs, this.#clock.nowMs() + watchLagMs());
      this.#clock.after(lastAtMs - this.#clock.nowMs(), () => tellNow(seen));
    };
    const tellNow = (seen: SeenLease | undefined) => {
      if (isEnded) return;
      // An interrupted watch begins anew with the current state.
      if (isCutOff()) this.#clock.after(CUT_OFF_RETRY_MS, () => tellNow(this.#stored));
      else
        process.deliver(() => {
          if (!isEnded) onSeen(seen);
        });
    };
    this.#watchers.add(tell);
    if (this.#stored !== undefined) tell();
    return () => {
      isEnded = true;
      this.#watchers.delete(tell);
    };
  }
}
