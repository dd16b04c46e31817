/**
 * Router Advertisements. Ours tell hosts to ask for addresses by DHCPv6, and which prefix is on the link. Without one, hosts do not ask, and do not know
 * their neighbours. They make a default route only in the name of a router that sends none itself. Those of others are read as far as they matter for that.
 */
import { type Ipv6Address, type Ipv6Prefix, ipv6AddressBytes } from '../address/ipv6-address.js';
import type { Dhcpv6Pool } from '../pool/dhcpv6-pool.js';
import { concatenate, toBytes } from '../wire/big-endian.js';
import { encodeDomainName } from './domain-name.js';
import { NeighborDiscoveryOption as Option, encodeNeighborDiscoveryOption as option, optionTypes } from './neighbor-discovery.js';

const ROUTER_SOLICITATION = 133;
const ROUTER_ADVERTISEMENT = 134;
const SOLICITATION_LENGTH = 8;
const ADVERTISEMENT_LENGTH = 16;
/** M and O: addresses and options by DHCPv6. Source: RFC 4861 §4.2. */
const MANAGED_AND_OTHER = 0xc0;
const MANAGED = 0x80;
const FLAGS_AT = 5;
const LIFETIME_AT = 6;
/** L without A: the prefix is on the link, and hosts do not make addresses of it. Source: RFC 4861 §4.6.2. */
const ON_LINK = 0x80;
/** Source: RFC 8200 §5. */
const SMALLEST_MTU = 1_280;
/** How long the prefix is on the link after the last advertisement: a day. */
const PREFIX_SECONDS = 86_400;
/** Name servers are valid for three times the longest interval, and so are default routes. Source: RFC 8106 §5.1; RFC 4861 §6.2.1. */
const NAMES_SECONDS = 1_800;
const DEFAULT_ROUTE_SECONDS = 1_800;
/** Source: RFC 8781 §4. */
const NAT64_PREFIX_OCTETS = 12;
/** The lengths that the prefix of a NAT64 may have, by their codes in an advertisement. Source: RFC 8781 §4. */
export const NAT64_PREFIX_LENGTHS: readonly number[] = [96, 64, 56, 48, 40, 32];

/** True for a message that asks for a Router Advertisement. @param packet - `source` is 0 if the sender has no address. Source: RFC 4861 §6.1.1. */
export function isRouterSolicitation(
  message: Uint8Array,
  packet: { readonly hopLimit: number; readonly source: Ipv6Address },
): boolean {
  const isOne = message[0] === ROUTER_SOLICITATION && message.length >= SOLICITATION_LENGTH;
  const options = isOne ? optionTypes(message, packet.hopLimit, SOLICITATION_LENGTH) : undefined;
  if (options === undefined) return false;
  // "If the IP source address is the unspecified address, there is no source link-layer address option in the message."
  return packet.source !== 0n || !options.includes(Option.sourceLinkLayerAddress);
}

/** What a router tells hosts, as far as it decides how they get addresses and a default route. */
export interface HeardAdvertisement {
  /** True if it offers to be a default router: its lifetime is not 0. */
  readonly isDefaultRouter: boolean;
  /** True if hosts shall ask for addresses by DHCPv6 (M). */
  readonly isManaged: boolean;
}

/** The Router Advertisement in a message from a link-local address; undefined for anything else. Source: RFC 4861 §4.2, §6.1.2. */
export function readRouterAdvertisement(message: Uint8Array, hopLimit: number): HeardAdvertisement | undefined {
  if (message[0] !== ROUTER_ADVERTISEMENT || message.length < ADVERTISEMENT_LENGTH) return undefined;
  if (optionTypes(message, hopLimit, ADVERTISEMENT_LENGTH) === undefined) return undefined;
  const isDefaultRouter = message[LIFETIME_AT] !== 0 || message[LIFETIME_AT + 1] !== 0;
  return { isDefaultRouter, isManaged: ((message[FLAGS_AT] as number) & MANAGED) !== 0 };
}

