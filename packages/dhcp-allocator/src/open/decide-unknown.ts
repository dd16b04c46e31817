/** How an open pool answers a message of an unknown client. Like `server/decide-*.ts`, except that an ACK must be recorded first. */
import type { Ipv4Address } from '../address/ipv4-address.js';
import { type BindingRecord, isBindingValid } from '../binding/binding.js';
import type { Lease } from '../lease/lease.js';
import type { ClientMessage } from '../server/client-message.js';
import { takesRapidCommit } from '../server/decide-discover.js';
import { type Decision, ignore, nak } from '../server/decision.js';
import type { OpenPool } from './open-pool.js';
import type { UnknownClient } from './unknown-client.js';

/** One message, and what the server knows when it arrives. */
export interface UnknownRequest {
  readonly message: ClientMessage;
  readonly client: UnknownClient;
  readonly open: OpenPool;
  readonly nowMs: number;
}

/** A decision, or a record that must survive a crash before the reply is sent. */
export type UnknownDecision =
  | Exclude<Decision, { readonly kind: 'ack' | 'inform' }>
  | {
      readonly kind: 'record-then-ack';
      readonly record: BindingRecord;
      readonly ack: Extract<Decision, { kind: 'ack' }>;
      /** The client has a valid lease of the address. */
      readonly isRenewal: boolean;
    };

/** Decides how to answer one message; an offer is remembered. Source: RFC 2131 §4.3. */
export function decideUnknown(request: UnknownRequest): UnknownDecision {
  request.open.addresses.advance(request.nowMs);
  switch (request.message.type) {
    case 'discover':
      return decideDiscover(request);
    case 'request':
      return decideRequest(request);
    case 'decline':
      return decideDecline(request);
    case 'release':
      return decideRelease(request);
    case 'inform':
      // An INFORM asks for no lease: `answerPacket` answers it.
      return ignore('unknown-client');
  }
}

/** Source: RFC 2131 §4.3.1; RFC 4039 §3 (rapid commit). */
function decideDiscover(request: UnknownRequest): UnknownDecision {
  const { message, client, open, nowMs } = request;
  const address = open.addresses.chooseAddress(client, message.requestedAddress, nowMs);
  if (address === undefined) return ignore(open.addresses.size === 0 ? 'unknown-client' : 'pool-exhausted');
  if (takesRapidCommit(message, open.pool)) return bind(request, address, true);
  open.offer(client, address, nowMs);
  return { kind: 'offer', lease: leaseOf(request, address) };
}

/** Source: RFC 2131 §4.3.2, table 4. */
function decideRequest(request: UnknownRequest): UnknownDecision {
  const { message, client, open, nowMs } = request;
  const { serverIdentifier, requestedAddress, clientAddress } = message;
  if (serverIdentifier !== undefined) {
    if (serverIdentifier === open.pool.serverAddress) return decideSelecting(request);
    // "those servers not selected by the DHCPREQUEST message use the message as notification that the client has declined that server's offer". RFC 2131 §3.1.
    open.addresses.withdrawOffer(client, nowMs);
    return ignore('other-server-selected');
  }
  const claimed = clientAddress ?? requestedAddress;
  if (claimed === undefined) return ignore('address-missing');
  return decideReturning(request, claimed);
}

/** SELECTING: the client was offered the address, by this server or by the one that ran before it died. */
function decideSelecting(request: UnknownRequest): UnknownDecision {
  const { message, client, open, nowMs } = request;
  const claimed = message.requestedAddress ?? message.clientAddress;
  if (claimed === undefined) return ignore('address-missing');
  return open.addresses.mayBind(client, claimed, nowMs) ? bind(request, claimed) : nak('address-not-available');
}

/**
 * INIT-REBOOT, RENEWING, REBINDING: the client has the address. "If the DHCP server has no record of this client, then it MUST remain silent"; an authoritative
 * pool refuses it, as no other server can have leased the address.
 */
function decideReturning(request: UnknownRequest, claimed: Ipv4Address): UnknownDecision {
  const { client, open, nowMs } = request;
  if (isBeingRecorded(request, claimed)) return ignore('being-recorded');
  const bound = open.addresses.boundAddressOf(client, nowMs);
  if (bound !== undefined) return bound === claimed ? bind(request, claimed) : nak('address-not-its-own');
  const binding = open.addresses.bindingOf(client);
  if (binding === undefined) return open.pool.authoritative ? nak('not-authorized-here') : ignore('unknown-client');
  if (binding.address !== claimed) return nak('address-not-its-own');
  return open.addresses.mayBind(client, claimed, nowMs) ? bind(request, claimed) : nak('address-not-available');
}

/** The caller probes whether another host uses the address; if so, it calls `beginQuarantine` for the record. Source: RFC 2131 §4.3.3. */
function decideDecline(request: UnknownRequest): UnknownDecision {
  const { message, client, open } = request;
  const wrongServer = otherServer(message, open);
  if (wrongServer !== undefined) return wrongServer;
  if (message.requestedAddress === undefined) return ignore('address-missing');
  const known = open.addresses.bindingOf(client) ?? open.addresses.offerOf(client);
  if (known === undefined) return ignore('unknown-client');
  if (known.address !== message.requestedAddress) return ignore('address-not-its-own');
  return { kind: 'decline', lease: leaseOf(request, known.address) };
}

/**
 * A RELEASE does not end the lease: any machine can send it in the name of a host that is switched off, and that host has its address until its lease
 * ends. Source: RFC 2131 §4.3.4.
 */
function decideRelease(request: UnknownRequest): UnknownDecision {
  const { message, client, open, nowMs } = request;
  const wrongServer = otherServer(message, open);
  if (wrongServer !== undefined) return wrongServer;
  if (message.clientAddress === undefined) return ignore('address-missing');
  const binding = open.addresses.bindingOf(client);
  if (binding === undefined || !isBindingValid(binding, nowMs)) return ignore('unknown-client');
  if (binding.address !== message.clientAddress) return ignore('address-not-its-own');
  return ignore('lease-stays');
}

function otherServer({ serverIdentifier }: ClientMessage, { pool }: OpenPool): UnknownDecision | undefined {
  if (serverIdentifier === undefined) return ignore('server-identifier-missing');
  return serverIdentifier === pool.serverAddress ? undefined : ignore('other-server-selected');
}

function isBeingRecorded({ client, open }: UnknownRequest, address: Ipv4Address): boolean {
  const recording = open.addresses.recordingAt(address);
  return recording?.kind === 'binding' && recording.macAddress === client.macAddress;
}

function bind(request: UnknownRequest, address: Ipv4Address, rapid = false): UnknownDecision {
  const { client, open, nowMs } = request;
  // The reply to the first message answers its repetition too, and the client gets no second address meanwhile.
  if (isBeingRecorded(request, address) || open.addresses.isMoving({ macAddress: client.macAddress, address }))
    return ignore('being-recorded');
  const own = open.addresses.bindingOf(client);
  const record = open.beginRecording(client, address, nowMs);
  const lease: Lease = { ...leaseOf(request, address), expiresAtMs: record.endsAtMs };
  const isRenewal = own?.address === address && isBindingValid(own, nowMs);
  return { kind: 'record-then-ack', record, ack: { kind: 'ack', lease, ...(rapid && { rapid: true }) }, isRenewal };
}

function leaseOf({ client, open }: UnknownRequest, address: Ipv4Address): Lease {
  return { poolName: open.pool.name, macAddress: client.macAddress, address };
}
