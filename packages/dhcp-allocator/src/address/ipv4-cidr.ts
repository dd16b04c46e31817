import { formatIpv4Address, type Ipv4Address, parseIpv4Address } from './ipv4-address.js';

/** A subnet: its network address (host bits zero) and the length of its prefix, 0 to 32 bits. */
export interface Ipv4Cidr {
  readonly network: Ipv4Address;
  readonly prefixLength: number;
}

/** The subnet mask of a prefix length of 0 to 32 bits. */
export function maskOf(prefixLength: number): Ipv4Address {
  return prefixLength === 0 ? 0 : (0xffffffff << (32 - prefixLength)) >>> 0;
}

/**
 * The subnet that `text` (`10.0.0.0/24`) spells, or undefined. Host bits may be set; they are cleared, because upstream
 * accepts `10.0.0.1/24` and means the subnet of that address.
 */
export function parseIpv4Cidr(text: string): Ipv4Cidr | undefined {
  const [addressText = '', prefixText = '', ...rest] = text.split('/');
  const address = parseIpv4Address(addressText);
  if (address === undefined || rest.length > 0 || !/^(\d|[12]\d|3[0-2])$/.test(prefixText)) return undefined;
  const prefixLength = Number(prefixText);
  return { network: (address & maskOf(prefixLength)) >>> 0, prefixLength };
}

/** `10.0.0.0/24`. */
export function formatIpv4Cidr(cidr: Ipv4Cidr): string {
  return `${formatIpv4Address(cidr.network)}/${cidr.prefixLength}`;
}

/** The last address of the subnet; for /31 and /32 an ordinary host address. Source: RFC 3021 §2.1. */
export function lastAddressOf(cidr: Ipv4Cidr): Ipv4Address {
  return (cidr.network | ~maskOf(cidr.prefixLength)) >>> 0;
}

/** True if the address lies in the subnet, network and broadcast address included. */
export function cidrContains(cidr: Ipv4Cidr, address: Ipv4Address): boolean {
  return (address & maskOf(cidr.prefixLength)) >>> 0 === cidr.network;
}

/** The network address, unless the prefix is so long that it names a host (/31, /32). Source: RFC 3021 §2.1. */
export function networkAddressOf(cidr: Ipv4Cidr): Ipv4Address | undefined {
  return cidr.prefixLength >= 31 ? undefined : cidr.network;
}

/** The directed broadcast address; undefined for /31 and /32, which have none. Source: RFC 3021 §2.2. */
export function broadcastAddressOf(cidr: Ipv4Cidr): Ipv4Address | undefined {
  return cidr.prefixLength >= 31 ? undefined : lastAddressOf(cidr);
}

/** True if the two subnets share an address. */
export function cidrsOverlap(one: Ipv4Cidr, other: Ipv4Cidr): boolean {
  return cidrContains(one, other.network) || cidrContains(other, one.network);
}
