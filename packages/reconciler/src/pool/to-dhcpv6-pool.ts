import { type Checked, formatIpv4Address, type Ipv4Address, isHostName, type Pool, type Problem } from '@vmdhcp/dhcp-allocator';
import {
  type Ipv6Address,
  type Ipv6Prefix,
  parseIpv6Address,
  parseIpv6Prefix,
  prefixContains,
  rangesContain,
} from '@vmdhcp/dhcp-allocator/address';
import { type Dhcpv6Pool, NAT64_PREFIX_LENGTHS, serverIdentifierOf } from '@vmdhcp/dhcp-allocator/dhcpv6';
import type { IPPool, IPv6Config } from '@vmdhcp/ippool-api';
import { objectKey } from '@vmdhcp/ippool-api/agent';
import type { PoolReason } from './pool-reason.js';

const DEFAULT_LEASE_TIME_SECONDS = 86_400;
/** Share of the valid lifetime. */
const PREFERRED = 0.75;
/** Global addresses, and unique local ones. Source: IANA, IPv6 Global Unicast Address Space; RFC 4193 §3.1. */
const HOST_ADDRESSES = ['2000::/3', 'fc00::/7'].flatMap((text) => parseIpv6Prefix(text) ?? []);
/** Source: RFC 6052 §2.1. */
const WELL_KNOWN_NAT64: Ipv6Prefix = { network: 0x64ff9bn << 96n, prefixLength: 96 };
/** For translators within a site. Source: RFC 8215. */
const LOCAL_NAT64: Ipv6Prefix = { network: 0x64ff9b0001n << 80n, prefixLength: 48 };
/** Source: RFC 4291 §2.4. */
const LINK_LOCAL: Ipv6Prefix = { network: 0xfe80n << 112n, prefixLength: 10 };
/** The longest subnet in which no client has the first address: in IPv6, that one belongs to routers. Source: RFC 4291 §2.6.1. */
const LONGEST_SUBNET = 30;

/** Hosts take all of a prefix to be on the link: with a larger one, they would not reach others through their router. */
const SHORTEST_PREFIX = 48;
/** Octets: with everything else in a reply, they fit a packet on any link. Source: RFC 8200 §5. */
const MOST_OF_NAMES = 512;

type Word =
  | 'value-not-allowed'
  | 'not-a-cidr'
  | 'not-an-address'
  | 'not-a-host-name'
  | 'subnet-too-small'
  | 'too-many'
  | 'ipv6-server-is-client';
type Found = readonly [reason: Word, path: readonly (string | number)[], message: string, remedy: string];

/** The IPv6 part of the pool that an IPPool describes; undefined if it has none. @param pool - its IPv4 part. */
export function toDhcpv6Pool({ metadata, spec }: IPPool, pool: Pool): Checked<Dhcpv6Pool | undefined, PoolReason> {
  const config = spec.ipv6Config;
  if (config === undefined) return { ok: true, value: undefined };
  const prefix = parseIpv6Prefix(config.cidr);
  const found = [
    ...prefixProblems(config.cidr, prefix, pool),
    ...routerProblems(config),
    ...nat64Problems(config, prefix),
    ...optionProblems(config),
    ...serverProblems(config, prefix, pool),
  ];
  if (prefix === undefined || found.length > 0) return { ok: false, problems: found.map((one) => toProblem(config, one)) };
  const { leaseTime = DEFAULT_LEASE_TIME_SECONDS, nat64Prefix = '' } = config;
  return {
    ok: true,
    value: {
      prefix,
      serverIdentifier: serverIdentifierOf(metadata.uid ?? objectKey(metadata)),
      preferredLifetimeSeconds: Math.floor(leaseTime * PREFERRED),
      validLifetimeSeconds: leaseTime,
      rapidCommit: spec.rapidCommit ?? true,
      addressRegistration: false,
      relays: [],
      advertises: config.routerAdvertisements !== 'Disabled',
      defaultRouters: config.routerAdvertisements === 'DefaultRoute' ? toAddresses(config.routers) : [],
      nat64Prefix: parseIpv6Prefix(nat64Prefix),
      options: toOptions(config),
    },
  };
}

function toOptions({ dns, domainSearch = [], ntp }: IPv6Config): Dhcpv6Pool['options'] {
  return { dnsServers: toAddresses(dns), domainSearch, ntpServers: toAddresses(ntp), bootFileUrl: undefined };
}

function toAddresses(texts: readonly string[] = []): Ipv6Address[] {
  return texts.flatMap((text) => parseIpv6Address(text) ?? []);
}

function toProblem(config: IPv6Config, [reason, path, message, remedy]: Found): Problem<PoolReason> {
  const value = path.reduce<unknown>((part, key) => (part as Record<string | number, unknown>)[key], config);
  return { reason, path: ['spec', 'ipv6Config', ...path], value, message: `${JSON.stringify(value)} ${message}`, remedy };
}

function prefixProblems(text: string, prefix: Ipv6Prefix | undefined, { cidr: { prefixLength } }: Pool): Found[] {
  const isForHosts = HOST_ADDRESSES.some((one) => prefix !== undefined && isInside(prefix, one));
  const longest = 96 + prefixLength;
  if (prefix === undefined || !isForHosts || parseIpv6Address(text.split('/')[0] ?? '') !== prefix.network)
    return [['not-a-cidr', ['cidr'], 'is not a prefix of global or unique local addresses', 'write one, as in fd00:48::/64']];
  if (prefix.prefixLength < SHORTEST_PREFIX)
    return [
      ['not-a-cidr', ['cidr'], 'is larger than the network of a site', `write a prefix length of ${SHORTEST_PREFIX} or more`],
    ];
  if (prefix.prefixLength > longest)
    return [['not-a-cidr', ['cidr'], 'has fewer addresses than ipv4Config.cidr', `write a prefix length of ${longest} or less`]];
  if (prefixLength <= LONGEST_SUBNET) return [];
  return [['subnet-too-small', ['cidr'], 'does not fit a /31 or /32', 'remove ipv6Config, or use a larger ipv4Config.cidr']];
}

