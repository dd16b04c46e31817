import type { ClientMessage } from './client-message.js';
import { type Decision, ignore, type KnownClient, nak } from './decision.js';

/** What a client means by a DHCPREQUEST, recognized by the fields that it fills. Source: RFC 2131 §4.3.2, table 4. */
type RequestState = 'selecting' | 'init-reboot' | 'renewing-or-rebinding';

/**
 * The state of a requesting client: SELECTING names a server; INIT-REBOOT names an address in option 50; RENEWING and
 * REBINDING name theirs in ciaddr, and differ only in how they are sent. Undefined if the message names no address.
 */
function requestStateOf(client: ClientMessage): RequestState | undefined {
  const claimed = client.requestedAddress ?? client.clientAddress;
  if (claimed === undefined) return undefined;
  if (client.serverIdentifier !== undefined) return 'selecting';
  return client.clientAddress === undefined ? 'init-reboot' : 'renewing-or-rebinding';
}

/**
 * Decides how to answer a DHCPREQUEST: an ACK if the client claims the address that it has here, a NAK otherwise.
 *
 * A client without a lease here belongs to another server and gets no reply ("If the DHCP server has no record of this client,
 * then it MUST remain silent") unless it names us as its server, or the pool is authoritative.
 *
 * Source: RFC 2131 §3.1 step 4, §3.2, §4.3.2.
 */
export function decideRequest(client: ClientMessage, { pool, lease }: KnownClient): Decision {
  const selectsUs = client.serverIdentifier === pool.serverAddress;
  if (client.serverIdentifier !== undefined && !selectsUs) return ignore('other-server-selected');
  const state = requestStateOf(client);
  if (state === undefined) return ignore('address-missing');
  if (lease === undefined) {
    if (selectsUs) return nak('reservation-gone');
    return pool.authoritative ? nak('not-authorized-here') : ignore('unknown-client');
  }
  // RENEWING and REBINDING clients use ciaddr; option 50 must not be filled then, and does not count if it is.
  const claimed = state === 'renewing-or-rebinding' ? client.clientAddress : (client.requestedAddress ?? client.clientAddress);
  return claimed === lease.address ? { kind: 'ack', lease } : nak('address-not-its-own');
}
