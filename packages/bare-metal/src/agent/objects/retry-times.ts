import { type BackOffSettings, backOffMs } from '@vmdhcp/kube-runtime';
import type { HostAgentPorts } from '../ports.js';

const FIRST_MS = 250;
const MOST_MS = 60_000;

interface Attempts {
  readonly count: number;
  /** Monotonic time. */
  readonly notBeforeMs: number;
}

/**
 * Decides when the next write of an object may begin. A failed write is delayed longer each time. So is one that succeeds and is
 * planned again at once: then the server does not store what is written, or another client undoes it.
 */
export class RetryTimes {
  readonly #clock: HostAgentPorts['clock'];
  readonly #backOff: BackOffSettings;
  readonly #attempts = new Map<string, Attempts>();

  constructor({ clock, random }: Pick<HostAgentPorts, 'clock' | 'random'>) {
    this.#clock = clock;
    this.#backOff = { firstMs: FIRST_MS, mostMs: MOST_MS, random };
  }

  /** Milliseconds until the next write of this object may begin; 0 for now. */
  waitMs(name: string): number {
    return Math.max(0, (this.#attempts.get(name)?.notBeforeMs ?? 0) - this.#clock.nowMs());
  }

  /** Notes that a write of this object has ended. Returns the milliseconds until the next one may begin. */
  ended(name: string, isSuccess: boolean): number {
    const count = (this.#attempts.get(name)?.count ?? 0) + 1;
    const failures = isSuccess ? count - 1 : count;
    const delayMs = failures === 0 ? 0 : backOffMs(failures, this.#backOff);
    this.#attempts.set(name, { count, notBeforeMs: this.#clock.nowMs() + delayMs });
    return delayMs;
  }

  /** Forgets all objects for which nothing is planned any longer. */
  keep(planned: { readonly has: (name: string) => boolean }): void {
    for (const name of this.#attempts.keys()) if (!planned.has(name)) this.#attempts.delete(name);
  }
}
