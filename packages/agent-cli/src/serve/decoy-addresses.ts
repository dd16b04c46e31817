import { broadcastAddressOf, type Ipv4Address, lastAddressOf, networkAddressOf, type Pool } from '@vmdhcp/dhcp-allocator';

const MOST_DRAWS = 64;

/**
 * Addresses of the pool's subnet that no client has: a host that answers for all of them answers for every address. Drawn at random,
 * so that a host cannot tell them from addresses that are about to be given out.
 *
 * @param isAssigned - true for addresses of clients.
 * @param random - at least 0, less than 1.
 * @returns exactly `count` different addresses, or none where so many are not found.
 */
export function decoyAddresses(
  pool: Pool,
  { count, isAssigned, random }: { count: number; isAssigned: (address: Ipv4Address) => boolean; random: () => number },
): Ipv4Address[] {
  const { cidr, serverAddress, options, reservations } = pool;
  const known = new Set([
    ...[serverAddress, options.router, networkAddressOf(cidr), broadcastAddressOf(cidr)],
    ...[...reservations.values()].map(({ address }) => address),
  ]);
  const size = lastAddressOf(cidr) - cidr.network + 1;
  const decoys = new Set<Ipv4Address>();
  for (let draw = 0; draw < MOST_DRAWS && decoys.size < count; draw++) {
    const address = cidr.network + Math.floor(random() * size);
    if (!known.has(address) && !isAssigned(address)) decoys.add(address);
  }
  return decoys.size === count ? [...decoys] : [];
}
