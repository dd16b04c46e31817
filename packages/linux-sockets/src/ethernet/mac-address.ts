/** An IPv4 address as a number, 0 to 2^32 - 1, most significant octet first. */
export type Ipv4Number = number;

/** A MAC address as text: six octets of two lower-case hexadecimal digits, with colons between them. */
export type EthernetAddress = string;

/** The destination of frames for every host on the link. */
export const BROADCAST_MAC: Uint8Array = new Uint8Array(6).fill(0xff);

/** The address in the first six of these octets. */
export function formatMacAddress(octets: Uint8Array): EthernetAddress {
  return Array.from(octets.subarray(0, 6), (octet) => octet.toString(16).padStart(2, '0')).join(':');
}
