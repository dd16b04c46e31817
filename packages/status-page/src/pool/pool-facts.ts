/** What the page shows of a pool, wherever it comes from: an IPPool, or a pools file of a bare host. */
import type { Ipv4Address, MacAddress, Pool, Reservation } from '@vmdhcp/dhcp-allocator';
import type { PageCondition, PageReason, PageState } from '../model/page-data.js';
import { AddressTable } from './address-table.js';

/** A client that has an address. Of two versions of a pool, a client that is the same object has not changed. */
export interface PoolClient {
  readonly address: Ipv4Address;
  readonly macAddress: MacAddress;
  readonly hostname?: string;
  /** What the address is for, as the pools file names it, where no cluster knows virtual machines. */
  readonly owner?: string;
  /** Milliseconds since 1970; absent: the lease does not end. */
  readonly expiresAtMs?: number;
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
  /** Undefined: it is too wrong to have a subnet. */
  readonly pool: Pool | undefined;
  readonly clients: AddressTable<PoolClient>;
  /** Reservations whose client has no address now, by their address, where no client has it. */
  readonly kept: AddressTable<Reservation>;
  /** Addresses that no client gets, as an entry of the record that makes no sense names them. */
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
 * @param hasAddress - whether a client has an address, where that is known; by default `clients` are looked through.
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
