/** The answers of a DHCP server, as values for people and programs. */
import {
  type DhcpMessage,
  type DhcpOptions,
  decodeOption,
  formatIpv4Address,
  formatIpv4Cidr,
  type Ipv4Address,
  type MacAddress,
  messageTypeOf,
  OPTIONS,
  OptionCode,
  type OptionName,
  type OptionValue,
  readMacAddress,
} from '@vmdhcp/dhcp-allocator';
import { printable } from './printable.js';

/** One server's answer. */
export interface ServerAnswer {
  readonly type: 'offer' | 'ack' | 'nak';
  /** Server identifier (option 54), or the sender's address if it has none. */
  readonly server: string;
  /** Hardware address of the frame: the server itself, or its router or relay. */
  readonly serverMacAddress: MacAddress;
  readonly address: string;
  readonly leaseTimeSeconds?: number;
  readonly subnetMask?: string;
  readonly routers: readonly string[];
  readonly dnsServers: readonly string[];
  readonly domainName?: string;
  readonly mtu?: number;
  /** Option 42. */
  readonly ntpServers: readonly string[];
  /** Option 119, RFC 3397. */
  readonly domainSearch: readonly string[];
  /** Option 121, RFC 3442: the default route among them. */
  readonly classlessRoutes: readonly OfferedRoute[];
  /** Option 33: routes to single hosts, or to networks of the old classes. */
  readonly staticRoutes: readonly OfferedRoute[];
  /** From the question to this answer. */
  readonly tookMs: number;
}

/** A static route that a server offers: a subnet in CIDR notation, and the router to it. */
export interface OfferedRoute {
  /** `10.0.0.0/8`; in option 33 an address. */
  readonly destination: string;
  /** 0.0.0.0: the destination is on the link. */
  readonly gateway: string;
}

/** The origin of an answer. */
export interface Arrival {
  readonly sourceAddress: Ipv4Address;
  /** Six octets. */
  readonly senderHardwareAddress: Uint8Array;
  /** Since the question. */
  readonly tookMs: number;
}

/** Undefined for a message that is not an answer of a server. */
export function toServerAnswer(
  { yiaddr, options }: DhcpMessage,
  { sourceAddress, senderHardwareAddress, tookMs }: Arrival,
): ServerAnswer | undefined {
  const type = messageTypeOf(options.uint8(OptionCode.messageType) ?? 0);
  if (type !== 'offer' && type !== 'ack' && type !== 'nak') return undefined;
  const leaseTimeSeconds = options.uint32(OptionCode.leaseTime);
  const mask = options.uint32(OptionCode.subnetMask);
  const mtu = options.uint16(OptionCode.interfaceMtu);
  const domainName = options.get(OptionCode.domainName);
  return {
    type,
    server: formatIpv4Address(options.uint32(OptionCode.serverIdentifier) ?? sourceAddress),
    serverMacAddress: readMacAddress(senderHardwareAddress),
    address: formatIpv4Address(yiaddr),
    ...(leaseTimeSeconds !== undefined && { leaseTimeSeconds }),
    ...(mask !== undefined && { subnetMask: formatIpv4Address(mask) }),
    routers: addressList(options, 'routers'),
    dnsServers: addressList(options, 'domainNameServers'),
    ...(domainName !== undefined && { domainName: printable(domainName) }),
    ...(mtu !== undefined && { mtu }),
    ntpServers: addressList(options, 'ntpServers'),
    ...searchAndRoutes(options),
    tookMs: Math.round(tookMs * 10) / 10,
  };
}

function searchAndRoutes(options: DhcpOptions): Pick<ServerAnswer, 'domainSearch' | 'classlessRoutes' | 'staticRoutes'> {
  return {
    domainSearch: (optionValue(options, 'domainSearch') ?? []).map((name) =>
      printable(Uint8Array.from(name, (character) => character.charCodeAt(0))),
    ),
    classlessRoutes: (optionValue(options, 'classlessStaticRoutes') ?? []).map(({ destination, gateway }) => ({
      destination: formatIpv4Cidr(destination),
      gateway: formatIpv4Address(gateway),
    })),
    staticRoutes: (optionValue(options, 'staticRoutes') ?? []).map(([destination, gateway]) => ({
      destination: formatIpv4Address(destination),
      gateway: formatIpv4Address(gateway),
    })),
  };
}

function addressList(options: DhcpOptions, name: 'routers' | 'domainNameServers' | 'ntpServers'): string[] {
  return (optionValue(options, name) ?? []).map(formatIpv4Address);
}

/** Undefined if the option is missing or cannot be read. */
function optionValue<Name extends OptionName>(options: DhcpOptions, name: Name): OptionValue<Name> | undefined {
  const octets = options.get(OPTIONS[name].code);
  return octets === undefined ? undefined : decodeOption(name, octets);
}
