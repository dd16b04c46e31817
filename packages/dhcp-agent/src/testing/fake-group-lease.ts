import type { Clock, LeaseRecord, LeaseStore, StoredLease } from '@vmdhcp/kube-runtime';
import type { GroupLease, LeaseContent, SeenLease } from '../ports.js';
import type { FakeProcess } from './fake-process.js';

type Annotations = Readonly<Record<string, string>>;

/** What becomes of one request. */
export interface RequestFate {
  /** Until the server has it. */
  readonly thereMs: number;
  /** From there to the answer. */
  readonly backMs: number;
  /** `request`: it never arrives. `answer`: it takes effect, and its sender never learns of it. */
  readonly lost?: 'request' | 'answer';
}

const CUT_OFF_RETRY_MS = 500;
const QUICK: RequestFate = { thereMs: 2, backMs: 2 };

/** How a replica reaches the Lease. */
export interface LeasePath {
  readonly process: FakeProcess;
  /** After so long a request is given up; it may take effect later. */
  readonly timeoutMs: number;
  /** Asked for each request. Default: a few milliseconds. */
  readonly fate?: () => RequestFate;
  /** Asked for each change: until the watch tells of it. Default: 2 ms. */
  readonly watchLagMs?: () => number;
  /** True: nothing reaches the server, and the watch reports nothing; changes are reported afterwards. */
  readonly isCutOff?: () => boolean;
}

/** A Lease in an API server, which several replicas reach over ways of their own. */
export class FakeGroupLease {
  /** The duration of a Lease that another client than an agent creates: as long as an earlier one may last. */
  createdMs = 3_000;
  readonly #clock: Clock;
  #stored: SeenLease | undefined;
  #version = 0;
  readonly #watchers = new Set<() => void>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** As the server has it. */
  get stored(): SeenLease | undefined {
    return this.#stored;
  }

  /** Another client deletes it. */
  delete(): void {
    this.#stored = undefined;
    for (const tell of this.#watchers) tell();
  }

  /**
   * Another client sets annotations; undefined removes one. A Lease that does not exist is created.
   * @param holder - of a Lease that is created: whose leadership may not be over. Default: none.
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
    // A process that was frozen in the middle of a call sends when it wakes.
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

  /** Reports in order: a change is not reported before those that came before it. */
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
      // A watch that was interrupted begins anew, with what there is then.
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
