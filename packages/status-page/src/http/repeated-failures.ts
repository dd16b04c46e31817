import type { Clock } from '@vmdhcp/kube-runtime';

const EVERY_MS = 60_000;
/** The maximum number of lines in that time, even if each text is different. */
const MOST = 10;

/**
 * Limits log lines, because open pages ask again every few seconds: the same failure is reported once a minute, and at most ten failures in that
 * time.
 */
export class RepeatedFailures {
  readonly #clock: Pick<Clock, 'nowMs'>;
  readonly #onError: (error: unknown) => void;
  /** By text, oldest first: until when it is not reported again. */
  readonly #untilMs = new Map<string, number>();

  constructor(clock: Pick<Clock, 'nowMs'>, onError: (error: unknown) => void) {
    this.#clock = clock;
    this.#onError = onError;
  }

  report(error: unknown): void {
    const [text, nowMs] = [String(error), this.#clock.nowMs()];
    for (const [reported, untilMs] of this.#untilMs) if (untilMs <= nowMs) this.#untilMs.delete(reported);
    if (this.#untilMs.has(text) || this.#untilMs.size >= MOST) return;
    this.#untilMs.set(text, nowMs + EVERY_MS);
    this.#onError(error);
  }
}
