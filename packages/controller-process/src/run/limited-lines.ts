import type { Clock } from '@vmdhcp/kube-runtime';

/** The burst of lines, and the time until another one may be written. */
const BURST = 100;
const REFILL_MS = 100;
/** How long omitted lines are counted before their number is reported. */
const SUMMARY_MS = 1_000;

/** Writes lines of a log unless there are too many at once, so that those before are not rotated away. */
export class LimitedLines<Kind extends string> {
  readonly #clock: Clock;
  readonly #onLeftOut: (counts: Partial<Record<Kind, number>>) => void;
  #lines = BURST;
  #refilledAtMs: number;
  #leftOut: Partial<Record<Kind, number>> | undefined;

  /** @param onLeftOut - called within a second with the number of omitted lines, by kind. */
  constructor(clock: Clock, onLeftOut: (counts: Partial<Record<Kind, number>>) => void) {
    this.#clock = clock;
    this.#onLeftOut = onLeftOut;
    this.#refilledAtMs = clock.nowMs();
  }

  /** Calls `line`, or counts it. */
  write(kind: Kind, line: () => void): void {
    if (this.#mayWrite()) line();
    else this.#count(kind);
  }

  #mayWrite(): boolean {
    const gained = Math.floor((this.#clock.nowMs() - this.#refilledAtMs) / REFILL_MS);
    this.#lines = Math.min(BURST, this.#lines + gained);
    this.#refilledAtMs += gained * REFILL_MS;
    if (this.#lines === 0) return false;
    this.#lines--;
    return true;
  }

  #count(kind: Kind): void {
    if (this.#leftOut === undefined) this.#clock.after(SUMMARY_MS, () => this.#report());
    this.#leftOut = { ...this.#leftOut, [kind]: (this.#leftOut?.[kind] ?? 0) + 1 } as Partial<Record<Kind, number>>;
  }

  #report(): void {
    const counts = this.#leftOut ?? {};
    this.#leftOut = undefined;
    this.#onLeftOut(counts);
  }
}
