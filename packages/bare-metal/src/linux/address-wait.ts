/**
 * Makes calls to management controllers wait for the address of the DHCP server. A new leader adds it a moment after its
 * leadership began: without it there is no route to their network, and healthy hosts would be reported as unhealthy.
 */
import type { Clock } from '@vmdhcp/kube-runtime';

/** An agent that never gets the address may still reach hosts on other networks. */
export const LONGEST_WAIT_MS = 4_000;

export class AddressWait {
  readonly #clock: Clock;
  readonly #isThere: () => boolean;
  readonly #waiting = new Set<() => void>();

  /** @param isThere - true if calls need not wait. */
  constructor(clock: Clock, isThere: () => boolean) {
    this.#clock = clock;
    this.#isThere = isThere;
  }

  /** Call it when the address may have been added. */
  check(): void {
    if (this.#waiting.size > 0 && this.#isThere()) for (const resolve of [...this.#waiting]) resolve();
  }

  /** Resolves when the address is there, when `signal` is aborted, and after four seconds. Never rejects. */
  readonly wait = async (signal: AbortSignal): Promise<void> => {
    if (signal.aborted || this.#isThere()) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.add(resolve);
    const callOff = this.#clock.after(LONGEST_WAIT_MS, resolve);
    signal.addEventListener('abort', () => resolve(), { once: true });
    await promise;
    callOff();
    this.#waiting.delete(resolve);
  };
}
