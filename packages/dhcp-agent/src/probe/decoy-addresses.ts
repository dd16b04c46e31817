import { broadcastAddressOf, type Ipv4Address, lastAddressOf, networkAddressOf, type Pool } from '@vmdhcp/dhcp-allocator';

const MOST_DRAWS = 64;
/** How many addresses are tried one by one if random draws find too few, as in a nearly full subnet. */
const MOST_LOOKS = 4_096;

/**
 * Addresses of the pool's subnet that no client has: a host that answers for all of them answers for every address. They are random, so that a host
 * cannot tell them from addresses that are about to be leased.
 *
 * @param isAssigned - true for addresses of clients.
 * @param random - at least 0, less than 1.
 * @returns different addresses, at most `count`; fewer if there are not as many.
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
  const draw = () => Math.floor(random() * size);
  const consider = (offset: number) => {
    const address = cidr.network + (offset % size);
    if (!known.has(address) && !isAssigned(address)) decoys.add(address);
  };
  for (let draws = 0; draws < MOST_DRAWS && decoys.size < count; draws++) consider(draw());
  const first = draw();
  for (let looks = 0; looks < Math.min(size, MOST_LOOKS) && decoys.size < count; looks++) consider(first + looks);
  return [...decoys];
}
