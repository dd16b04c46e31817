/** Asks a host of the link whether it is there, and reads its answer. */
import { type Ipv6Address, ipv6AddressBytes, readIpv6Address } from '../address/ipv6-address.js';
import { concatenate } from '../wire/big-endian.js';
import { encodeNeighborDiscoveryOption, NeighborDiscoveryOption, optionTypes } from './neighbor-discovery.js';

const NEIGHBOR_SOLICITATION = 135;
const NEIGHBOR_ADVERTISEMENT = 136;
const FLAGS_AT = 4;
const ROUTER = 0x80;
const TARGET_AT = 8;
const ADVERTISEMENT_LENGTH = 24;

/** A message that asks the host with this address to answer, an ICMPv6 payload whose checksum is zero. @param hardwareAddress - the sender's, six octets. Source: RFC 4861 §4.3. */
export function encodeNeighborSolicitation(target: Ipv6Address, hardwareAddress: Uint8Array): Uint8Array {
  return concatenate([
    Uint8Array.of(NEIGHBOR_SOLICITATION, ...new Uint8Array(TARGET_AT - 1)),
    ipv6AddressBytes(target),
    encodeNeighborDiscoveryOption(NeighborDiscoveryOption.sourceLinkLayerAddress, [hardwareAddress]),
  ]);
}

/** What a host says of itself. */
export interface HeardNeighbor {
  /** The address that it has. */
  readonly address: Ipv6Address;
  /** True if it forwards packets (R). */
  readonly isRouter: boolean;
}

/** The Neighbor Advertisement in a message; undefined for anything else. Source: RFC 4861 §4.4, §7.1.2. */
export function readNeighborAdvertisement(message: Uint8Array, hopLimit: number): HeardNeighbor | undefined {
  if (message[0] !== NEIGHBOR_ADVERTISEMENT || message.length < ADVERTISEMENT_LENGTH) return undefined;
  if (optionTypes(message, hopLimit, ADVERTISEMENT_LENGTH) === undefined) return undefined;
  return { address: readIpv6Address(message, TARGET_AT), isRouter: ((message[FLAGS_AT] as number) & ROUTER) !== 0 };
}
