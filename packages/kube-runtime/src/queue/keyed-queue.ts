/**
 * Work to be done for keys, `namespace/name` mostly: whoever sees something change adds its key, and the worker looks at how
 * things are by then. So nothing is lost if keys are added often, and no work is done twice for it:
 *
 * - a key that waits is not added again;
 * - a key is never worked on twice at once: added meanwhile, it is worked on once more afterwards;
 * - what failed is tried again, later each time; a key that is added meanwhile need not wait for that.
 */
import { askedDelayMs, type BackOffSettings, backOffMs } from '../clock/back-off.js';
import type { Clock } from '../clock/clock.js';

/** What became of the work on a key. */
export type ReconcileResult =
  /** As it should be. */
  | { readonly kind: 'settled' }
  /** As it should be for now: look again after this time. */
  | { readonly kind: 'recheck'; readonly afterMs: number }
  /** Something did not work that may work later. */
  | { readonly kind: 'retry'; readonly reason: string }
  /** It will not work before somebody changes something; told once, and not tried again by itself unless a time is given. */
  | { readonly kind: 'terminal'; readonly reason: string; readonly recheckAfterMs?: number };

export interface KeyedQueueSettings {
  /** Reconciles one key. What it throws counts as `retry`. */
  readonly reconcile: (key: string) => Promise<ReconcileResult>;
  readonly clock: Clock;
  readonly backOff: BackOffSettings;
  /** Keys that are worked on at a time; default 1. */
  readonly concurrency?: number;
  /** A key cannot be settled until something changes; called once for each key and reason. */
  readonly onTerminal?: (key: string, reason: string) => void;
  /** The work on a key did not succeed. */
  readonly onRetry?: (
    key: string,
    cause: { readonly reason: string; readonly error?: unknown; readonly afterMs: number },
  ) => void;
}

export class KeyedQueue {
  readonly #settings: KeyedQueueSettings;
  /** Insertion order is the order of work. */
  readonly #waiting = new Set<string>();
  readonly #running = new Set<string>();
  /** Keys that were added while they were worked on. */
  readonly #again = new Set<string>();
  readonly #failures = new Map<string, number>();
  readonly #timers = new Map<string, () => void>();
  readonly #terminal = new Map<string, string>();
  #stopped = false;
  #onIdle: (() => void)[] = [];

  constructor(settings: KeyedQueueSettings) {
    this.#settings = settings;
  }

  /** Keys that wait to be worked on now. */
  get depth(): number {
    return this.#waiting.size;
  }

  /** True while a key waits or is worked on. */
  get busy(): boolean {
    return this.#waiting.size > 0 || this.#running.size > 0;
  }

  /** Has the key worked on, as soon as its turn comes. After `stop`, nothing. */
  add(key: string): void {
    if (this.#stopped) return;
    this.#callOff(key);
    if (this.#running.has(key)) this.#again.add(key);
    else this.#waiting.add(key);
    this.#startWork();
  }

  /** Adds the key later; sooner if it is added by then. */
  addAfter(key: string, delayMs: number): void {
    if (this.#stopped) return;
    this.#callOff(key);
    this.#timers.set(
      key,
      this.#settings.clock.after(delayMs, () => this.add(key)),
    );
  }

  /** Forgets a key that is no more: failures, timers and what was told of it. */
  forget(key: string): void {
    this.#callOff(key);
    this.#waiting.delete(key);
    this.#again.delete(key);
    this.#failures.delete(key);
    this.#terminal.delete(key);
  }

  /** Resolves when nothing waits and nothing is worked on; keys that wait for their time do not count. */
  async idle(): Promise<void> {
    if (!this.busy) return;
    await new Promise<void>((resolve) => this.#onIdle.push(resolve));
  }

  /** Begins no more work; resolves when what is under way has ended. */
  async stop(): Promise<void> {
    this.#stopped = true;
    for (const callOff of this.#timers.values()) callOff();
    this.#timers.clear();
    this.#waiting.clear();
    this.#again.clear();
    await this.idle();
  }

  #startWork(): void {
    const { concurrency = 1 } = this.#settings;
    for (const key of this.#waiting) {
      if (this.#running.size >= concurrency) return;
      this.#waiting.delete(key);
      this.#running.add(key);
      // Settles always: every failure is a result.
      void this.#workOn(key);
    }
  }

  async #workOn(key: string): Promise<void> {
    const { result, error } = await this.#resultOf(key);
    this.#running.delete(key);
    if (!this.#stopped) this.#follow(key, result, error);
    if (this.#again.delete(key)) this.add(key);
    this.#startWork();
    this.#tellIdle();
  }

  async #resultOf(key: string): Promise<{ readonly result: ReconcileResult; readonly error?: unknown }> {
    try {
      return { result: await this.#settings.reconcile(key) };
    } catch (error) {
      return { result: { kind: 'retry', reason: 'unexpected-error' }, error };
    }
  }

  #follow(key: string, result: ReconcileResult, error: unknown): void {
    if (result.kind !== 'retry') this.#failures.delete(key);
    if (result.kind !== 'terminal') this.#terminal.delete(key);
    switch (result.kind) {
      case 'settled':
        return;
      case 'recheck':
        if (!this.#again.has(key)) this.addAfter(key, result.afterMs);
        return;
      case 'retry':
        this.#retry(key, result.reason, error);
        return;
      case 'terminal':
        this.#giveUp(key, result);
    }
  }

  #giveUp(key: string, { reason, recheckAfterMs }: Extract<ReconcileResult, { readonly kind: 'terminal' }>): void {
    if (this.#terminal.get(key) !== reason) this.#settings.onTerminal?.(key, reason);
    this.#terminal.set(key, reason);
    if (recheckAfterMs !== undefined && !this.#again.has(key)) this.addAfter(key, recheckAfterMs);
  }

  #retry(key: string, reason: string, error: unknown): void {
    const failures = (this.#failures.get(key) ?? 0) + 1;
    this.#failures.set(key, failures);
    const afterMs = Math.max(backOffMs(failures, this.#settings.backOff), askedDelayMs(error));
    this.#settings.onRetry?.(key, { reason, afterMs, ...(error !== undefined && { error }) });
    if (!this.#again.has(key)) this.addAfter(key, afterMs);
  }

  #callOff(key: string): void {
    this.#timers.get(key)?.();
    this.#timers.delete(key);
  }

  #tellIdle(): void {
    if (this.busy) return;
    const waiting = this.#onIdle;
    this.#onIdle = [];
    for (const resolve of waiting) resolve();
  }
}
