import {
  type Assignment,
  cidrsOverlap,
  type Ipv4Address,
  type Ipv4Range,
  mergeRanges,
  type Pool,
  subtractRanges,
} from '@vmdhcp/dhcp-allocator';
import { prefixesOverlap } from '@vmdhcp/dhcp-allocator/address';
import { ipv6Offset } from '@vmdhcp/dhcp-allocator/dhcpv6';
import { sharedRanges } from './shared-ranges.js';

/** A pool, and the addresses that its machines have, which may be outside its ranges. */
export interface OccupiedPool {
  readonly pool: Pool;
  readonly assignments: readonly Assignment[];
}

/** The addresses that a pool may use in one protocol: each list is sorted and merged. */
interface Uses {
  /** What it may assign, and its server. */
  readonly open: readonly Ipv4Range[];
  /** What it has assigned or reserved, and its server. */
  readonly held: readonly Ipv4Range[];
}

/** The addresses that a pool may use. Computed once for a pool that is compared with many. */
export interface PoolUses {
  readonly ipv4: Uses;
  /** The IPv4 addresses whose IPv6 addresses it may use, beside the distance to these. Undefined without IPv6. */
  readonly ipv6: (Uses & { readonly offset: bigint }) | undefined;
}

/** The uses of a pool that is not served. */
export const NOTHING_USED: PoolUses = { ipv4: { open: [], held: [] }, ipv6: undefined };

const LAST = 0xffffffff;

/** True if an IPv4 or an IPv6 address could be in both pools. */
export function poolsOverlap(one: Pick<Pool, 'cidr' | 'dhcpv6'>, other: Pick<Pool, 'cidr' | 'dhcpv6'>): boolean {
  const [prefix, othersPrefix] = [one.dhcpv6?.prefix, other.dhcpv6?.prefix];
  const hasPrefixes = prefix !== undefined && othersPrefix !== undefined;
  return cidrsOverlap(one.cidr, other.cidr) || (hasPrefixes && prefixesOverlap(prefix, othersPrefix));
}

/**
 * The addresses of the first pool that the other one could use too, themselves or the IPv6 address beside them: each could assign them, or one of the
 * pools has, keeps or reserves an address, also as its server, that the other could assign. Sorted and merged.
 */
export function contestedAddresses(one: OccupiedPool, other: OccupiedPool): Ipv4Range[] {
  return contestedBetween(usesOf(one), usesOf(other));
}

/** The same as `contestedAddresses`. */
export function contestedBetween({ ipv4, ipv6 }: PoolUses, other: PoolUses): Ipv4Range[] {
  const contested = contestedUses(ipv4, other.ipv4);
  if (ipv6 === undefined || other.ipv6 === undefined) return contested;
  return mergeRanges([...contested, ...contestedUses(ipv6, moved(other.ipv6, other.ipv6.offset - ipv6.offset))]);
}

function contestedUses(one: Uses, other: Uses): Ipv4Range[] {
  const both = sharedRanges(one.open, other.open);
  return mergeRanges([...both, ...sharedRanges(one.held, other.open), ...sharedRanges(other.held, one.open)]);
}

/** The addresses that the pool may use. */
export function usesOf({ pool, assignments }: OccupiedPool): PoolUses {
  const open = subtractRanges(pool.ranges, pool.unavailable);
  const held = mergeRanges([...pool.reservations.values(), ...assignments].map(({ address }) => rangeOf(address)));
  const server = rangeOf(pool.serverAddress);
  const offset = ipv6Offset(pool);
  return {
    ipv4: { open: mergeRanges([...open, server]), held: mergeRanges([...held, server]) },
    // Agents have no IPv6 address of a pool.
    ipv6: offset === undefined ? undefined : { open, held, offset },
  };
}

/** True if both are the same addresses. */
export function isSameUses(one: PoolUses, other: PoolUses): boolean {
  const textOf = ({ ipv4, ipv6 }: PoolUses) => JSON.stringify([ipv4, ipv6 && { ...ipv6, offset: String(ipv6.offset) }]);
  return textOf(one) === textOf(other);
}

function rangeOf(address: Ipv4Address): Ipv4Range {
  return { first: address, last: address };
}

/** The same uses as the IPv4 addresses of another pool whose IPv6 addresses are the same. */
function moved({ open, held }: Uses, distance: bigint): Uses {
  const move = (address: Ipv4Address): number => Number(BigInt(address) + distance);
  const moveAll = (ranges: readonly Ipv4Range[]) =>
    ranges
      .map(({ first, last }) => ({ first: Math.max(move(first), 0), last: Math.min(move(last), LAST) }))
      .filter(({ first, last }) => first <= last);
  return { open: moveAll(open), held: moveAll(held) };
}
