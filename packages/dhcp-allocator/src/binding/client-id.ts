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

/** The identity of an Ethernet host that sends no client identifier. */
export function hardwareClientId(macAddress: MacAddress): ClientId {
  return ETHERNET + macAddress.replaceAll(':', '');
}

/**
 * The identity of a client. An identifier that is shorter than RFC 2132 allows (2 octets), or longer than one of RFC 4361 can be (135), is not used: the
 * hardware address identifies the client then.
 *
 * @param identifier - the value of option 61; undefined: the client sends none.
 */
export function clientIdOf(macAddress: MacAddress, identifier: Uint8Array | undefined): ClientId {
  if (identifier === undefined || identifier.length < SHORTEST_IDENTIFIER || identifier.length > LONGEST_IDENTIFIER)
    return hardwareClientId(macAddress);
  return toHex(identifier);
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
