/** What messages of Neighbor Discovery have in common. */
import { concatenate } from '../wire/big-endian.js';

/** It proves that no router has forwarded the message. Source: RFC 4861 §6.1. */
export const NEIGHBOR_DISCOVERY_HOP_LIMIT = 255;
/** Octets; the unit of the lengths of options. */
const UNIT = 8;
export const NeighborDiscoveryOption = {
  sourceLinkLayerAddress: 1,
  prefix: 3,
  mtu: 5,
  dnsServers: 25,
  domainSearch: 31,
  nat64Prefix: 38,
} as const;

/** The types of a message's options; undefined if hosts must discard it. @param at - where they begin. Source: RFC 4861 §6.1. */
export function optionTypes(message: Uint8Array, hopLimit: number, at: number): readonly number[] | undefined {
  if (message[1] !== 0 || hopLimit !== NEIGHBOR_DISCOVERY_HOP_LIMIT) return undefined;
  const types: number[] = [];
  let next = at;
  // "All included options have a length that is greater than zero."
  for (; next < message.length && message[next + 1] !== 0; next += UNIT * (message[next + 1] ?? message.length))
    types.push(message[next] as number);
  return next === message.length ? types : undefined;
}

/** Padded to a multiple of eight octets, which is the unit of its length. Source: RFC 4861 §4.6. */
export function encodeNeighborDiscoveryOption(type: number, parts: readonly Uint8Array[]): Uint8Array {
  const value = concatenate(parts);
  const units = Math.ceil((2 + value.length) / UNIT);
  return concatenate([Uint8Array.of(type, units), value, new Uint8Array(UNIT * units - 2 - value.length)]);
}
