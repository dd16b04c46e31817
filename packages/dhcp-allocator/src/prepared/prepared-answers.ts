/**
 * The packet path of nearly every message: a DISCOVER or REQUEST of a client that has a lease and gets it. The reply is a template that was put
 * together once, with some octets of the request in it, so that no memory is allocated. Everything else is left to `answerPacket`, which would give
 * the same answer, octet for octet.
 */

import { BROADCAST_ADDRESS, type Ipv4Address } from '../address/ipv4-address.js';
import { cidrContains } from '../address/ipv4-cidr.js';
import type { Lease } from '../lease/lease.js';
import type { LeaseIndex } from '../lease/lease-index.js';
import type { Pool } from '../pool/pool.js';
import { maximumReplyLength } from '../server/maximum-reply-length.js';
import { isRelayAllowed } from '../server/relay-allowed.js';
import { CLIENT_PORT, type ReplyDestination, SERVER_PORT } from '../server/reply-destination.js';
import type { ServedPool } from '../server/served-pool.js';
import { readUint32, writeUint32 } from '../wire/big-endian.js';
import { BROADCAST_FLAG, MessageTypeCode, MINIMUM_MESSAGE_LENGTH, Offset, OptionCode } from '../wire/layout.js';
import { type ReplyTemplate, ReplyTemplates } from './reply-templates.js';
import { RequestFields } from './request-fields.js';

/** A reply that was written. It is overwritten by the next one. */
export interface PreparedReply {
  readonly kind: 'offer' | 'ack';
  readonly pool: Pool;
  readonly lease: Lease;
  /** Octets that were written. */
  readonly length: number;
  readonly destination: ReplyDestination;
  /** The client's MAC address (chaddr), six octets. */
  readonly hardwareAddress: Uint8Array;
  readonly isRelayed: boolean;
}

type Writable<Type> = { -readonly [Field in keyof Type]: Type[Field] };

const NO_ROOM = 0;
const OPTION_HEADER = 2;
const MAC_ADDRESS_LENGTH = 6;

/** Answers for one pool. */
export class PreparedAnswers {
  readonly #served: ServedPool;
  readonly #templates: ReplyTemplates;
  readonly #fields = new RequestFields();
  readonly #destination: Writable<ReplyDestination> = { kind: 'unicast', address: 0, port: 0 };
  readonly #reply: Writable<PreparedReply>;

  constructor(served: ServedPool) {
    this.#served = served;
    this.#templates = new ReplyTemplates(served);
    const none: Lease = { poolName: served.pool.name, macAddress: '', address: 0 };
    const hardwareAddress = new Uint8Array(MAC_ADDRESS_LENGTH);
    this.#reply = {
      ...{ kind: 'offer', pool: served.pool, lease: none, length: 0 },
      ...{ destination: this.#destination, hardwareAddress, isRelayed: false },
    };
  }

  /**
   * The OFFER or ACK to a packet, written to the start of `into` (1472 octets). Undefined if `answerPacket` must answer; the content of `into` is
   * undefined then. Never throws. Allocates only templates, each when its request list is first seen.
   */
  answer(packet: Uint8Array, leases: LeaseIndex, into: Uint8Array): PreparedReply | undefined {
    const fields = this.#fields;
    if (!fields.read(packet) || !this.#isFromLink(packet)) return undefined;
    const lease = leases.find(packet, Offset.chaddr);
    if (lease === undefined || !this.#isGranted(lease, packet)) return undefined;
    const kind = fields.type === MessageTypeCode.discover ? 'offer' : 'ack';
    const template = this.#templates.find(kind, fields, packet);
    if (template === undefined) return undefined;
    const length = this.#write(packet, template, lease, into);
    if (length === NO_ROOM) return undefined;
    const reply = this.#reply;
    reply.kind = kind;
    reply.lease = lease;
    reply.length = length;
    copy(packet, Offset.chaddr, reply.hardwareAddress, 0, MAC_ADDRESS_LENGTH);
    this.#setDestination(packet, lease.address);
    return reply;
  }

  /** The client is in the subnet of the pool, and its relay may be answered. */
  #isFromLink(packet: Uint8Array): boolean {
    const { pool } = this.#served;
    const relay = readUint32(packet, Offset.giaddr);
    const link = this.#fields.linkSelection || relay;
    if (link !== 0 && !cidrContains(pool.cidr, link)) return false;
    return relay === 0 || isRelayAllowed(relay, pool);
  }

  /** An OFFER always; an ACK if the client claims the address that it has. Source: RFC 2131 §4.3.1, §4.3.2; RFC 4039 §3. */
  #isGranted(lease: Lease, packet: Uint8Array): boolean {
    const { pool } = this.#served;
    const { type, serverIdentifier, requestedAddress, hasRapidCommit } = this.#fields;
    // If pools share an interface, the server that a message names decides, also in a DISCOVER.
    if (serverIdentifier !== 0 && serverIdentifier !== pool.serverAddress) return false;
    if (type === MessageTypeCode.discover) return !(pool.rapidCommit && hasRapidCommit);
    const clientAddress = readUint32(packet, Offset.ciaddr);
    const isRenewing = serverIdentifier === 0 && clientAddress !== 0;
    return lease.address === (isRenewing ? clientAddress : requestedAddress || clientAddress);
  }

