import type { Assignment } from '@vmdhcp/dhcp-allocator';

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

  /** Forgets conflicts whose time is over; returns the pools that they were in. */
  expire(nowMs: number): ReadonlySet<string> {
    const over = [...this.#conflicts].filter(([, { untilMs }]) => untilMs <= nowMs);
    for (const [key] of over) this.#conflicts.delete(key);
    return new Set(over.map(([, { poolName }]) => poolName));
  }
}
