import type { RefusedClaim } from '@vmdhcp/reconciler';
import type { Logger } from '@vmdhcp/service-process';

/** Logs one line for each claim that cannot be fulfilled, when it begins; and again if it was fulfilled in between. */
export class RefusalLog {
  readonly #logger: Pick<Logger, 'warn'>;
  #known: ReadonlySet<string> = new Set();

  constructor(logger: Pick<Logger, 'warn'>) {
    this.#logger = logger;
  }

  /** @param refused - all refused claims, of all pools. */
  report(refused: readonly RefusedClaim[]): void {
    for (const { owner, macAddress, reason, message } of refused) {
      if (!this.#known.has(message)) this.#logger.warn({ owner, mac: macAddress, reason }, message);
    }
    this.#known = new Set(refused.map(({ message }) => message));
  }
}
