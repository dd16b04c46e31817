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

/** It has no entry for a MAC address that has another address by now. */
export type LastOwners = ReadonlyMap<MacAddress, { readonly owner: string; readonly address: Ipv4Address }>;

/** A pool, and what is known of it. */
export interface PoolState extends KnownState {
  /** Names the pool in requests. */
  readonly key: string;
  readonly pool: Pool;
}

/** A claim that cannot be met, and why. */
export interface RefusedClaim {
  readonly owner: string;
  readonly macAddress: MacAddress;
  readonly reason: RefusalReason;
  readonly message: string;
}

export interface AssignmentPlan extends RecordedPool {
  readonly refused: readonly RefusedClaim[];
  /** Whose claim to each MAC address counts. */
  readonly owners: ReadonlyMap<MacAddress, string>;
  readonly counts: PoolCounts;
}

export const NOTHING_RECORDED: RecordedPool = { assignments: [], quarantines: [] };

/** Whose each address is by this plan. */
export function ownersOf({ assignments, owners }: AssignmentPlan): LastOwners {
  return new Map(
    assignments.flatMap(({ macAddress, address }) => {
      const owner = owners.get(macAddress);
      return owner === undefined ? [] : [[macAddress, { owner, address }] as const];
    }),
  );
}
