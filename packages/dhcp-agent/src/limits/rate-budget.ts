/**
 * Limits how often something may happen: a burst at once, then a rate per second. The rest is only counted, so that a flood on the wire does not
 * become a flood in the log. The time is a parameter.
 */
export class RateBudget {
  readonly #perSecond: number;
  readonly #burst: number;
  #left: number;
  #filledAtMs = 0;
  #suppressed = 0;

  constructor({ perSecond, burst }: { readonly perSecond: number; readonly burst: number }) {
    this.#perSecond = perSecond;
    this.#burst = burst;
    this.#left = burst;
  }

  /** True if it may happen now; false if it counts as suppressed. */
  take(nowMs: number): boolean {
    const gained = (Math.max(0, nowMs - this.#filledAtMs) / 1000) * this.#perSecond;
    this.#left = Math.min(this.#burst, this.#left + gained);
    this.#filledAtMs = nowMs;
    if (this.#left < 1) {
      this.#suppressed++;
      return false;
    }
    this.#left--;
    return true;
  }

  /** How often it was suppressed since the last call. */
  takeSuppressed(): number {
    const suppressed = this.#suppressed;
    this.#suppressed = 0;
    return suppressed;
  }
}
