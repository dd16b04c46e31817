import {
  type Assignment,
  cidrsOverlap,
  type Ipv4Address,
  type Ipv4Range,
  intersectRanges,
  mergeRanges,
  type Pool,
  rangesContain,
  subtractRanges,
} from '@vmdhcp/dhcp-allocator';
import { prefixesOverlap } from '@vmdhcp/dhcp-allocator/address';
import { ipv6Offset } from '@vmdhcp/dhcp-allocator/dhcpv6';

/** A pool, and the addresses that its machines have, which may be outside its ranges. */
export interface OccupiedPool {
  readonly pool: Pool;
  readonly assignments: readonly Assignment[];
}

/** What a pool may assign, what it has assigned or reserved, and its server. */
interface Uses {
  readonly leasable: readonly Ipv4Range[];
  readonly held: readonly Ipv4Address[];
  readonly server: Ipv4Address | undefined;
}

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
  const [uses, otherUses] = [usesOf(one), usesOf(other)];
  const contested = contestedBetween(uses, otherUses);
  const [offset, othersOffset] = [ipv6Offset(one.pool), ipv6Offset(other.pool)];
  if (offset === undefined || othersOffset === undefined) return mergeRanges(contested);
  // Agents have no IPv6 address of a pool.
  const ofBoth = contestedBetween({ ...uses, server: undefined }, moved(otherUses, othersOffset - offset));
  return mergeRanges([...contested, ...ofBoth]);
}

function contestedBetween(one: Uses, other: Uses): Ipv4Range[] {
  const both = one.leasable.flatMap((range) => other.leasable.flatMap((another) => intersectRanges(range, another) ?? []));
  const held = heldBy(one).filter((address) => rangesContain(other.leasable, address) || address === other.server);
  const othersHeld = heldBy(other).filter((address) => rangesContain(one.leasable, address) || address === one.server);
  return [...both, ...[...held, ...othersHeld].map((address) => ({ first: address, last: address }))];
}

function heldBy({ held, server }: Uses): readonly Ipv4Address[] {
  return server === undefined ? held : [server, ...held];
}

function usesOf({ pool, assignments }: OccupiedPool): Uses {
  return {
    leasable: subtractRanges(pool.ranges, pool.unavailable),
    held: [...pool.reservations.values(), ...assignments].map(({ address }) => address),
    server: pool.serverAddress,
  };
}

/** The same uses as the IPv4 addresses of another pool whose IPv6 addresses are the same. */
function moved({ leasable, held }: Uses, distance: bigint): Uses {
  const move = (address: Ipv4Address): number => Number(BigInt(address) + distance);
  const ranges = leasable.map(({ first, last }) => ({ first: Math.max(move(first), 0), last: Math.min(move(last), LAST) }));
  return {
    leasable: ranges.filter(({ first, last }) => first <= last),
    held: held.map(move).filter((address) => address >= 0 && address <= LAST),
    server: undefined,
  };
}
