import type { Clock } from '@vmdhcp/kube-runtime';

const EVERY_MS = 60_000;
/** In that time. A text that differs each time is not worth more lines. */
const MOST = 10;

/** Open pages ask again every few seconds: what fails in the same way is reported once a minute, and no more than ten failures are. */
export class RepeatedFailures {
  readonly #clock: Pick<Clock, 'nowMs'>;
  readonly #onError: (error: unknown) => void;
  /** By text: until when it is not reported again, the oldest first. */
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
