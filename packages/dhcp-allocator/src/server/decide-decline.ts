import type { ClientMessage } from './client-message.js';
import { type Decision, ignore, type KnownClient } from './decision.js';

/**
 * Decides what a DHCPDECLINE means: the client found that another machine uses its address. The caller decides what to do about the address; a client
 * can decline only its own address. Never answered.
 *
 * Source: RFC 2131 §4.3.3; table 5 (option 50 and option 54 MUST be there).
 */
export function decideDecline(client: ClientMessage, { pool, lease }: KnownClient): Decision {
  if (client.serverIdentifier === undefined) return ignore('server-identifier-missing');
  if (client.serverIdentifier !== pool.serverAddress) return ignore('other-server-selected');
  if (client.requestedAddress === undefined) return ignore('address-missing');
  if (lease === undefined) return ignore('unknown-client');
  return client.requestedAddress === lease.address ? { kind: 'decline', lease } : ignore('address-not-its-own');
}
