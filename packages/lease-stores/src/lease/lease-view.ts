import { formatIpv4Address, type Ipv4Address, type Lease } from '@vmdhcp/dhcp-allocator';
import { formatLeaseTime } from './lease-time.js';

/** A lease as people and scripts see it. */
export interface LeaseView {
  readonly pool: string;
  readonly address: string;
  readonly macAddress: string;
  readonly hostname?: string;
  /** The VirtualMachineNetworkConfig it is for, `namespace/name`, or the reservation. */
  readonly owner?: string;
  /** `bound`: the client uses it; `assigned`: it would get it. */
  readonly state: 'bound' | 'assigned';
  /** ISO 8601; `never` for a lease without end; absent where it is not bound. */
  readonly expires?: string;
  /** The client is unknown: it leases the address from the dynamic ranges. */
  readonly dynamic?: true;
}

/** An address that an unknown host uses: no client gets it for a time. */
export interface QuarantineView {
  readonly pool: string;
  readonly address: Ipv4Address;
  /** Milliseconds since 1970. */
  readonly untilMs: number;
}

/** Returns a lease as people and programs see it. @param owner - whom the address is for. */
export function toLeaseView(lease: Lease, owner: string | undefined): LeaseView {
  const { poolName: pool, address, macAddress, hostname, expiresAtMs } = lease;
  return {
    pool,
    address: formatIpv4Address(address),
    macAddress,
    ...(hostname !== undefined && { hostname }),
    ...(owner !== undefined && { owner }),
    state: expiresAtMs === undefined ? 'assigned' : 'bound',
    ...(expiresAtMs !== undefined && { expires: formatLeaseTime(expiresAtMs) }),
  };
}
