import {
  broadcastAddressOf,
  formatIpv4Address,
  formatIpv4Range,
  type Ipv4Range,
  lastAddressOf,
  MAX_RANGE_SIZE,
  networkAddressOf,
  type Pool,
} from '@vmdhcp/dhcp-allocator';
import { describeCount, describeNames } from '@vmdhcp/kube-runtime';

const MOST_RANGES = 3;

/** At most three of them, and how many more there are. */
export function describeRanges(ranges: readonly Ipv4Range[]): string {
  return describeNames(ranges.map(formatIpv4Range), { most: MOST_RANGES });
}

/** How to add addresses to a full pool, if its subnet has any outside the range. */
export function describeRoom({ cidr, range, ranges }: Pool): string {
  if (ranges.length > 1) return 'add addresses to spec.ipv4Config.pool.ranges of the IPPool, or delete virtual machines';
  const lowest = networkAddressOf(cidr) === undefined ? cidr.network : cidr.network + 1;
  const highest = lastAddressOf(cidr) - (broadcastAddressOf(cidr) === undefined ? 0 : 1);
  const end = Math.min(highest, range.first + MAX_RANGE_SIZE - 1);
  const start = Math.max(lowest, range.last - MAX_RANGE_SIZE + 1);
  if (range.last < end)
    return `raise spec.ipv4Config.pool.end of the IPPool (up to ${formatIpv4Address(end)}), or delete virtual machines`;
  if (range.first > start)
    return `lower spec.ipv4Config.pool.start of the IPPool (down to ${formatIpv4Address(start)}), or delete virtual machines`;
  return 'delete virtual machines, or attach some to another network: the range fills its subnet';
}

/** Why a pool takes no more clients, and what to do. @param used - the number of clients. */
export function describeFull(used: number): string {
  return `records ${describeCount(used, 'address', 'addresses')}, which is the most that one IPPool has room for; delete virtual machines, or attach some to another network with an IPPool of its own`;
}
