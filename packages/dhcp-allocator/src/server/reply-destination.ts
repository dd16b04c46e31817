import { BROADCAST_ADDRESS, type Ipv4Address } from '../address/ipv4-address.js';
import type { ClientMessage } from './client-message.js';
import type { Decision } from './decision.js';

/** The UDP port of DHCP servers. Source: RFC 2131 §4.1. */
export const SERVER_PORT = 67;
/** The UDP port of DHCP clients. Source: RFC 2131 §4.1. */
export const CLIENT_PORT = 68;

/**
 * Where a reply goes.
 * - `unicast`: an ordinary datagram; the kernel finds the way.
 * - `broadcast`: to 255.255.255.255 on the interface the message came in on.
 * - `link`: to an address that the client does not have yet, so no host answers ARP for it: in a frame to its MAC address.
 * A server that cannot send frames broadcasts instead.
 */
export interface ReplyDestination {
  readonly kind: 'unicast' | 'broadcast' | 'link';
  readonly address: Ipv4Address;
  readonly port: number;
}

const BROADCAST: ReplyDestination = { kind: 'broadcast', address: BROADCAST_ADDRESS, port: CLIENT_PORT };

/**
 * Where the reply to a client goes. The first rule that applies decides: through the relay; a NAK by broadcast, because its receiver's address is
 * wrong; to the address the client uses; by broadcast if it asks for that; to its new address.
 *
 * An answer to INFORM goes to the client's own address even if a relay handed the message on.
 *
 * Source: RFC 2131 §4.1 ("If the 'giaddr' field in a DHCP message from a client is non-zero, ..."), §4.3.5 for INFORM.
 */
export function replyDestination(client: ClientMessage, decision: Decision): ReplyDestination {
  if (decision.kind === 'inform') return toClient('unicast', decision.clientAddress);
  if (client.relayAddress !== undefined) return { kind: 'unicast', address: client.relayAddress, port: SERVER_PORT };
  if (decision.kind === 'nak') return BROADCAST;
  if (!('lease' in decision)) return BROADCAST;
  // Only to its own address: a message must not be able to direct replies to another host.
  if (client.clientAddress === decision.lease.address) return toClient('unicast', client.clientAddress);
  if (client.wantsBroadcast) return BROADCAST;
  return toClient('link', decision.lease.address);
}

function toClient(kind: 'unicast' | 'link', address: Ipv4Address): ReplyDestination {
  return { kind, address, port: CLIENT_PORT };
}
