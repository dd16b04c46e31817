/** What a plan of addresses starts from, and what it comes to. */
import type { Assignment, Ipv4Address, MacAddress, Pool, PoolCounts } from '@vmdhcp/dhcp-allocator';
import type { RefusalReason } from '../network-config/refusal-reason.js';
import type { Quarantine } from '../pool/quarantines.js';

/** What was recorded of a pool. */
export interface RecordedPool {
  readonly assignments: readonly Assignment[];
  readonly quarantines: readonly Quarantine[];
  /** Addresses that no client gets, whatever else is known of them. */
  readonly unavailable?: readonly Ipv4Address[];
}

/** What a plan starts from. */
export interface KnownState {
  readonly recorded: RecordedPool;
  /** Milliseconds on the caller's clock. */
  readonly nowMs: number;
  /** Whose each address was by the plan that was recorded last. Absent, or nothing for a MAC address: that is not known. */
  readonly lastOwners?: LastOwners;
}

/** It has nothing for a MAC address that has another address by now. */
export interface LastOwners {
  readonly get: (macAddress: MacAddress) => { readonly owner: string; readonly address: Ipv4Address } | undefined;
}

/** A pool, and what is known of it. */
export interface PoolState extends KnownState {
  /** Names the pool in requests. */
  readonly key: string;
  readonly pool: Pool;
  /** The most clients that there is room for in the record; absent: any number. Who is recorded stays. */
  readonly mostClients?: number;
  /** Recorded too, but for no request: they stay, and are not among `recorded`. Absent: there are none. */
  readonly settled?: readonly Assignment[];
  /** Whose those are. */
  readonly owners?: ReadonlyMap<MacAddress, string>;
}

/** A claim that cannot be met, and why. */
export interface RefusedClaim {
  readonly owner: string;
  readonly macAddress: MacAddress;
  readonly reason: RefusalReason;
  readonly message: string;
}

export interface AssignmentPlan extends RecordedPool {
  /** The address of each client in `assignments`. */
  readonly addressOf: ReadonlyMap<MacAddress, Ipv4Address>;
  readonly refused: readonly RefusedClaim[];
  /** Whose claim to each MAC address counts. */
  readonly owners: ReadonlyMap<MacAddress, string>;
  readonly counts: PoolCounts;
}

export const NOTHING_RECORDED: RecordedPool = { assignments: [], quarantines: [] };

/** Whose each address is by this plan; nothing is copied. */
export function ownersOf({ addressOf, owners }: Pick<AssignmentPlan, 'addressOf' | 'owners'>): LastOwners {
  return {
    get: (macAddress) => {
      const [owner, address] = [owners.get(macAddress), addressOf.get(macAddress)];
      return owner === undefined || address === undefined ? undefined : { owner, address };
    },
  };
}
