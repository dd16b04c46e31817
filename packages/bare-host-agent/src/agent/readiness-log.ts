import type { UnservedPool } from '@vmdhcp/dhcp-agent/packet-path';
import type { Logger } from '@vmdhcp/service-process';

export interface ServedNames {
  readonly pools: readonly string[];
  readonly interfaces: readonly string[];
}

/** Logs one line when every pool is served, and one when that ends. */
export class ReadinessLog {
  readonly #logger: Pick<Logger, 'info' | 'warn'>;
  /** An agent that starts is not ready yet; this is not logged. */
  #state: 'not-ready' | 'ready' = 'not-ready';

  constructor(logger: Pick<Logger, 'info' | 'warn'>) {
    this.#logger = logger;
  }

  /** @param unserved - the pools that are not served, each with its reason. */
  report(unserved: readonly UnservedPool[], served: ServedNames): void {
    const state = unserved.length === 0 ? 'ready' : 'not-ready';
    if (state === this.#state) return;
    this.#state = state;
    if (state === 'ready') this.#logger.info(served, 'serving');
    else this.#logger.warn({ unserved }, 'not every pool is served');
  }
}
