import { formatIpv4Address, type Ipv4Address, type Lease, type Pool } from '@vmdhcp/dhcp-allocator';
import { formatIpv6Address } from '@vmdhcp/dhcp-allocator/address';
import { ipv6AddressBeside } from '@vmdhcp/dhcp-allocator/dhcpv6';
import { formatLeaseTime } from './lease-time.js';

/** A lease as shown to people and scripts. */
export interface LeaseView {
  readonly pool: string;
  readonly address: string;
  /** Absent if the client has none, or the pool is not known (saved leases, agents in a cluster). */
  readonly ipv6Address?: string;
  readonly macAddress: string;
  readonly hostname?: string;
  /** The owner: the VirtualMachineNetworkConfig, `namespace/name`, or the reservation. */
  readonly owner?: string;
  /** `bound`: the client uses it; `assigned`: it would get it. */
  readonly state: 'bound' | 'assigned';
  /** ISO 8601; `never` for a lease without end; absent if it is not bound. */
  readonly expires?: string;
  /** True if the client is unknown: it leases the address from the dynamic ranges. */
  readonly dynamic?: true;
}

/** An address that an unknown host uses: no client gets it for some time. */
export interface QuarantineView {
  readonly pool: string;
  readonly address: Ipv4Address;
  /** Milliseconds since 1970. */
  readonly untilMs: number;
}

/**
 * Converts a lease for people and programs.
 * @param owner - whom the address is for.
 * @param pool - the pool of the lease, if it is known and the lease is that of a declared client: its prefix gives the IPv6 address.
 */
export function toLeaseView(lease: Lease, owner: string | undefined, pool: Pool | undefined): LeaseView {
  const { poolName, address, macAddress, hostname, expiresAtMs } = lease;
  const ipv6Address = pool && ipv6AddressBeside(pool, address);
  return {
    pool: poolName,
    address: formatIpv4Address(address),
    ...(ipv6Address !== undefined && { ipv6Address: formatIpv6Address(ipv6Address) }),
    macAddress,
    ...(hostname !== undefined && { hostname }),
    ...(owner !== undefined && { owner }),
    state: expiresAtMs === undefined ? 'assigned' : 'bound',
    ...(expiresAtMs !== undefined && { expires: formatLeaseTime(expiresAtMs) }),
  };
}
