import type { HostAgentPorts } from '../ports.js';

/** The pause after a function threw: a bug here or in a port, whose cause may disappear. */
const AFTER_ERROR_MS = 10_000;

/**
 * Combines several requests to call a function into one call, at the earliest requested time. If the function throws, that is
 * reported, and it is called again later.
 */
export class GatheredCalls {
  readonly #ports: Pick<HostAgentPorts, 'clock' | 'observer'>;
  readonly #run: () => void;
  #timer: { readonly atMs: number; readonly callOff: () => void } | undefined;
  #isStopped = false;

  constructor(ports: Pick<HostAgentPorts, 'clock' | 'observer'>, run: () => void) {
    this.#ports = ports;
    this.#run = run;
  }

  /** Requests a call within this many milliseconds. After `stop`, nothing happens. */
  within(delayMs: number): void {
    const { clock } = this.#ports;
    const atMs = clock.nowMs() + delayMs;
    if (this.#isStopped || (this.#timer !== undefined && this.#timer.atMs <= atMs)) return;
    this.#timer?.callOff();
    const callOff = clock.after(delayMs, () => {
      this.#timer = undefined;
      this.#call();
    });
    this.#timer = { atMs, callOff };
  }

  #call(): void {
    try {
      this.#run();
    } catch (error) {
      this.#ports.observer.observe({ kind: 'unexpected-error', error });
      this.within(AFTER_ERROR_MS);
    }
  }

  stop(): void {
    this.#isStopped = true;
    this.#timer?.callOff();
    this.#timer = undefined;
  }
}
