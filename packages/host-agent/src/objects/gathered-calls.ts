import type { Clock } from '@vmdhcp/kube-runtime';

/** Calls a function once for all that asked for it: at the earliest time that was asked for. */
export class GatheredCalls {
  readonly #clock: Clock;
  readonly #run: () => void;
  #timer: { readonly atMs: number; readonly callOff: () => void } | undefined;
  #isStopped = false;

  constructor(clock: Clock, run: () => void) {
    this.#clock = clock;
    this.#run = run;
  }

  /** The function is called within so many milliseconds. After `stop`, nothing. */
  within(delayMs: number): void {
    const atMs = this.#clock.nowMs() + delayMs;
    if (this.#isStopped || (this.#timer !== undefined && this.#timer.atMs <= atMs)) return;
    this.#timer?.callOff();
    const callOff = this.#clock.after(delayMs, () => {
      this.#timer = undefined;
      this.#run();
    });
    this.#timer = { atMs, callOff };
  }

  stop(): void {
    this.#isStopped = true;
    this.#timer?.callOff();
    this.#timer = undefined;
  }
}
