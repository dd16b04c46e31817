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
  if (pool.rapidCommit && client.message.options.has(OptionCode.rapidCommit)) return { kind: 'ack', lease, rapid: true };
  return { kind: 'offer', lease };
}
