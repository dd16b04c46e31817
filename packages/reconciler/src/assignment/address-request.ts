/** Requests for addresses: the claim of one interface, and the claims of one owner together. */
import type { Ipv4Address, MacAddress } from '@vmdhcp/dhcp-allocator';
import type { RefusalReason } from '../network-config/refusal-reason.js';

/** A network interface that should get an address of a pool. */
export interface AddressClaim {
  /** Its owner, for messages and for order: `default/vm-a`. */
  readonly owner: string;
  readonly macAddress: MacAddress;
  /** The address that it should get; any if absent or 0.0.0.0. */
  readonly wanted?: Ipv4Address;
  /** Its last address according to any record: it gets it again if it is free and it wants no other. */
  readonly previous?: Ipv4Address;
  /** True if according to the record it has `previous` now: then it wins over other claims to the MAC address, unless `lastOwners` knows better. */
  readonly holdsPrevious?: true;
  /** Former MAC addresses of the same interface: if `previous` is recorded for one of them, the interface takes it over. */
  readonly replaces?: readonly MacAddress[];
  /** True if it keeps what is recorded, and gets nothing new. Its owner's other claims do not wait for it. */
  readonly isLeaving?: true;
  /** Older claims come first: RFC 3339, or any text that sorts. */
  readonly createdAt?: string;
}

/** Why a claim is not met. */
export interface ClaimRefusal {
  readonly reason: RefusalReason;
  /** The problem and the remedy. */
  readonly message: string;
}

/** Addresses that are wanted together. */
export interface AddressRequest {
  readonly owner: string;
  readonly createdAt?: string;
  readonly claims: readonly PoolClaim[];
  /** It gets nothing new, but keeps what it has. */
  readonly blocked?: ClaimRefusal;
}

export interface PoolClaim
  extends Pick<AddressClaim, 'macAddress' | 'wanted' | 'previous' | 'holdsPrevious' | 'replaces' | 'isLeaving'> {
  readonly poolKey: string;
}

/** Blocks a request that only keeps what is recorded until its owner asks again. */
export const CLAIM_MISSING: ClaimRefusal = {
  reason: 'claim-missing',
  message: 'its VirtualMachineNetworkConfig is to claim it',
};

/** A claim on its way to an address. */
export interface Candidate extends PoolClaim {
  readonly request: AddressRequest;
}
