/**
 * Keys that wait to be reconciled, mostly `namespace/name`. A key is added when something changes, and the reconciler looks at the current state when
 * its turn comes. So no change is lost however often keys are added, and no change is reconciled twice:
 *
 * - a key that waits is not added again;
 * - a key is never reconciled twice at once: added meanwhile, it is reconciled once more afterwards;
 * - a failed key is retried, later each time; if it is added meanwhile it does not wait, and its failures count as one;
 * - keys of a first list or a resync (`background`) let every change go first;
 * - a reconciler that hangs loses its slot after a deadline, so that other keys go on;
 * - a key can rest after it was reconciled (`restMs`), so that changes gather without a reconciler that waits in its slot.
 */
import { askedDelayMs, type BackOffSettings, backOffMs } from '../clock/back-off.js';
import type { Clock } from '../clock/clock.js';
import { WaitingKeys } from './waiting-keys.js';

/** The outcome of a reconcile. */
export type ReconcileResult =
  /** The object is as it should be. */
  | { readonly kind: 'settled' }
  /** The object is as it should be for now: look again after this time. */
  | { readonly kind: 'recheck'; readonly afterMs: number }
  /** Something did not work that may work later. */
  | { readonly kind: 'retry'; readonly reason: string }
  /** It will not work before something changes; reported once, and retried only if a time is given. */
  | { readonly kind: 'terminal'; readonly reason: string; readonly recheckAfterMs?: number };

/** A completed reconcile. */
export interface Reconciled {
  readonly result: ReconcileResult;
  /** The time from when the key was added until its turn came. */
  readonly waitedMs: number;
  readonly durationMs: number;
}

/** How a queue works on its keys: how many at once, when again, and until when. */
export interface KeyedQueueSettings {
  /** Reconciles one key. An error counts as `retry`. @param signal - aborted when the deadline has passed. */
  readonly reconcile: (key: string, signal: AbortSignal) => Promise<ReconcileResult>;
  readonly clock: Clock;
  readonly backOff: BackOffSettings;
  /** How many keys are reconciled at a time; default 1. */
  readonly concurrency?: number;
  /** A reconciler that takes longer loses its slot to other keys; its own key waits until it ends. Default ten minutes. */
  readonly deadlineMs?: number;
  /**
   * How long a key rests after it was reconciled, in milliseconds. If it is added meanwhile, also by a retry or recheck, it is reconciled once when
   * the rest is over. Default: 0. @param tookMs - how long the reconcile took.
   */
  readonly restMs?: (tookMs: number) => number;
  /** A key cannot be settled until something changes; called once for each key and reason. */
  readonly onTerminal?: (key: string, reason: string) => void;
  /** A reconcile failed, and is retried. */
  readonly onRetry?: (
    key: string,
    cause: { readonly reason: string; readonly error?: unknown; readonly afterMs: number },
  ) => void;
  /** For metrics: called after every run. */
  readonly onReconciled?: (key: string, done: Reconciled) => void;
  /** A reconciler has passed its deadline. */
  readonly onDeadline?: (key: string) => void;
  /** One of these callbacks or `restMs` threw. That is a bug there, and does not affect the queue. */
  readonly onError?: (error: unknown) => void;
}

/** Whether a key was added because of a change, or because all keys are reconciled. */
export type Urgency = 'change' | 'background';

/** A key that is being reconciled. */
interface Running {
  readonly waitedMs: number;
  /** It was added meanwhile, so it is reconciled once more afterwards. */
  again: Urgency | undefined;
  /** It has passed its deadline, and another key has its slot. */
  isOverdue: boolean;
  /** The object is gone, so the result is ignored. */
  isForgotten: boolean;
}

/** A key that rests after it was reconciled. */
interface Resting {
  /** It was added meanwhile, so it is reconciled when the rest is over. */
  again: Urgency | undefined;
  readonly callOff: () => void;
}

interface Timer {
  readonly atMs: number;
  readonly callOff: () => void;
}

const DEADLINE_MS = 600_000;

export class KeyedQueue {
  readonly #settings: KeyedQueueSettings;
  readonly #waiting: Readonly<Record<Urgency, WaitingKeys>> = { change: new WaitingKeys(), background: new WaitingKeys() };
  readonly #running = new Map<string, Running>();
  /** Current reconciles that have not passed their deadline. */
  #slotsInUse = 0;
  readonly #resting = new Map<string, Resting>();
  /** Failures in a row. */
  readonly #failures = new Map<string, number>();
  /** Keys whose next run was not scheduled by back-off, so it does not count as one more failure in a row. */
  readonly #early = new Set<string>();
  readonly #timers = new Map<string, Timer>();
  readonly #terminal = new Map<string, string>();
  #stopped = false;
  #onIdle: (() => void)[] = [];

