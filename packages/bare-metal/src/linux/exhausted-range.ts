/**
 * Detects that clients get no address because none of `ipRange` is free. A full range in which no further client wants an address
 * is not a problem.
 */
import { formatIpv4Address, type OpenPoolCounts, type Pool } from '@vmdhcp/dhcp-allocator';
import type { HostEventOf } from '@vmdhcp/ippool-api/bare-metal/keys';

/** Addresses may be freed and taken again and again: one Event in this time. */
const LEAST_INTERVAL_MS = 600_000;

export interface RangeUse {
  readonly pool: Pick<Pool, 'range'> | undefined;
  /** Undefined if not known here. */
  readonly counts: OpenPoolCounts | undefined;
  /** Messages of clients that got no address because none was free, since the process began. */
  readonly refused: number;
}

export interface ExhaustedRangePorts {
  /** A monotonic clock. */
  readonly nowMs: () => number;
  readonly record: (event: HostEventOf<'ClusterAgent'>) => void;
}

export class ExhaustedRange {
  readonly #ports: ExhaustedRangePorts;
  #refused: number | undefined;
  #message: string | undefined;
  #isKnown = false;
  #recordedAtMs = Number.NEGATIVE_INFINITY;

  constructor(ports: ExhaustedRangePorts) {
    this.#ports = ports;
  }

  /** Undefined if no client was refused an address, or addresses are free. */
  get message(): string | undefined {
    return this.#message;
  }

  /** False if not known since leadership began. */
  get isKnown(): boolean {
    return this.#isKnown;
  }

  /** Call it every second while this replica is leader. */
  look({ pool, counts, refused }: RangeUse): void {
    const isRefused = refused > (this.#refused ?? refused);
    this.#refused = refused;
    if (counts === undefined || pool === undefined) return;
    if (counts.free > 0) {
      this.#message = undefined;
      this.#isKnown = true;
    } else if (isRefused && this.#message === undefined) this.#begin(pool, counts);
  }

  /** Leadership has ended. */
  forget(): void {
    this.#message = undefined;
    this.#isKnown = false;
  }

  #begin({ range }: Pick<Pool, 'range'>, counts: OpenPoolCounts): void {
    const { size, valid, declared, quarantined, kept } = counts;
    const addresses = `${formatIpv4Address(range.first)}-${formatIpv4Address(range.last)}`;
    const message = `a client got no address: none of the ${size} addresses of ipRange ${addresses} is free (${valid} leased, ${declared} bound to clients that are off, ${quarantined} in conflict, ${kept} kept for clients that had one); widen ipRange${remediesOf(counts)}`;
    this.#message = message;
    this.#isKnown = true;
    const nowMs = this.#ports.nowMs();
    if (nowMs - this.#recordedAtMs < LEAST_INTERVAL_MS) return;
    this.#recordedAtMs = nowMs;
    this.#ports.record({ type: 'Warning', reason: 'AddressesExhausted', message });
  }
}

/**
 * How to free an address of a host that is gone: `release` ends a lease, and `unbind` ends the binding of an address to a client
 * that is off.
 */
function remediesOf({ valid, declared }: OpenPoolCounts): string {
  const remedies = [
    ...(valid > 0 ? ['vmdhcp-agent release ADDRESS, where one has a lease'] : []),
    ...(declared > 0 ? ['vmdhcp-agent unbind ADDRESS, where one is bound'] : []),
  ];
  return remedies.length === 0 ? '' : `, or free addresses of hosts that are gone (${remedies.join('; ')})`;
}
