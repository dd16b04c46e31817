import type { Assignment, Ipv4Address } from '@vmdhcp/dhcp-allocator';

interface Conflict {
  readonly poolName: string;
  readonly macAddress: string;
  readonly address: number;
  readonly untilMs: number;
}

/** Leases whose address another machine uses: their clients get no reply until they have another address, or the time is over. */
export class ConflictedLeases {
  readonly #conflicts = new Map<string, Conflict>();

  /** @param conflict - `untilMs` on the caller's clock. */
  note(conflict: Conflict): void {
    this.#conflicts.set(`${conflict.poolName} ${conflict.macAddress}`, conflict);
  }

  /** The assignments of a pool that are not in conflict. */
  without(poolName: string, assignments: readonly Assignment[]): readonly Assignment[] {
    if (this.#conflicts.size === 0) return assignments;
    return assignments.filter(({ macAddress, address }) => this.#conflicts.get(`${poolName} ${macAddress}`)?.address !== address);
  }

  /** Forgets conflicts about an address; returns the pools that they were in. */
  end(address: Ipv4Address): ReadonlySet<string> {
    return this.#forget((conflict) => conflict.address === address);
  }

  /** Forgets conflicts whose time is over; returns the pools that they were in. */
  expire(nowMs: number): ReadonlySet<string> {
    return this.#forget(({ untilMs }) => untilMs <= nowMs);
  }

  #forget(isOver: (conflict: Conflict) => boolean): ReadonlySet<string> {
    const over = [...this.#conflicts].filter(([, conflict]) => isOver(conflict));
    for (const [key] of over) this.#conflicts.delete(key);
    return new Set(over.map(([, { poolName }]) => poolName));
  }
}
