import type { Clock } from '@vmdhcp/kube-runtime';

/**
 * One process on a clock that several share. It may be frozen: time goes on, its timers fire and its messages arrive when it wakes. It may
 * be frozen in the middle of a call too: its own time is then ahead of the shared clock until that catches up.
 */
export class FakeProcess implements Clock {
  readonly #clock: Clock;
  /** Until then nothing of this process runs. */
  #awakeAtMs = Number.NEGATIVE_INFINITY;
  #isDead = false;
  /** Asked at each look at the clock: for how long the process is frozen right before it. Default: never. */
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

  /** The same for those who watch: it stalls nothing. */
  get timeMs(): number {
    return this.#nowMs();
  }

  get isFrozen(): boolean {
    return this.#clock.nowMs() < this.#awakeAtMs;
  }

  get isDead(): boolean {
    return this.#isDead;
  }

  /** Nothing of this process runs for so long from now. */
  freeze(ms: number): void {
    this.#awakeAtMs = this.#nowMs() + ms;
    this.#wakeLater();
  }

  /** Nothing of this process ever runs again. */
  kill(): void {
    this.#isDead = true;
    this.#waiting.length = 0;
  }

  /** Runs when the process is awake: now, or in the order of arrival when it wakes, before any of its timers. */
  deliver(run: () => void): void {
    if (this.#isDead) return;
    if (this.isFrozen) this.#waiting.push(run);
    else run();
  }

  /** The same outcome, when the process is awake. Never settles for a dead one. */
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
