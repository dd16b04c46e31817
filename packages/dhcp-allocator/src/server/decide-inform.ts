import { isAnotherHost } from './another-host.js';
import type { ClientMessage } from './client-message.js';
import { type Decision, ignore, type KnownClient } from './decision.js';

/**
 * Decides how to answer a DHCPINFORM: with the network's parameters, to any host that has an address in the subnet.
 * "The server SHOULD check the network address in a DHCPINFORM message for consistency, but MUST NOT check for an existing
 * lease."
 *
 * Source: RFC 2131 §3.4, §4.3.5.
 */
export function decideInform(client: ClientMessage, { pool }: KnownClient): Decision {
  const { clientAddress } = client;
  if (clientAddress === undefined) return ignore('address-missing');
  if (!isAnotherHost(clientAddress, pool)) return ignore('client-not-on-this-network');
  return { kind: 'inform', clientAddress };
}
