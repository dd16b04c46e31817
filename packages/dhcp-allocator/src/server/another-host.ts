import type { Ipv4Address } from '../address/ipv4-address.js';
import { broadcastAddressOf, cidrContains, networkAddressOf } from '../address/ipv4-cidr.js';
import type { Pool } from '../pool/pool.js';

/**
 * True if the address is one that another host in the pool's subnet can have. The network and broadcast address are not: a
 * reply to them would go to every host. The server address is not: a reply to it would come back to the server.
 */
export function isAnotherHost(address: Ipv4Address, { cidr, serverAddress }: Pool): boolean {
  if (address === serverAddress || address === networkAddressOf(cidr) || address === broadcastAddressOf(cidr)) return false;
  return cidrContains(cidr, address);
}
