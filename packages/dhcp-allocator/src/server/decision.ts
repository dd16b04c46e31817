import type { Ipv4Address } from '../address/ipv4-address.js';
import type { Lease } from '../lease/lease.js';
import type { Pool } from '../pool/pool.js';

/** What the server knows about the client: the pool of its network, and its lease there if it has one. */
export interface KnownClient {
  readonly pool: Pool;
  readonly lease?: Lease;
}

/** Why a client gets no answer. */
export type IgnoreReason =
  | 'unknown-client'
  | 'other-server-selected'
  | 'address-missing'
  | 'address-not-its-own'
  | 'client-not-on-this-network'
  | 'server-identifier-missing'
  | 'pool-exhausted'
  | 'lease-stays'
  | 'being-recorded'
  | 'not-recorded';

/** Why a client has to start over. */
export type NakReason = 'reservation-gone' | 'address-not-its-own' | 'not-authorized-here' | 'address-not-available';

/**
 * How to answer one message. `offer`, `ack`, `inform` and `nak` are sent; `release` and `decline` change leases without an
 * answer; `ignore` does neither.
 */
export type Decision =
  | { readonly kind: 'ignore'; readonly reason: IgnoreReason }
  | { readonly kind: 'offer'; readonly lease: Lease }
  | { readonly kind: 'ack'; readonly lease: Lease /** Answers a DISCOVER, RFC 4039. */; readonly rapid?: true }
  | { readonly kind: 'nak'; readonly reason: NakReason }
  | { readonly kind: 'inform'; readonly clientAddress: Ipv4Address }
  | { readonly kind: 'release'; readonly lease: Lease }
  | { readonly kind: 'decline'; readonly lease: Lease };

export function ignore(reason: IgnoreReason): Extract<Decision, { kind: 'ignore' }> {
  return { kind: 'ignore', reason };
}

export function nak(reason: NakReason): Extract<Decision, { kind: 'nak' }> {
  return { kind: 'nak', reason };
}
