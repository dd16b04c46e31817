import { DEFAULT_LEASE_TIME_SECONDS, INFINITE_LEASE_TIME_SECONDS, type Problem } from '@vmdhcp/dhcp-allocator';
import type { IPv4Config } from '@vmdhcp/ippool-api';

/** Finds an impossible lease time. Like upstream, the API reads 0 and less as the default, but its author probably meant something else. */
export function findLeaseTimeProblem(
  config: Pick<IPv4Config, 'leaseTime'> | undefined,
): Problem<'lease-time-impossible'> | undefined {
  const leaseTime = config?.leaseTime;
  if (typeof leaseTime !== 'number' || (leaseTime >= 1 && leaseTime <= INFINITE_LEASE_TIME_SECONDS)) return undefined;
  return {
    reason: 'lease-time-impossible',
    path: ['spec', 'ipv4Config', 'leaseTime'],
    value: leaseTime,
    message: `${leaseTime} is not a number of seconds that a lease can last`,
    remedy: `write 1 to ${INFINITE_LEASE_TIME_SECONDS - 1}, ${INFINITE_LEASE_TIME_SECONDS} for leases without end, or leave it out for one year (${DEFAULT_LEASE_TIME_SECONDS})`,
  };
}
