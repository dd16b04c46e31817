import type { MacAddress } from '../address/mac-address.js';

/**
 * The identity of a client by which its binding is found: the octets of its client identifier (option 61) as lower-case hexadecimal digits. A
 * client that sends none has the hardware type and address in the same form: `01` and the MAC address.
 *
 * Source: RFC 2131 §4.2; RFC 4361 §6.1 (the octets are opaque to a server); RFC 2132 §9.14 (a type, then an address: `01` and a MAC address).
 */
export type ClientId = string;

/** Octets of the longest identifier that RFC 4361 has: a type, an IAID of four, a DUID of at most 130. Source: RFC 4361 §6.1, RFC 8415 §11.1. */
const LONGEST_IDENTIFIER = 135;
const SHORTEST_IDENTIFIER = 2;
const ETHERNET = '01';
/** Hexadecimal digits of a MAC address. */
const MAC_DIGITS = 12;

/** The identity of an Ethernet host that sends no client identifier. */
export function hardwareClientId(macAddress: MacAddress): ClientId {
  return ETHERNET + macAddress.replaceAll(':', '');
}

/**
 * The identity of a client. An identifier that is shorter than RFC 2132 allows (2 octets), or longer than one of RFC 4361 can be (135), is not used: the
 * hardware address identifies the client then.
 *
 * An identifier of the hardware type 1 that is not `01` and the client's own hardware address names another host, or a former network card. It is no proof to be that
 * host: its identity ends with the hardware address of the sender, so that it is never the one of a host without an identifier, nor that of another sender.
 *
 * Source: RFC 2132 §9.14; RFC 4361 §4.1, §6.1.
 *
 * @param identifier - the value of option 61; undefined: the client sends none.
 */
export function clientIdOf(macAddress: MacAddress, identifier: Uint8Array | undefined): ClientId {
  if (identifier === undefined || identifier.length < SHORTEST_IDENTIFIER || identifier.length > LONGEST_IDENTIFIER)
    return hardwareClientId(macAddress);
  return withSender(macAddress, toHex(identifier));
}

/** The octets of the identifier that the client sends, as hexadecimal digits; undefined: its hardware address identifies it. */
export function identifierOf(macAddress: MacAddress, clientId: ClientId): string | undefined {
  if (clientId === hardwareClientId(macAddress)) return undefined;
  return isWithSender(macAddress, clientId) ? clientId.slice(0, -MAC_DIGITS) : clientId;
}

/** The identity that the client of a stored binding has now: those of earlier versions lack the hardware address of the sender. */
export function storedClientId(macAddress: MacAddress, clientId: ClientId): ClientId {
  return isWithSender(macAddress, clientId) ? clientId : withSender(macAddress, clientId);
}

function withSender(macAddress: MacAddress, clientId: ClientId): ClientId {
  const own = hardwareClientId(macAddress);
  if (!clientId.startsWith(ETHERNET) || clientId === own) return clientId;
  return clientId.length + MAC_DIGITS > 2 * LONGEST_IDENTIFIER ? own : clientId + own.slice(ETHERNET.length);
}

function isWithSender(macAddress: MacAddress, clientId: ClientId): boolean {
  const own = hardwareClientId(macAddress);
  return clientId.startsWith(ETHERNET) && clientId.length > own.length && clientId.endsWith(own.slice(ETHERNET.length));
}

/** True of what `clientIdOf` may return. */
export function isClientId(text: string): boolean {
  return /^([0-9a-f]{2}){2,135}$/.test(text);
}

const HEX: readonly string[] = Array.from({ length: 256 }, (_, octet) => octet.toString(16).padStart(2, '0'));

function toHex(octets: Uint8Array): string {
  let text = '';
  for (const octet of octets) text += HEX[octet] as string;
  return text;
}
