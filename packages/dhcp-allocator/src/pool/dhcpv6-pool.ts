import type { Ipv4Address } from '../address/ipv4-address.js';
import { cidrContains, type Ipv4Cidr } from '../address/ipv4-cidr.js';
import { type Ipv6Address, type Ipv6Prefix, ipv6AddressBytes } from '../address/ipv6-address.js';

/** What a server needs to know about the clients of a link. */
export interface Dhcpv6Pool {
  /** The prefix of the link: addresses outside of it are not appropriate there. */
  readonly prefix: Ipv6Prefix;
  /** The same on all servers of the pool, so that a client renews with any of them: see `serverIdentifierOf`. */
  readonly serverIdentifier: Uint8Array;
  /** Seconds, 1 or more; less than `validLifetimeSeconds`. */
  readonly preferredLifetimeSeconds: number;
  /** Seconds, 2 to 4294967294. */
  readonly validLifetimeSeconds: number;
  /** True if a Solicit that allows it is answered by a Reply. Source: RFC 8415 §18.3.1. */
  readonly rapidCommit: boolean;
  /** True if clients may register addresses that they chose themselves. Source: RFC 9686. */
  readonly addressRegistration: boolean;
  /** The addresses of relays. A relay forwards what another host says that it relays: the addresses of all relays on the way count. */
  readonly relays: readonly Ipv6Prefix[];
  /** True if Router Advertisements tell hosts to ask for addresses. */
  readonly advertises: boolean;
  /** The link-local addresses of the routers in whose name they make a default route. Default: they make none. */
  readonly defaultRouters?: readonly Ipv6Address[];
  /** The prefix of the network's NAT64, which Router Advertisements name: 96, 64, 56, 48, 40 or 32 bits long. Source: RFC 8781. */
  readonly nat64Prefix?: Ipv6Prefix | undefined;
  readonly options: Dhcpv6PoolOptions;
}

/** Options for clients that request them; empty ones are not sent. */
export interface Dhcpv6PoolOptions {
  readonly dnsServers: readonly Ipv6Address[];
  /** DNS names. */
  readonly domainSearch: readonly string[];
  readonly ntpServers: readonly Ipv6Address[];
  readonly bootFileUrl: string | undefined;
}

const UUID_TYPE = 4;
const FNV_START = 0x6c62272e07bb014262b821756295c58dn;
const FNV_PRIME = 0x1000000000000000000013bn;

/**
 * The identifier (DUID-UUID) of the servers of a pool: it outlives every server. Source: RFC 6355 §4.
 *
 * @param identity - the UID of its object, a UUID; of any other text, which names the pool where there are no UIDs, the identifier has a hash (FNV-1a).
 */
export function serverIdentifierOf(identity: string): Uint8Array {
  const digits = identity.replaceAll('-', '');
  const uuid = /^[0-9a-f]{32}$/i.test(digits) ? BigInt(`0x${digits}`) : hashOf(identity);
  return Uint8Array.of(0, UUID_TYPE, ...ipv6AddressBytes(uuid));
}

function hashOf(text: string): bigint {
  const codes = [...text].map((character) => BigInt(character.charCodeAt(0)));
  return codes.reduce((hash, code) => BigInt.asUintN(128, (hash ^ code) * FNV_PRIME), FNV_START);
}

/** What makes addresses of two families belong to each other. */
export interface AddressFamilies {
  readonly cidr: Ipv4Cidr;
  readonly dhcpv6?: Pick<Dhcpv6Pool, 'prefix'> | undefined;
}

/** How far the IPv6 address of each client is from its IPv4 address; undefined if the pool has no IPv6. */
export function ipv6Offset({ cidr, dhcpv6 }: AddressFamilies): bigint | undefined {
  return dhcpv6 && dhcpv6.prefix.network - BigInt(cidr.network);
}

/**
 * The IPv6 address of the client that has an IPv4 address: as far from the start of the prefix as that is from the start of its subnet, so that
 * 2001:db8:48::11 belongs to 192.168.48.17 of 192.168.48.0/24. Undefined if the pool has no IPv6, or the subnet does not contain the address.
 */
export function ipv6AddressBeside(pool: AddressFamilies, address: Ipv4Address): Ipv6Address | undefined {
  const offset = ipv6Offset(pool);
  return offset === undefined || !cidrContains(pool.cidr, address) ? undefined : BigInt(address) + offset;
}
