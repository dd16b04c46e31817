import { type Ipv4Address, isNeverAHost } from '../address/ipv4-address.js';
import { cidrContains } from '../address/ipv4-cidr.js';
import type { Pool } from '../pool/pool.js';
import { isAnotherHost } from './another-host.js';

/**
 * True if the pool answers messages of this relay (giaddr): it is a host in the subnet of the pool, or `relays` of the pool
 * contains it.
 *
 * A server sends its reply to giaddr (RFC 2131 §4.1), and option 82 can name the subnet of the client (RFC 3527). Without this
 * check, any client could make the server send packets to any address.
 */
export function isRelayAllowed(relayAddress: Ipv4Address, pool: Pool): boolean {
  if (cidrContains(pool.cidr, relayAddress)) return isAnotherHost(relayAddress, pool);
  return !isNeverAHost(relayAddress) && pool.relays.some((relays) => cidrContains(relays, relayAddress));
}
