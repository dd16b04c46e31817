/**
 * An IPv4 address as an unsigned 32-bit integer in network order: `10.0.0.1` is `0x0a000001`.
 * An integer, because the packet path compares, sorts and counts addresses; text is for people and files.
 */
export type Ipv4Address = number;

/** 0.0.0.0: "no address" in every field of a DHCP message. */
export const UNSPECIFIED_ADDRESS: Ipv4Address = 0;

/** 255.255.255.255, the limited broadcast address. */
export const BROADCAST_ADDRESS: Ipv4Address = 0xffffffff;

/** 0 to 255, without leading zeros: some programs read those as octal. */
const OCTET = '(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])';
const DOTTED_DECIMAL = new RegExp(`^${[OCTET, OCTET, OCTET, OCTET].join('\\.')}$`);

/**
 * The address that `text` spells in dotted-decimal form, or undefined if it is not an address. Four decimal octets without leading zeros; no prefix
 * length, no white space.
 */
export function parseIpv4Address(text: string): Ipv4Address | undefined {
  const octets = DOTTED_DECIMAL.exec(text);
  if (octets === null) return undefined;
  return ((Number(octets[1]) * 256 + Number(octets[2])) * 256 + Number(octets[3])) * 256 + Number(octets[4]);
}

/** Dotted-decimal text of an address. */
export function formatIpv4Address(address: Ipv4Address): string {
  return `${address >>> 24}.${(address >>> 16) & 255}.${(address >>> 8) & 255}.${address & 255}`;
}

/** True for 224.0.0.0/4 (multicast), 240.0.0.0/4 (reserved, broadcast), 127.0.0.0/8 and 0.0.0.0/8: no host has these. */
export function isNeverAHost(address: Ipv4Address): boolean {
  const firstOctet = address >>> 24;
  return firstOctet === 0 || firstOctet === 127 || firstOctet >= 224;
}
