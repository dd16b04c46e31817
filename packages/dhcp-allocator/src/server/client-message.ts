import type { Ipv4Address } from '../address/ipv4-address.js';
import { isGroupMacAddress, type MacAddress, readMacAddress } from '../address/mac-address.js';
import type { DhcpMessage } from '../wire/dhcp-message.js';
import { BROADCAST_FLAG, HTYPE_ETHERNET, type MessageType, messageTypeOf, OP_REQUEST, OptionCode } from '../wire/layout.js';
import { readLinkSelection } from './relay-agent-information.js';

/** Why a well-formed message is not one that a client sends to a server. */
export type NotForServersReason =
  | 'not-a-request'
  | 'hardware-unsupported'
  | 'message-type-missing'
  | 'message-type-invalid'
  | 'message-type-of-a-server'
  | 'option-length-invalid'
  | 'relay-information-malformed';

/** The types of messages that clients send. */
export type ClientMessageType = Exclude<MessageType, 'offer' | 'ack' | 'nak'>;

/**
 * The content of a client's message, by meaning rather than by field: an address that the client left out is absent, never 0.0.0.0. Each comment ends
 * with the RFC's name of the field.
 */
export interface ClientMessage {
  readonly type: ClientMessageType;
  readonly macAddress: MacAddress;
  /** The address it uses and can be reached at (ciaddr). */
  readonly clientAddress?: Ipv4Address;
  /** The address that it requests or claims (option 50). */
  readonly requestedAddress?: Ipv4Address;
  /** The server that it names (option 54). */
  readonly serverIdentifier?: Ipv4Address;
  /** The relay that handed the message on (giaddr). */
  readonly relayAddress?: Ipv4Address;
  /** An address in the client's subnet: the relay's word for it (option 82, sub-option 5), else the relay's own address. */
  readonly linkAddress?: Ipv4Address;
  readonly wantsBroadcast: boolean;
  /** The message itself, for what is copied into a reply. */
  readonly message: DhcpMessage;
}

/** What a client asks for, or why a message asks for nothing. */
export type ClientMessageResult =
  | { readonly ok: true; readonly client: ClientMessage }
  | { readonly ok: false; readonly reason: NotForServersReason };

/** Translates a decoded message, or returns why a server ignores it. Never throws. */
export function toClientMessage(message: DhcpMessage): ClientMessageResult {
  const type = typeOf(message);
  if (isRefusal(type)) return type;
  const macAddress = hardwareAddressOf(message);
  if (macAddress === undefined) return refused('hardware-unsupported');
  const requestedAddress = readAddress(message, OptionCode.requestedAddress);
  const serverIdentifier = readAddress(message, OptionCode.serverIdentifier);
  if (requestedAddress === null || serverIdentifier === null) return refused('option-length-invalid');
  const relayInformation = message.options.get(OptionCode.relayAgentInformation);
  const link = relayInformation && readLinkSelection(relayInformation);
  if (link === 'malformed') return refused('relay-information-malformed');
  return { ok: true, client: assemble({ type, macAddress, message, requestedAddress, serverIdentifier, link }) };
}

type Refusal = Extract<ClientMessageResult, { readonly ok: false }>;

function isRefusal(value: ClientMessageType | Refusal): value is Refusal {
  return typeof value === 'object';
}

function typeOf({ op, options }: DhcpMessage): ClientMessageType | Refusal {
  if (op !== OP_REQUEST) return refused('not-a-request');
  if (!options.has(OptionCode.messageType)) return refused('message-type-missing');
  const type = messageTypeOf(options.uint8(OptionCode.messageType) ?? 0);
  if (type === undefined) return refused('message-type-invalid');
  return type === 'offer' || type === 'ack' || type === 'nak' ? refused('message-type-of-a-server') : type;
}

/** Undefined if the hardware type is not supported, or the address cannot be a client's. */
function hardwareAddressOf({ htype, hlen, chaddr }: DhcpMessage): MacAddress | undefined {
  if (htype !== HTYPE_ETHERNET || hlen !== 6) return undefined;
  const macAddress = readMacAddress(chaddr);
  return isGroupMacAddress(macAddress) || macAddress === '00:00:00:00:00:00' ? undefined : macAddress;
}

function refused(reason: NotForServersReason): Refusal {
  return { ok: false, reason };
}

/** An address option: 0 if it is absent, null if it is not four octets long. */
function readAddress(message: DhcpMessage, code: number): Ipv4Address | null {
  return message.options.uint32(code) ?? (message.options.has(code) ? null : 0);
}

interface Parts {
  readonly type: ClientMessageType;
  readonly macAddress: MacAddress;
  readonly message: DhcpMessage;
  readonly requestedAddress: Ipv4Address;
  readonly serverIdentifier: Ipv4Address;
  readonly link: Ipv4Address | undefined;
}

function assemble({ type, macAddress, message, requestedAddress, serverIdentifier, link }: Parts): ClientMessage {
  const { ciaddr, giaddr } = message;
  // A link of 0.0.0.0 names no subnet.
  const linkAddress = link || giaddr;
  // Each kind of client sends other fields: assigning beats spreading seven conditional objects on the packet path.
  const client: { -readonly [Field in keyof ClientMessage]: ClientMessage[Field] } = {
    type,
    macAddress,
    wantsBroadcast: (message.flags & BROADCAST_FLAG) !== 0,
    message,
  };
  if (ciaddr !== 0) client.clientAddress = ciaddr;
  if (requestedAddress !== 0) client.requestedAddress = requestedAddress;
  if (serverIdentifier !== 0) client.serverIdentifier = serverIdentifier;
  if (giaddr !== 0) client.relayAddress = giaddr;
  if (linkAddress !== 0) client.linkAddress = linkAddress;
  return client;
}