  constructor(settings: KeyedQueueSettings) {
    this.#settings = settings;
  }

  /** Keys that wait for their turn. */
  get depth(): number {
    return this.#waiting.change.size + this.#waiting.background.size;
  }

  /** How long the oldest waiting key has waited, in milliseconds; 0 if none waits. It reads every key: only for metrics. */
  oldestWaitMs(): number {
    const { change, background } = this.#waiting;
    const nowMs = this.#settings.clock.nowMs();
    return nowMs - Math.min(change.oldestMs() ?? nowMs, background.oldestMs() ?? nowMs);
  }

  /** True while a key waits or is reconciled. */
  get busy(): boolean {
    return this.depth > 0 || this.#running.size > 0;
  }

  /**
   * Adds the key; it is reconciled when its turn comes. Ignored after `stop`.
   *
   * @param urgency - `background`: after all keys that have changed.
   */
  add(key: string, urgency: Urgency = 'change'): void {
    if (this.#stopped) return;
    if (this.#failures.has(key)) this.#early.add(key);
    this.#enqueue(key, urgency);
  }

  /** Adds the key after a delay; an earlier `add` or delay takes precedence. */
  addAfter(key: string, delayMs: number): void {
    if (this.#stopped) return;
    const { clock } = this.#settings;
    const atMs = clock.nowMs() + delayMs;
    if ((this.#timers.get(key)?.atMs ?? Number.POSITIVE_INFINITY) <= atMs) return;
    this.#callOff(key);
    this.#timers.set(key, { atMs, callOff: clock.after(delayMs, () => this.#enqueue(key, 'change')) });
  }

  /** Forgets a key whose object is gone: failures, timers and reported reasons. A reconcile in progress leaves no timer. */
  forget(key: string): void {
    this.#callOff(key);
    this.#waiting.change.delete(key);
    this.#waiting.background.delete(key);
    this.#failures.delete(key);
    this.#early.delete(key);
    this.#terminal.delete(key);
    this.#resting.get(key)?.callOff();
    this.#resting.delete(key);
    const running = this.#running.get(key);
    if (running !== undefined) Object.assign(running, { again: undefined, isForgotten: true });
    this.#tellIdle();
  }

  /** Resolves when no key waits or is reconciled; keys with a future time do not count. */
  async idle(): Promise<void> {
    if (!this.busy) return;
    await new Promise<void>((resolve) => this.#onIdle.push(resolve));
  }

  /** Begins nothing more; resolves when all current reconciles have ended. */
  async stop(): Promise<void> {
    this.#stopped = true;
    for (const { callOff } of [...this.#timers.values(), ...this.#resting.values()]) callOff();
    this.#timers.clear();
    this.#resting.clear();
    this.#waiting.change.clear();
    this.#waiting.background.clear();
    for (const running of this.#running.values()) running.again = undefined;
    await this.idle();
  }

  #enqueue(key: string, urgency: Urgency): void {
    this.#callOff(key);
    const busy = this.#running.get(key) ?? this.#resting.get(key);
    if (busy === undefined) this.#wait(key, urgency);
    else if (busy.again !== 'change') busy.again = urgency;
    this.#begin();
  }

  #wait(key: string, urgency: Urgency): void {
    const { change, background } = this.#waiting;
    if (change.has(key)) return;
    const sinceMs = background.sinceMs(key) ?? this.#settings.clock.nowMs();
    if (urgency === 'change') background.delete(key);
    if (!background.has(key)) this.#waiting[urgency].add(key, sinceMs);
  }

  #begin(): void {
    const { concurrency = 1 } = this.#settings;
    for (const waiting of [this.#waiting.change, this.#waiting.background]) {
      while (this.#slotsInUse < concurrency) {
        const next = waiting.take();
        if (next === undefined) break;
        // Always settles: every failure is a result.
        void this.#run(next.key, next.sinceMs);
      }
    }
  }

  async #run(key: string, sinceMs: number): Promise<void> {
    const { clock, onReconciled } = this.#settings;
    const begunAtMs = clock.nowMs();
    const running: Running = {
      waitedMs: begunAtMs - sinceMs,
      again: undefined,
      isOverdue: false,
      isForgotten: false,
    };
    this.#running.set(key, running);
    this.#slotsInUse++;
    const { result, error } = await this.#resultOf(key, running);
    this.#running.delete(key);
    if (!running.isOverdue) this.#slotsInUse--;
    this.#tell(() => onReconciled?.(key, { result, waitedMs: running.waitedMs, durationMs: clock.nowMs() - begunAtMs }));
    if (!this.#stopped && !running.isForgotten) {
      this.#follow(key, running, { result, error });
      this.#rest(key, clock.nowMs() - begunAtMs);
    }
    if (running.again !== undefined && !this.#stopped) this.add(key, running.again);
    this.#begin();
    this.#tellIdle();
  }

  #rest(key: string, tookMs: number): void {
    const { clock, restMs } = this.#settings;
    const leftMs = this.#tell(() => restMs?.(tookMs)) ?? 0;
    if (leftMs <= 0) return;
    const callOff = clock.after(leftMs, () => {
      const again = this.#resting.get(key)?.again;
      this.#resting.delete(key);
      if (again !== undefined) this.#enqueue(key, again);
    });
    this.#resting.set(key, { again: undefined, callOff });
  }

  async #resultOf(key: string, running: Running): Promise<{ readonly result: ReconcileResult; readonly error?: unknown }> {
    const { clock, reconcile, deadlineMs = DEADLINE_MS, onDeadline } = this.#settings;
    const deadline = new AbortController();
    const callOff = clock.after(deadlineMs, () => {
      running.isOverdue = true;
      this.#slotsInUse--;
      deadline.abort();
      this.#tell(() => onDeadline?.(key));
      this.#begin();
    });
    try {
      return { result: checked(await reconcile(key, deadline.signal)) };
    } catch (error) {
      return { result: { kind: 'retry', reason: 'unexpected-error' }, error };
    } finally {
      callOff();
    }
  }

  #follow(
    key: string,
    { again }: Running,
    { result, error }: { readonly result: ReconcileResult; readonly error?: unknown },
  ): void {
    const isEarly = this.#early.delete(key);
    if (result.kind !== 'retry') this.#failures.delete(key);
    if (result.kind !== 'terminal') this.#terminal.delete(key);
    const afterMs = this.#nextRunMs(key, result, { error, isEarly });
    if (afterMs !== undefined && again === undefined) this.addAfter(key, afterMs);
  }

  /** Undefined if the key is not scheduled again. */
  #nextRunMs(
    key: string,
    result: ReconcileResult,
    { error, isEarly }: { readonly error: unknown; readonly isEarly: boolean },
  ): number | undefined {
    switch (result.kind) {
      case 'settled':
        return undefined;
      case 'recheck':
        return result.afterMs;
      case 'retry':
        return this.#retryAfterMs(key, result.reason, { error, isEarly });
      case 'terminal':
        if (this.#terminal.get(key) !== result.reason) this.#tell(() => this.#settings.onTerminal?.(key, result.reason));
        this.#terminal.set(key, result.reason);
        return result.recheckAfterMs;
    }
  }

  #retryAfterMs(key: string, reason: string, { error, isEarly }: { readonly error: unknown; readonly isEarly: boolean }): number {
    const failures = (this.#failures.get(key) ?? 0) + (isEarly ? 0 : 1);
    this.#failures.set(key, failures);
    const afterMs = Math.max(backOffMs(failures, this.#settings.backOff), askedDelayMs(error));
    this.#tell(() => this.#settings.onRetry?.(key, { reason, afterMs, ...(error !== undefined && { error }) }));
    return afterMs;
  }

  #callOff(key: string): void {
    this.#timers.get(key)?.callOff();
    this.#timers.delete(key);
  }

  /** Calls a callback. Returns undefined if it threw. */
  #tell<Answer>(call: () => Answer): Answer | undefined {
    try {
      return call();
    } catch (error) {
      try {
        this.#settings.onError?.(error);
      } catch {
        // There is no other place to report it.
      }
      return undefined;
    }
  }

  #tellIdle(): void {
    if (this.busy) return;
    const waiting = this.#onIdle;
    this.#onIdle = [];
    for (const resolve of waiting) resolve();
  }
}

const KINDS: ReadonlySet<string> = new Set<ReconcileResult['kind']>(['settled', 'recheck', 'retry', 'terminal']);

/** In JavaScript, a reconciler may return nothing. */
function checked(result: ReconcileResult | undefined): ReconcileResult {
  if (result !== undefined && result !== null && KINDS.has(result.kind)) return result;
  throw new TypeError(`a reconciler returned ${JSON.stringify(result)}; return { kind: 'settled' }, or another ReconcileResult`);
}
