/** The networks that contain the hosts of a ClusterAgent: credentials are sent to no other address. */
import {
  formatIpv4Cidr,
  type Ipv4Cidr,
  ipv6AddressBytes,
  isNeverAHost,
  parseIpv4Address,
  parseIpv6Address,
} from '@vmdhcp/dhcp-allocator/address';

/** An IPv4 or IPv6 network. */
export interface HostNetwork {
  /** As it was written. */
  readonly text: string;
  /** Four or sixteen octets. */
  readonly octets: readonly number[];
  /** In bits. */
  readonly prefixLength: number;
}

/** The networks that may contain hosts. */
export interface HostPlace {
  /** The subnet of the DHCP server. */
  readonly subnet: Ipv4Cidr | undefined;
  /** `spec.endpoint.networks`. */
  readonly networks: readonly HostNetwork[];
}

const LENGTH = /^(0|[1-9]\d{0,2})$/;

/** Parses a network, `10.1.0.0/16` or `2001:db8::/64`; undefined if the text is not one. */
export function parseHostNetwork(text: string): HostNetwork | undefined {
  const [address = '', length = '', ...rest] = text.trim().split('/');
  const octets = addressOctets(address);
  if (octets === undefined || rest.length > 0 || !LENGTH.test(length)) return undefined;
  const prefixLength = Number(length);
  return prefixLength > octets.length * 8 ? undefined : { text: text.trim(), octets, prefixLength };
}

/** True for an address that requests may be sent to: one in a network of the ClusterAgent that another host can have. */
export function isHostAddress(place: HostPlace, address: string): boolean {
  const octets = addressOctets(address);
  return octets !== undefined && !isSpecial(octets) && networksOf(place).some((network) => contains(network, octets));
}

/**
 * True for an address that no other host can have, whatever a ClusterAgent names: unspecified, loopback, link-local, multicast,
 * reserved, or an IPv4 address that is written as an IPv6 one.
 */
export function isSpecialAddress(address: string): boolean {
  const octets = addressOctets(address);
  return octets !== undefined && isSpecial(octets);
}

/** The networks as text. */
export function describeNetworks(place: HostPlace): string {
  return networksOf(place)
    .map(({ text }) => text)
    .join(', ');
}

function networksOf({ subnet, networks }: HostPlace): readonly HostNetwork[] {
  const own = subnet && parseHostNetwork(formatIpv4Cidr(subnet));
  return own === undefined ? networks : [own, ...networks];
}

function contains({ octets, prefixLength }: HostNetwork, address: readonly number[]): boolean {
  return octets.length === address.length && sharedBits(octets, address) >= prefixLength;
}

/** The number of equal bits at the start. */
function sharedBits(one: readonly number[], other: readonly number[]): number {
  const index = one.findIndex((octet, at) => octet !== other[at]);
  return index < 0 ? one.length * 8 : index * 8 + Math.clz32((one[index] ?? 0) ^ (other[index] ?? 0)) - 24;
}

function isSpecial(octets: readonly number[]): boolean {
  return octets.length === 4 ? isSpecialIpv4(octets) : isSpecialIpv6(octets);
}

function isSpecialIpv4([first = 0, second = 0, third = 0, fourth = 0]: readonly number[]): boolean {
  const isLinkLocal = first === 169 && second === 254;
  return isLinkLocal || isNeverAHost(first * 2 ** 24 + second * 2 ** 16 + third * 2 ** 8 + fourth);
}

/** The first ten octets of ::, ::1, and IPv4 addresses such as ::ffff:10.0.0.1 are zero. */
function isSpecialIpv6(octets: readonly number[]): boolean {
  const [first = 0, second = 0] = octets;
  const isMulticast = first === 0xff;
  const isLinkLocal = first === 0xfe && (second & 0xc0) === 0x80;
  return isMulticast || isLinkLocal || octets.slice(0, 10).every((octet) => octet === 0);
}

/** The four octets of an IPv4 address, or the sixteen of an IPv6 address; undefined if the text is neither. */
export function addressOctets(text: string): readonly number[] | undefined {
  const ipv4 = parseIpv4Address(text.trim());
  if (ipv4 !== undefined) return [24, 16, 8, 0].map((shift) => (ipv4 >>> shift) & 255);
  const ipv6 = parseIpv6Address(text.trim());
  return ipv6 === undefined ? undefined : [...ipv6AddressBytes(ipv6)];
}
