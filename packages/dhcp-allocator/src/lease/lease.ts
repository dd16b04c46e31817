import type { Ipv4Address } from '../address/ipv4-address.js';
import type { MacAddress } from '../address/mac-address.js';

/** An assignment as it is stored: this client has this address of this pool. */
export interface Assignment {
  readonly macAddress: MacAddress;
  readonly address: Ipv4Address;
  /** Sent as option 12. */
  readonly hostname?: string;
}

/** What differs between two records of a pool. */
export interface AssignmentChanges {
  /** Clients that have no address any more. */
  readonly removed: readonly MacAddress[];
  /** Clients with a new address or a new host name. */
  readonly assigned: readonly Assignment[];
}

/** An assignment, and until when the client uses it. */
export interface Lease extends Assignment {
  readonly poolName: string;
  /**
   * Until when the client may use the address without asking again; milliseconds on the caller's clock, Infinity for a lease that never ends. Absent:
   * the client has not asked yet, has released it, or let it expire.
   */
  readonly expiresAtMs?: number;
}

/** A difference between two states of a lease table. */
export type LeaseChange =
  | { readonly kind: 'added'; readonly lease: Lease }
  | { readonly kind: 'removed'; readonly lease: Lease }
  | { readonly kind: 'changed'; readonly lease: Lease; readonly previous: Lease };
