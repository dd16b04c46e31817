export interface WorkQueueOptions {
  /** Reconciles the object with this key. */
  readonly handle: (key: string) => Promise<unknown>;
  /** Called for every failure; the key is retried with increasing delays. */
  readonly onError: (error: unknown, key: string) => void;
}

const firstRetryMs = 5;
const longestRetryMs = 5_000;

/** A queue of keys to reconcile: each key once, one after the other. */
export class WorkQueue {
  readonly #options: WorkQueueOptions;
  readonly #waiting = new Set<string>();
  readonly #failures = new Map<string, number>();
  readonly #timers = new Map<string, NodeJS.Timeout>();
  #isWorking = false;
  #isStopped = false;
  #settled: (() => void)[] = [];

  constructor(options: WorkQueueOptions) {
    this.#options = options;
  }

  /** The key is handled soon, and again if it is being handled right now. */
  add(key: string): void {
    if (this.#isStopped) return;
    clearTimeout(this.#timers.get(key));
    this.#timers.delete(key);
    this.#waiting.add(key);
    if (this.#isWorking) return;
    this.#isWorking = true;
    // Not at once: the write that is the reason is still being made.
    setImmediate(() => void this.#work());
  }

  /** The key is handled after the delay, unless it is added before. */
  addAfter(key: string, delayMs: number): void {
    if (this.#isStopped) return;
    clearTimeout(this.#timers.get(key));
    const timer = setTimeout(() => this.add(key), delayMs);
    timer.unref();
    this.#timers.set(key, timer);
  }

  /** Stops taking keys; resolves when the current work has ended. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#waiting.clear();
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
    if (this.#isWorking) await new Promise<void>((resolve) => this.#settled.push(resolve));
  }

  async #work(): Promise<void> {
    try {
      for (let [key] = this.#waiting; key !== undefined; [key] = this.#waiting) {
        this.#waiting.delete(key);
        await this.#handle(key);
      }
    } finally {
      this.#isWorking = false;
      for (const resolve of this.#settled.splice(0)) resolve();
    }
  }

  async #handle(key: string): Promise<void> {
    try {
      await this.#options.handle(key);
      this.#failures.delete(key);
    } catch (error) {
      const failures = (this.#failures.get(key) ?? 0) + 1;
      this.#failures.set(key, failures);
      this.#options.onError(error, key);
      if (!this.#waiting.has(key)) this.addAfter(key, Math.min(longestRetryMs, firstRetryMs * 2 ** failures));
    }
  }
}
