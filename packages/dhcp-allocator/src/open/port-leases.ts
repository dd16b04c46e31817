import type { Ipv4Address } from '../address/ipv4-address.js';

/** Counts, for each port of a relay, the addresses of clients that may be made up. Only in memory, because such leases last for minutes. */
export class PortLeases {
  readonly #portOf = new Map<Ipv4Address, string>();
  readonly #counts = new Map<string, number>();

  countOf(port: string): number {
    return this.#counts.get(port) ?? 0;
  }

  add(address: Ipv4Address, port: string): void {
    this.delete(address);
    this.#portOf.set(address, port);
    this.#counts.set(port, this.countOf(port) + 1);
  }

  delete(address: Ipv4Address): void {
    const port = this.#portOf.get(address);
    if (port === undefined) return;
    this.#portOf.delete(address);
    const left = this.countOf(port) - 1;
    if (left === 0) this.#counts.delete(port);
    else this.#counts.set(port, left);
  }
}
