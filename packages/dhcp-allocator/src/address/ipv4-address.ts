import { Address4 } from 'ip-address';

/**
 * An IPv4 address as an unsigned 32-bit integer in network order: `10.0.0.1` is `0x0a000001`.
 * An integer, because the packet path compares, sorts and counts addresses; text is for people and files.
 */
export type Ipv4Address = number;

/** 0.0.0.0: "no address" in every field of a DHCP message. */
export const UNSPECIFIED_ADDRESS: Ipv4Address = 0;

/** 255.255.255.255, the limited broadcast address. */
export const BROADCAST_ADDRESS: Ipv4Address = 0xffffffff;

/**
 * The address that `text` spells in dotted-decimal form, or undefined if it spells none.
 * Four decimal octets without leading zeros; no prefix length, no white space.
 */
export function parseIpv4Address(text: string): Ipv4Address | undefined {
  if (!/^\d{1,3}(\.\d{1,3}){3}$/.test(text) || /(^|\.)0\d/.test(text)) return undefined;
  return Address4.isValid(text) ? Number(new Address4(text).bigInt()) : undefined;
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
