import {
  type Assignment,
  type Ipv4Address,
  type Ipv4Range,
  intersectRanges,
  mergeRanges,
  type Pool,
  rangesContain,
  subtractRanges,
} from '@vmdhcp/dhcp-allocator';

/** A pool, and the addresses that its machines have, which may be outside its ranges. */
export interface OccupiedPool {
  readonly pool: Pool;
  readonly assignments: readonly Assignment[];
}

/**
 * The addresses that two pools on one segment could both use: each could assign them, or one of them has, keeps or reserves an address, also as its
 * server, that the other could assign. Sorted and merged.
 */
export function contestedAddresses(one: OccupiedPool, other: OccupiedPool): Ipv4Range[] {
  const [leasable, othersLeasable] = [leasableOf(one.pool), leasableOf(other.pool)];
  const both = leasable.flatMap((range) => othersLeasable.flatMap((another) => intersectRanges(range, another) ?? []));
  const held = heldBy(one).filter((address) => rangesContain(othersLeasable, address) || address === other.pool.serverAddress);
  const othersHeld = heldBy(other).filter((address) => rangesContain(leasable, address) || address === one.pool.serverAddress);
  return mergeRanges([...both, ...[...held, ...othersHeld].map((address) => ({ first: address, last: address }))]);
}

function leasableOf({ ranges, unavailable }: Pool): Ipv4Range[] {
  return subtractRanges(ranges, unavailable);
}

function heldBy({ pool, assignments }: OccupiedPool): Ipv4Address[] {
  return [pool.serverAddress, ...[...pool.reservations.values(), ...assignments].map(({ address }) => address)];
}
