import {
  type AllocationRefusal,
  cidrContains,
  type Ipv4Address,
  type MacAddress,
  type Pool,
  rangeContains,
} from '@vmdhcp/dhcp-allocator';

/** Why a pool in which no client has an address cannot assign this one to this client. */
export interface AddressRefusal {
  readonly reason: Extract<AllocationRefusal, 'address-reserved' | 'address-outside-pool' | 'address-unavailable'>;
  /** The client that it is reserved for. */
  readonly owner?: MacAddress;
}

/**
 * As `AddressAllocator` decides in an empty pool, without making one, which takes memory for every address. Undefined: the client can have
 * the address.
 */
export function findAddressRefusal(pool: Pool, macAddress: MacAddress, address: Ipv4Address): AddressRefusal | undefined {
  if (pool.reservations.get(macAddress)?.address === address) return undefined;
  const reservation = [...pool.reservations.values()].find((one) => one.address === address);
  if (reservation !== undefined) return { reason: 'address-reserved', owner: reservation.macAddress };
  if (!cidrContains(pool.cidr, address) || !rangeContains(pool.range, address)) return { reason: 'address-outside-pool' };
  return pool.unavailable.some((range) => rangeContains(range, address)) ? { reason: 'address-unavailable' } : undefined;
}
