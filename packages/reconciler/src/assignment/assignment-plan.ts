/** The input and the result of a plan of addresses. */
import type { Assignment, Ipv4Address, MacAddress, Pool, PoolCounts } from '@vmdhcp/dhcp-allocator';
import type { RefusalReason } from '../network-config/refusal-reason.js';
import { PersistentMap } from '../pool/persistent-map.js';
import type { Quarantine } from '../pool/quarantines.js';
import type { ClaimRefusal } from './address-request.js';

/** The record of a pool. */
export interface RecordedPool {
  readonly assignments: readonly Assignment[];
  readonly quarantines: readonly Quarantine[];
  /** Addresses that no client gets in any case. */
  readonly unavailable?: readonly Ipv4Address[];
}

/** The input of a plan. */
export interface KnownState {
  readonly recorded: RecordedPool;
  /** Milliseconds on the caller's clock. */
  readonly nowMs: number;
  /** The owners according to the last recorded plan. Absent, or without an entry for a MAC address, if not known. */
  readonly lastOwners?: LastOwners;
}

/** It has no entry for a MAC address whose address has changed. */
export interface LastOwners {
  readonly get: (macAddress: MacAddress) => { readonly owner: string; readonly address: Ipv4Address } | undefined;
}

/** A pool and its state. */
export interface PoolState extends KnownState {
  /** The name of the pool in requests. */
  readonly key: string;
  readonly pool: Pool;
  /** The maximum number of clients in the record; absent for no limit. Recorded clients stay. */
  readonly mostClients?: number;
  /** Other recorded addresses without a request, which are not in `recorded` and stay. Absent if there are none. */
  readonly settled?: SettledClients;
}

/** A claim that cannot be met, and why. */
export interface RefusedClaim {
  readonly owner: string;
  readonly macAddress: MacAddress;
  readonly reason: RefusalReason;
  readonly message: string;
}

export interface AssignmentPlan extends RecordedPool {
  /** In the order of their MAC addresses; made when it is read first. */
  readonly assignments: readonly Assignment[];
  /** The address of each client in `assignments`. */
  readonly addressOf: PersistentMap<MacAddress, Ipv4Address>;
  /** Clients whose address may differ from the recorded one. */
  readonly planned: ReadonlySet<MacAddress>;
  /** Addresses in use that no other client would get: they are outside the range, or unavailable. */
  readonly outside: ReadonlySet<Ipv4Address>;
  readonly refused: readonly RefusedClaim[];
  /** By the owner, then by MAC address. */
  readonly refusals: ReadonlyMap<string, ReadonlyMap<MacAddress, ClaimRefusal>>;
  /** The winning claim for each MAC address. */
  readonly owners: PersistentMap<MacAddress, string>;
  readonly counts: PoolCounts;
}

/** A pool whose status has no address. */
export const NOTHING_RECORDED: RecordedPool = { assignments: [], quarantines: [] };

/** Recorded clients that stay as they are. */
export interface SettledClients {
  readonly addressOf: PersistentMap<MacAddress, Ipv4Address>;
  /** The owner by MAC address. */
  readonly owners: PersistentMap<MacAddress, string>;
}

export const NOTHING_SETTLED: SettledClients = { addressOf: PersistentMap.of(), owners: PersistentMap.of() };

/** The owner of each address in this plan; nothing is copied. */
export function ownersOf({ addressOf, owners }: Pick<AssignmentPlan, 'addressOf' | 'owners'>): LastOwners {
  return {
    get: (macAddress) => {
      const [owner, address] = [owners.get(macAddress), addressOf.get(macAddress)];
      return owner === undefined || address === undefined ? undefined : { owner, address };
    },
  };
}
