/** The facts about a pool for the page, from an IPPool or from the pools file of a bare host. */
import type { Ipv4Address, MacAddress, Pool, Reservation } from '@vmdhcp/dhcp-allocator';
import type { PageCondition, PageReason, PageState } from '../model/page-data.js';
import { AddressTable } from './address-table.js';

/** A client that has an address. If two versions of a pool share the object, the client has not changed. */
export interface PoolClient {
  readonly address: Ipv4Address;
  readonly macAddress: MacAddress;
  readonly hostname?: string;
  /** The purpose of the address from the pools file, if there is no cluster with virtual machines. */
  readonly owner?: string;
  /** Milliseconds since 1970; absent if the lease does not end. */
  readonly expiresAtMs?: number;
  /** True for an unknown client of a bare host, which has no IPv6 address. */
  readonly isUnknown?: true;
}

export interface QuarantinedClient {
  readonly address: Ipv4Address;
  readonly untilMs: number | null;
  /** Empty: not known. */
  readonly usedBy: string;
}

export interface PoolFacts {
  readonly namespace: string;
  readonly name: string;
  readonly network: string;
  /** Undefined if it is too invalid to have a subnet. */
  readonly pool: Pool | undefined;
  readonly clients: AddressTable<PoolClient>;
  /** Reservations whose client has no address now and whose address is free, by address. */
  readonly kept: AddressTable<Reservation>;
  /** Addresses that no client gets, because an invalid entry of the record names them. */
  readonly unusable: readonly Ipv4Address[];
  readonly quarantined: readonly QuarantinedClient[];
  readonly state: PageState;
  readonly reasons: readonly PageReason[];
  readonly conditions: readonly PageCondition[];
  readonly servedByPod: string;
  readonly agents: string;
}

/**
 * Reservations of a pool that no client has now. The same reservation of the same pool is the same object.
 * @param hasAddress - whether a client has an address, if that is known; by default `clients` is searched.
 */
export function keptReservations(
  pool: Pool | undefined,
  clients: PoolFacts['clients'],
  hasAddress?: (macAddress: MacAddress) => boolean,
): PoolFacts['kept'] {
  if (pool === undefined || pool.reservations.size === 0) return NO_RESERVATIONS;
  const isPresent = hasAddress ?? isAmong(clients);
  const kept = [...pool.reservations.values()].filter(
    ({ macAddress, address }) => !isPresent(macAddress) && !clients.has(address),
  );
  return AddressTable.of(kept.map((reservation) => [reservation.address, reservation]));
}

const NO_RESERVATIONS: PoolFacts['kept'] = AddressTable.of();

function isAmong(clients: PoolFacts['clients']): (macAddress: MacAddress) => boolean {
  const present = new Set<MacAddress>();
  clients.each((_, { macAddress }) => present.add(macAddress));
  return (macAddress) => present.has(macAddress);
}
