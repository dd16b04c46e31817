import type { Pool } from '../pool/pool.js';
import { OptionCode } from '../wire/layout.js';
import type { ClientMessage } from './client-message.js';
import { type Decision, ignore, type KnownClient } from './decision.js';

/**
 * Decides how to answer a DHCPDISCOVER: with the client's address, whatever address it requests. An unknown client gets no reply, because another
 * server on the segment may know it.
 *
 * Source: RFC 2131 §4.3.1; RFC 4039 §3 (a server that is configured for it answers option 80 by an ACK).
 */
export function decideDiscover(client: ClientMessage, { pool, lease }: KnownClient): Decision {
  if (lease === undefined) return ignore('unknown-client');
  return takesRapidCommit(client, pool) ? { kind: 'ack', lease, rapid: true } : { kind: 'offer', lease };
}

/** True if an ACK answers a DISCOVER. A client that may do without IPv4 first decides whether it requests the address. Source: RFC 4039 §3, RFC 8925 §3.2. */
export function takesRapidCommit({ message: { options } }: ClientMessage, pool: Pool): boolean {
  if (!pool.rapidCommit || !options.has(OptionCode.rapidCommit)) return false;
  const mayForgoIpv4 = pool.options.ipv6OnlyWaitSeconds !== undefined;
  return !(mayForgoIpv4 && options.get(OptionCode.parameterRequestList)?.includes(OptionCode.ipv6OnlyPreferred) === true);
}