/** A message that asks routers for advertisements, an ICMPv6 payload whose checksum is zero. @param hardwareAddress - the sender's, six octets. Source: RFC 4861 §4.1. */
export function encodeRouterSolicitation(hardwareAddress: Uint8Array): Uint8Array {
  const source = option(Option.sourceLinkLayerAddress, [hardwareAddress]);
  return concatenate([Uint8Array.of(ROUTER_SOLICITATION, ...new Uint8Array(SOLICITATION_LENGTH - 1)), source]);
}

/** What an advertisement says besides its pool. */
export interface AdvertisedLink {
  /** The sender's MAC address, six octets. */
  readonly hardwareAddress: Uint8Array;
  /** Octets; undefined for the usual one. */
  readonly mtu: number | undefined;
}

/**
 * The message, an ICMPv6 payload whose checksum is zero. If the pool has `defaultRouters`, it makes a default route to the router from whose address it is
 * sent, and leaves out the MAC address: hosts ask the router for its own. Source: RFC 4861 §4.2, RFC 8106 §5.
 *
 * @param pools - of the link: the names, the NAT64 and the default routers are those of the first one.
 */
export function encodeRouterAdvertisement(
  pools: readonly Dhcpv6Pool[],
  { hardwareAddress, mtu = 0 }: AdvertisedLink,
): Uint8Array {
  const { options, defaultRouters, nat64Prefix }: Partial<Dhcpv6Pool> = pools[0] ?? {};
  const { dnsServers = [], domainSearch = [] } = options ?? {};
  const names = [new Uint8Array(2), toBytes(NAMES_SECONDS, 4)];
  return concatenate([
    ...encodeSender(defaultRouters, hardwareAddress),
    ...(mtu >= SMALLEST_MTU ? [option(Option.mtu, [new Uint8Array(2), toBytes(mtu, 4)])] : []),
    ...pools.map(({ prefix: { network, prefixLength } }) =>
      option(Option.prefix, [
        Uint8Array.of(prefixLength, ON_LINK),
        toBytes(PREFIX_SECONDS, 4),
        toBytes(PREFIX_SECONDS, 4),
        new Uint8Array(4),
        ipv6AddressBytes(network),
      ]),
    ),
    ...(dnsServers.length > 0 ? [option(Option.dnsServers, [...names, ...dnsServers.map(ipv6AddressBytes)])] : []),
    ...(domainSearch.length > 0 ? [option(Option.domainSearch, [...names, ...domainSearch.map(encodeDomainName)])] : []),
    ...encodeNat64Prefix(nat64Prefix),
  ]);
}

/** What comes before the other options. @param routers - in whose name the message is sent. */
function encodeSender(routers: Dhcpv6Pool['defaultRouters'] = [], hardwareAddress: Uint8Array): Uint8Array[] {
  const start = Uint8Array.of(ROUTER_ADVERTISEMENT, 0, 0, 0, 0, MANAGED_AND_OTHER);
  const times = new Uint8Array(8);
  if (routers.length > 0) return [start, toBytes(DEFAULT_ROUTE_SECONDS, 2), times];
  return [start, toBytes(0, 2), times, option(Option.sourceLinkLayerAddress, [hardwareAddress])];
}

/** It is valid as long as the names: the field counts units of eight seconds, and three bits below it are the length. Source: RFC 8781 §4. */
function encodeNat64Prefix(prefix: Ipv6Prefix | undefined): Uint8Array[] {
  if (prefix === undefined) return [];
  const eightSeconds = Math.ceil(NAMES_SECONDS / 8);
  const lifetimeAndLength = (eightSeconds << 3) | NAT64_PREFIX_LENGTHS.indexOf(prefix.prefixLength);
  return [
    option(Option.nat64Prefix, [
      toBytes(lifetimeAndLength, 2),
      ipv6AddressBytes(prefix.network).subarray(0, NAT64_PREFIX_OCTETS),
    ]),
  ];
}
