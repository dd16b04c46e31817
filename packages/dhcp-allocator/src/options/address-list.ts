import type { Ipv4Address } from '../address/ipv4-address.js';
import { concatenate, readUint32, toBytes } from '../wire/big-endian.js';

/** Addresses one after the other, four octets each. Source: RFC 2132 §3.5 and others. */
export function encodeAddresses(addresses: readonly Ipv4Address[]): Uint8Array {
  return concatenate(addresses.map((address) => toBytes(address, 4)));
}

/** The addresses, at least one; undefined if the octets are not a multiple of four. */
export function decodeAddresses(bytes: Uint8Array): Ipv4Address[] | undefined {
  if (bytes.length === 0 || bytes.length % 4 !== 0) return undefined;
  return Array.from({ length: bytes.length / 4 }, (_, index) => readUint32(bytes, index * 4));
}
