import { type LeaseEvent, RateBudget } from '@vmdhcp/dhcp-agent/packet-path';
import { formatIpv4Address, type Lease } from '@vmdhcp/dhcp-allocator';
import type { Logger } from '@vmdhcp/service-process';

/** How many events are logged per second; the rest is counted. */
const BUDGET = { perSecond: 50, burst: 500 };

/** Writes one info line for each event; if there are too many, one line a second with the number of missing ones. */
export class LeaseEventLog {
  readonly #logger: Logger;
  readonly #nowMs: () => number;
  readonly #budget = new RateBudget(BUDGET);
  readonly #counts = new Map<LeaseEvent, number>();

  constructor(logger: Logger, nowMs: () => number) {
    this.#logger = logger;
    this.#nowMs = nowMs;
  }

  /** @param details - other useful facts; text from the wire only through `printable`. */
  note(
    event: LeaseEvent,
    lease: Pick<Lease, 'poolName' | 'macAddress'> & Partial<Lease>,
    details?: Readonly<Record<string, unknown>>,
  ): void {
    this.#counts.set(event, (this.#counts.get(event) ?? 0) + 1);
    if (!this.#budget.take(this.#nowMs())) return;
    const { poolName: pool, macAddress: mac, address, hostname } = lease;
    this.#logger.info(
      {
        event,
        pool,
        mac,
        ...(address !== undefined && { address: formatIpv4Address(address) }),
        ...(hostname !== undefined && { hostname }),
        ...details,
      },
      `lease ${event}`,
    );
  }

  /** Logs how many lines were omitted since the last call. */
  reportSuppressed(): void {
    const suppressed = this.#budget.takeSuppressed();
    if (suppressed > 0) this.#logger.warn({ suppressed }, 'too many lease events: lines omitted, all are counted in the metrics');
  }

  counts(): ReadonlyMap<LeaseEvent, number> {
    return this.#counts;
  }
}