  /** Returns the length of the reply, or `NO_ROOM` if it is larger than the client takes without overload. */
  // oxlint-disable-next-line max-params -- on the packet path: an object would be garbage for every packet
  #write(packet: Uint8Array, template: ReplyTemplate, lease: Lease, into: Uint8Array): number {
    const fields = this.#fields;
    const hostname = template.wantsHostName ? lease.hostname : undefined;
    const end = template.end + this.#ownLength(hostname);
    if (end > maximumReplyLength(fields.hasMaximumMessageSize ? fields.maximumMessageSize : undefined) - 1) return NO_ROOM;
    into.set(template.octets);
    writeRepeatedFields(packet, into, template.kind, lease.address);
    let at = template.end;
    if (hostname !== undefined) {
      if (!writeAscii(into, at, OptionCode.hostName, hostname)) return NO_ROOM;
      at += OPTION_HEADER + hostname.length;
    }
    if (fields.clientIdentifierStart > 0) {
      const length = OPTION_HEADER + fields.clientIdentifierLength;
      copy(packet, fields.clientIdentifierStart - OPTION_HEADER, into, at, length);
      at += length;
    }
    if (fields.relayInformationStart > 0) {
      const length = OPTION_HEADER + fields.relayInformationLength;
      copy(packet, fields.relayInformationStart - OPTION_HEADER, into, at, length);
      at += length;
    }
    into[at] = OptionCode.end;
    return Math.max(at + 1, MINIMUM_MESSAGE_LENGTH);
  }

  /** Octets of the options that only this client gets. */
  #ownLength(hostname: string | undefined): number {
    const { clientIdentifierStart, clientIdentifierLength, relayInformationStart, relayInformationLength } = this.#fields;
    let length = 0;
    if (hostname !== undefined) length += OPTION_HEADER + hostname.length;
    if (clientIdentifierStart > 0) length += OPTION_HEADER + clientIdentifierLength;
    if (relayInformationStart > 0) length += OPTION_HEADER + relayInformationLength;
    return length;
  }

  /** As `replyDestination` decides. */
  #setDestination(packet: Uint8Array, address: Ipv4Address): void {
    const destination = this.#destination;
    const relay = readUint32(packet, Offset.giaddr);
    this.#reply.isRelayed = relay !== 0;
    destination.kind = 'unicast';
    destination.port = relay === 0 ? CLIENT_PORT : SERVER_PORT;
    destination.address = relay === 0 ? address : relay;
    if (relay !== 0 || readUint32(packet, Offset.ciaddr) === address) return;
    const wantsBroadcast = ((packet[Offset.flags] as number) & (BROADCAST_FLAG >> 8)) !== 0;
    destination.kind = wantsBroadcast ? 'broadcast' : 'link';
    if (wantsBroadcast) destination.address = BROADCAST_ADDRESS;
  }
}

/** The fixed fields that come from the request, and the address. Source: RFC 2131 table 3. */
// oxlint-disable-next-line max-params -- on the packet path, as above
function writeRepeatedFields(packet: Uint8Array, into: Uint8Array, kind: 'offer' | 'ack', address: Ipv4Address): void {
  copy(packet, Offset.xid, into, Offset.xid, 4);
  copy(packet, Offset.flags, into, Offset.flags, 2);
  if (kind === 'ack') copy(packet, Offset.ciaddr, into, Offset.ciaddr, 4);
  writeUint32(into, Offset.yiaddr, address);
  copy(packet, Offset.giaddr, into, Offset.giaddr, Offset.sname - Offset.giaddr);
}

/** Few octets: a loop is quicker than a view and a copy. */
// oxlint-disable-next-line max-params -- on the packet path, as above
function copy(from: Uint8Array, start: number, into: Uint8Array, at: number, length: number): void {
  for (let index = 0; index < length; index++) into[at + index] = from[start + index] as number;
}

/** False if the text is not ASCII, or too long for one option. */
// oxlint-disable-next-line max-params -- on the packet path, as above
function writeAscii(into: Uint8Array, at: number, code: number, text: string): boolean {
  const { length } = text;
  if (length > 255) return false;
  into[at] = code;
  into[at + 1] = length;
  for (let index = 0; index < length; index++) {
    const character = text.charCodeAt(index);
    if (character > 0x7f) return false;
    into[at + OPTION_HEADER + index] = character;
  }
  return true;
}
