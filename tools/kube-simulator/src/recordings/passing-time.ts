import type { WatchTimer } from '../request/watch-timer.js';

interface Waiting {
  readonly atMs: number;
  readonly action: () => void;
}

/** A timer whose time passes only when `pass` is called: a watch of 100 s is replayed in no time, and never ends early. */
export class PassingTime {
  private nowMs = 0;
  private waiting: readonly Waiting[] = [];

  readonly timer: WatchTimer = (delayMs, action) => {
    const entry: Waiting = { atMs: this.nowMs + delayMs, action };
    this.waiting = [...this.waiting, entry];
    return () => {
      this.waiting = this.waiting.filter((other) => other !== entry);
    };
  };

  /** Runs everything that is due within the next `ms` milliseconds, in order of time, and then in the order in which it was scheduled. */
  pass(ms: number): void {
    const untilMs = this.nowMs + ms;
    for (let next = this.firstUntil(untilMs); next !== undefined; next = this.firstUntil(untilMs)) {
      const due = next;
      this.waiting = this.waiting.filter((other) => other !== due);
      this.nowMs = due.atMs;
      due.action();
    }
    this.nowMs = untilMs;
  }

  private firstUntil(untilMs: number): Waiting | undefined {
    return this.waiting
      .filter(({ atMs }) => atMs <= untilMs)
      .reduce<Waiting | undefined>((first, entry) => (first === undefined || entry.atMs < first.atMs ? entry : first), undefined);
  }
}
