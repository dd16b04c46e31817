import type { Clock } from '../clock/clock.js';
import { repeatWithPromises } from './settle.js';

interface Timer {
  readonly atMs: number;
  readonly order: number;
  readonly run: () => void;
}

/** A clock that stands still until a test advances it. */
export class FakeClock implements Clock {
  #nowMs = 0;
  #order = 0;
  readonly #timers = new Set<Timer>();

  readonly nowMs = (): number => this.#nowMs;

  readonly after = (delayMs: number, run: () => void): (() => void) => {
    const timer = { atMs: this.#nowMs + Math.max(0, delayMs), order: this.#order++, run };
    this.#timers.add(timer);
    return () => void this.#timers.delete(timer);
  };

  /** The number of pending timers. */
  get pending(): number {
    return this.#timers.size;
  }

  /** Advances by this many milliseconds, and runs everything that becomes due in order, including promises. */
  async advance(ms: number): Promise<void> {
    const endMs = this.#nowMs + ms;
    await repeatWithPromises(() => {
      const next = this.#nextUntil(endMs);
      if (next === undefined) return false;
      this.#timers.delete(next);
      this.#nowMs = next.atMs;
      next.run();
      return true;
    });
    this.#nowMs = endMs;
  }

  #nextUntil(endMs: number): Timer | undefined {
    let next: Timer | undefined;
    for (const timer of this.#timers) {
      if (timer.atMs <= endMs && (next === undefined || isBefore(timer, next))) next = timer;
    }
    return next;
  }
}

function isBefore(one: Timer, other: Timer): boolean {
  return one.atMs < other.atMs || (one.atMs === other.atMs && one.order < other.order);
}