function isInside({ network, prefixLength }: Ipv6Prefix, other: Ipv6Prefix): boolean {
  return prefixLength >= other.prefixLength && prefixContains(other, network);
}

function routerProblems({ routers = [], routerAdvertisements }: IPv6Config): Found[] {
  if (routerAdvertisements === 'DefaultRoute' && routers.length === 0) {
    const remedy = 'write the link-local address of the router into ipv6Config.routers, as in [fe80::1], or write Assist';
    return [
      ['value-not-allowed', ['routerAdvertisements'], 'makes a default route to each of routers, which names none', remedy],
    ];
  }
  return routers.flatMap((text, index): Found[] => {
    const address = parseIpv6Address(text);
    if (address !== undefined && prefixContains(LINK_LOCAL, address)) return [];
    const remedy = 'write the address from which the router sends Router Advertisements, as in fe80::1';
    return [['not-an-address', ['routers', index], 'is not a link-local IPv6 address', remedy]];
  });
}

function nat64Problems({ nat64Prefix: text }: IPv6Config, own: Ipv6Prefix | undefined): Found[] {
  if (text === undefined || isNat64Prefix(text, own)) return [];
  const message =
    'is not the prefix of a NAT64: either 64:ff9b::/96, or a prefix of the site outside of cidr, 32, 40, 48, 56, 64 or 96 bits long, with bits 64 to 71 zero';
  return [['not-a-cidr', ['nat64Prefix'], message, 'write the prefix that the translator has, as in 64:ff9b::/96']];
}

/** @param own - the prefix of the network: its addresses are not translated. Source: RFC 6052 §2. */
function isNat64Prefix(text: string, own: Ipv6Prefix | undefined): boolean {
  const prefix = parseIpv6Prefix(text);
  if (prefix === undefined || parseIpv6Address(text.split('/')[0] ?? '') !== prefix.network) return false;
  const { network, prefixLength } = prefix;
  if (network === WELL_KNOWN_NAT64.network) return prefixLength === WELL_KNOWN_NAT64.prefixLength;
  const isOfSite = [...HOST_ADDRESSES, LOCAL_NAT64].some((one) => isInside(prefix, one));
  const isApart = own === undefined || !(isInside(prefix, own) || isInside(own, prefix));
  return NAT64_PREFIX_LENGTHS.includes(prefixLength) && ((network >> 56n) & 0xffn) === 0n && isOfSite && isApart;
}

function optionProblems({ dns = [], ntp = [], domainSearch = [] }: IPv6Config): Found[] {
  const addresses = ([field, texts]: readonly ['dns' | 'ntp', readonly string[]]) =>
    texts.flatMap((text, index): Found[] => {
      if (parseIpv6Address(text) !== undefined) return [];
      return [['not-an-address', [field, index], 'is not an IPv6 address', 'write it as in 2001:db8:48::53']];
    });
  const names = domainSearch.flatMap((name, index): Found[] => {
    if (isHostName(name)) return [];
    return [['not-a-host-name', ['domainSearch', index], 'is not a domain name', 'write it as in lab.example.org']];
  });
  const octets = domainSearch.reduce((sum, name) => sum + name.length + 2, 0);
  const tooLong: Found[] =
    octets <= MOST_OF_NAMES
      ? []
      : [['too-many', ['domainSearch'], `has ${octets} octets in all`, `write names of ${MOST_OF_NAMES} octets at most`]];
  return [...addresses(['dns', dns]), ...addresses(['ntp', ntp]), ...names, ...tooLong];
}

/** A client whose address is that of a server would be taken for it. A client with a reservation may be the server. */
function serverProblems({ dns = [], ntp = [] }: IPv6Config, prefix: Ipv6Prefix | undefined, pool: Pool): Found[] {
  if (prefix === undefined) return [];
  const clientOf = ([server, address]: readonly [string, Ipv6Address]): readonly [string, Ipv4Address][] => {
    const offset = address - prefix.network;
    const corresponding = offset < 0n || offset > 0xffffffffn ? undefined : pool.cidr.network + Number(offset);
    if (corresponding === undefined || !rangesContain(pool.ranges, corresponding)) return [];
    return rangesContain(pool.unavailable, corresponding) ? [] : [[server, corresponding]];
  };
  const servers = [...dns, ...ntp].flatMap((text): [string, Ipv6Address][] => {
    const address = parseIpv6Address(text);
    return address === undefined ? [] : [[text, address]];
  });
  const reserved = new Set([...pool.reservations.values()].map(({ address }) => address));
  const [first] = servers.flatMap(clientOf).filter(([, address]) => !reserved.has(address));
  if (first === undefined) return [];
  const [server, address] = [first[0], formatIpv4Address(first[1])];
  const message = `makes ${server}, which dns or ntp names, the address of the client that gets ${address}`;
  return [
    ['ipv6-server-is-client', ['cidr'], message, `exclude ${address} in ipv4Config.pool.exclude, or reserve it for that server`],
  ];
}
