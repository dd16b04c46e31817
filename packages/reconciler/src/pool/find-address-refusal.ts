import {
  type AllocationRefusal,
  cidrContains,
  type Ipv4Address,
  type MacAddress,
  type Pool,
  rangesContain,
} from '@vmdhcp/dhcp-allocator';

/** Finds why an empty pool cannot assign this address to this client. */
export interface AddressRefusal {
  readonly reason: Extract<AllocationRefusal, 'address-reserved' | 'address-outside-pool' | 'address-unavailable'>;
  /** The client for which it is reserved. */
  readonly owner?: MacAddress;
}

/**
 * Decides like `AddressAllocator` in an empty pool, without creating one, which takes memory for every address. Undefined if the client can have the
 * address.
 */
export function findAddressRefusal(pool: Pool, macAddress: MacAddress, address: Ipv4Address): AddressRefusal | undefined {
  if (pool.reservations.get(macAddress)?.address === address) return undefined;
  const reservation = [...pool.reservations.values()].find((one) => one.address === address);
  if (reservation !== undefined) return { reason: 'address-reserved', owner: reservation.macAddress };
  if (!cidrContains(pool.cidr, address) || !rangesContain(pool.ranges, address)) return { reason: 'address-outside-pool' };
  return rangesContain(pool.unavailable, address) ? { reason: 'address-unavailable' } : undefined;
}
