/** The leases of a pool: its clients, and addresses that are kept for one. */
import { formatIpv4Address, type Ipv4Address, type MacAddress, type Reservation } from '@vmdhcp/dhcp-allocator';
import { formatIpv6Address } from '@vmdhcp/dhcp-allocator/address';
import { ipv6AddressBeside } from '@vmdhcp/dhcp-allocator/dhcpv6';
import type { PageLease } from '../model/page-data.js';
import type { AddressTable } from './address-table.js';
import type { PoolClient, PoolFacts } from './pool-facts.js';
import type { PoolSnapshot } from './pool-snapshot.js';

/** A row of the list of leases before it is formatted. */
export type AddressHolder = PoolClient | Reservation;

/** The virtual machine with a MAC address on a network, as `namespace/name`; empty if it is unknown or must not be shown. */
export type LeaseNames = (network: string, macAddress: MacAddress) => string;

/** The owner of the address; undefined if it has none. */
export function holderAt({ clients, kept }: PoolFacts, address: Ipv4Address): AddressHolder | undefined {
  return clients.get(address) ?? kept.get(address);
}

/** The row for the page. */
export function toLease({ key, facts }: PoolSnapshot, row: AddressHolder, names: LeaseNames): PageLease {
  const { address, macAddress, hostname, owner = '', expiresAtMs }: PoolClient = row;
  const ofReservation = facts.pool?.reservations.get(macAddress)?.hostname;
  return {
    pool: key,
    address: formatIpv4Address(address),
    ipv6Address: ipv6TextOf(facts, row),
    mac: macAddress,
    state: facts.clients.has(address) ? 'used' : 'reserved',
    machine: names(facts.network, macAddress) || owner,
    hostname: hostname ?? ofReservation ?? '',
    expiresAtMs: expiresAtMs ?? null,
  };
}

function ipv6TextOf({ pool }: PoolFacts, { address, isUnknown }: PoolClient): string {
  const found = pool && isUnknown !== true ? ipv6AddressBeside(pool, address) : undefined;
  return found === undefined ? '' : formatIpv6Address(found);
}

/** In ascending order of addresses. */
export function holdersOf({ clients, kept }: PoolFacts): Iterable<AddressHolder> {
  const rows: AddressTable<AddressHolder> = clients;
  return kept.size === 0 ? rows.values() : rows.with({ removed: [], set: kept.entries() }).values();
}
