import type { ClientMessage } from './client-message.js';
import { type Decision, ignore, type KnownClient } from './decision.js';

/**
 * Decides what a DHCPRELEASE means: the client stops using its address. The address stays assigned to it. Never answered.
 *
 * Source: RFC 2131 §4.3.4; table 5 (ciaddr and option 54 MUST be there).
 */
export function decideRelease(client: ClientMessage, { pool, lease }: KnownClient): Decision {
  if (client.serverIdentifier === undefined) return ignore('server-identifier-missing');
  if (client.serverIdentifier !== pool.serverAddress) return ignore('other-server-selected');
  if (client.clientAddress === undefined) return ignore('address-missing');
  if (lease === undefined) return ignore('unknown-client');
  return client.clientAddress === lease.address ? { kind: 'release', lease } : ignore('address-not-its-own');
}
