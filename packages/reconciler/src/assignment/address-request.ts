/** What asks for addresses: the claim of one interface, and the claims of one owner together. */
import type { Ipv4Address, MacAddress } from '@vmdhcp/dhcp-allocator';
import type { RefusalReason } from '../network-config/refusal-reason.js';

/** A network interface that shall have an address of a pool. */
export interface AddressClaim {
  /** Its owner, for people and for order: `default/vm-a`. */
  readonly owner: string;
  readonly macAddress: MacAddress;
  /** The address it shall have; any if absent or 0.0.0.0. */
  readonly wanted?: Ipv4Address;
  /** The address that it had last, by any record: it gets it again if it is free and nothing else is wanted. */
  readonly previous?: Ipv4Address;
  /** By the record it has `previous` now: of several claims to one MAC address this one counts, unless `lastOwners` knows better. */
  readonly holdsPrevious?: true;
  /** MAC addresses that the same interface had before: what is recorded for one of them, and is `previous`, becomes its own. */
  readonly replaces?: readonly MacAddress[];
  /** The oldest comes first: RFC 3339, or any text that sorts. */
  readonly createdAt?: string;
}

/** Why a claim is not met. */
export interface ClaimRefusal {
  readonly reason: RefusalReason;
  /** What is wrong and what to do about it. */
  readonly message: string;
}

/** Addresses that are wanted together. */
export interface AddressRequest {
  readonly owner: string;
  readonly createdAt?: string;
  readonly claims: readonly PoolClaim[];
  /** It gets nothing new; what it has stays. */
  readonly blocked?: ClaimRefusal;
}

export interface PoolClaim extends Pick<AddressClaim, 'macAddress' | 'wanted' | 'previous' | 'holdsPrevious' | 'replaces'> {
  readonly poolKey: string;
}

/** Blocks a request that only keeps what is recorded until its owner asks again. */
export const CONFIG_MISSING: ClaimRefusal = { reason: 'claim-missing', message: 'its VirtualMachineNetworkConfig is being made' };

/** A claim on its way to an address. */
export interface Candidate extends PoolClaim {
  readonly request: AddressRequest;
}
