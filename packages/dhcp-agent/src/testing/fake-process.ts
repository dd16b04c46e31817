import type { Clock } from '@vmdhcp/kube-runtime';

/**
 * One process on a shared clock. It may be frozen: time goes on, and its timers fire and its messages arrive when it wakes. It may also be frozen
 * during a call: then its own time is ahead of the shared clock until that catches up.
 */
export class FakeProcess implements Clock {
  readonly #clock: Clock;
  /** The process runs nothing until then. */
  #awakeAtMs = Number.NEGATIVE_INFINITY;
  #isDead = false;
  /** Called at each read of the clock: how long the process is frozen right before it. Default: never. */
  stallMs: () => number = () => 0;
  /** What arrived while it was frozen, in order. */
  readonly #waiting: (() => void)[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  readonly nowMs = (): number => {
    const stallMs = this.stallMs();
    if (stallMs > 0) this.freeze(stallMs);
    return this.#nowMs();
  };

  readonly after = (delayMs: number, run: () => void): (() => void) => {
    let isCalledOff = false;
    const atMs = this.#nowMs() + Math.max(0, delayMs);
    let callOff = this.#clock.after(atMs - this.#clock.nowMs(), fire.bind(this));
    return () => {
      isCalledOff = true;
      callOff();
    };

    function fire(this: FakeProcess): void {
      if (isCalledOff || this.#isDead) return;
      if (!this.isFrozen) this.#receive();
      if (this.isFrozen) callOff = this.#clock.after(this.#awakeAtMs - this.#clock.nowMs(), fire.bind(this));
      else if (!isCalledOff) run();
    }
  };

  /** The same time for observers, without a freeze. */
  get timeMs(): number {
    return this.#nowMs();
  }

  get isFrozen(): boolean {
    return this.#clock.nowMs() < this.#awakeAtMs;
  }

  get isDead(): boolean {
    return this.#isDead;
  }

  /** Freezes the process for this long. */
  freeze(ms: number): void {
    this.#awakeAtMs = this.#nowMs() + ms;
    this.#wakeLater();
  }

  /** Kills the process. */
  kill(): void {
    this.#isDead = true;
    this.#waiting.length = 0;
  }

  /** Calls `run` when the process is awake: now, or when it wakes, in the order of arrival and before any of its timers. */
  deliver(run: () => void): void {
    if (this.#isDead) return;
    if (this.isFrozen) this.#waiting.push(run);
    else run();
  }

  /** Settles like `promise`, when the process is awake. Never settles for a dead process. */
  async settled<Outcome>(promise: Promise<Outcome>): Promise<Outcome> {
    return await new Promise<Outcome>((resolve, reject) => {
      promise.then(
        (outcome) => this.deliver(() => resolve(outcome)),
        (error: unknown) => this.deliver(() => reject(error)),
      );
    });
  }

  #nowMs(): number {
    return Math.max(this.#clock.nowMs(), this.#awakeAtMs);
  }

  #wakeLater(): void {
    this.#clock.after(this.#awakeAtMs - this.#clock.nowMs(), () => {
      if (!this.#isDead) this.#receive();
    });
  }

  #receive(): void {
    while (this.#waiting.length > 0 && !this.isFrozen) this.#waiting.shift()?.();
  }
}
