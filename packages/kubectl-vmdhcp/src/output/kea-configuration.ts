/** Pools as a configuration of Kea DHCPv4. Source: Kea Administrator Reference Manual, "DHCPv4 Server Configuration". */
import { type Pool, poolOptionValues } from '@vmdhcp/dhcp-allocator';
import { formatIpv4Address, formatIpv4Cidr, parseIpv4Cidr, subtractRanges } from '@vmdhcp/dhcp-allocator/address';
import { keyOf, readField, readText } from '@vmdhcp/kube-runtime';
import type { ExportedAddress, ExportedPool } from './exported-addresses.js';
import { poolNetworkOf } from './pool-rows.js';

/** Subnet mask and broadcast address: Kea takes them from the subnet. */
const OF_SUBNET = [1, 28];

export function toKea(pools: readonly ExportedPool[]): object {
  const subnet4 = pools.map(({ pool: object, valid: pool, addresses }, index) => {
    const config = readField(object.spec, 'ipv4Config');
    const seconds = readField(config, 'leaseTime');
    return {
      id: index + 1,
      subnet: readText(config, 'cidr') ?? '',
      'user-context': { pool: keyOf(object), network: poolNetworkOf(object) },
      ...(typeof seconds === 'number' && seconds > 0 && { 'valid-lifetime': seconds }),
      ...(pool && settingsOf(pool)),
      reservations: reservationsOf(addresses, pool),
    };
  });
  return { Dhcp4: { 'interfaces-config': { interfaces: ['*'] }, 'reservations-out-of-pool': false, subnet4 } };
}

/** Two pools with one subnet, which Kea accepts once, as it tells networks apart by their subnet; undefined if there are none. */
export function poolsWithOneSubnet(pools: readonly ExportedPool[]): readonly [string, string] | undefined {
  const keys = new Map<string, string>();
  for (const { pool } of pools) {
    const written = readText(pool.spec, 'ipv4Config', 'cidr') ?? '';
    const cidr = parseIpv4Cidr(written);
    const subnet = cidr === undefined ? written : formatIpv4Cidr(cidr);
    const other = keys.get(subnet);
    if (other !== undefined) return [other, keyOf(pool)];
    keys.set(subnet, keyOf(pool));
  }
  return undefined;
}

/** Kea would lease what is in its ranges to unknown clients, so they do not have the addresses that the pool never leases. */
function settingsOf(pool: Pool): object {
  const { ranges, unavailable, options } = pool;
  const leased = ranges.flatMap((range) => subtractRanges([range], unavailable));
  return {
    pools: leased.map(({ first, last }) => ({ pool: `${formatIpv4Address(first)} - ${formatIpv4Address(last)}` })),
    ...(options.nextServer !== undefined && { 'next-server': formatIpv4Address(options.nextServer) }),
    ...(options.bootFile !== undefined && { 'boot-file-name': options.bootFile }),
    'option-data': optionsOf(pool),
  };
}

/** By name, as people read them, or by code with the octets. */
function optionsOf(pool: Pool): object[] {
  const { router, dnsServers, domainName, domainSearch, ntpServers, mtu } = pool.options;
  const named: ReadonlyMap<number, { readonly name: string; readonly data: string }> = new Map([
    [3, { name: 'routers', data: router === undefined ? '' : formatIpv4Address(router) }],
    [6, { name: 'domain-name-servers', data: dnsServers.map(formatIpv4Address).join(', ') }],
    [15, { name: 'domain-name', data: domainName ?? '' }],
    [26, { name: 'interface-mtu', data: String(mtu) }],
    [42, { name: 'ntp-servers', data: ntpServers.map(formatIpv4Address).join(', ') }],
    [119, { name: 'domain-search', data: domainSearch.join(', ') }],
  ]);
  return [...poolOptionValues(pool)].flatMap(([code, octets]): object[] => {
    if (OF_SUBNET.includes(code)) return [];
    return [named.get(code) ?? { code, 'csv-format': false, data: Buffer.from(octets).toString('hex') }];
  });
}

/** One for each client, as Kea accepts no more: the address that it has counts before one that is reserved for it. */
function reservationsOf(addresses: readonly ExportedAddress[], pool: Pool | undefined): object[] {
  const assigned = new Set(addresses.flatMap(({ isAssigned, macAddress }) => (isAssigned ? [macAddress] : [])));
  return addresses
    .filter(({ isAssigned, macAddress }) => isAssigned || !assigned.has(macAddress))
    .map(({ address, macAddress, virtualMachine }) => {
      const hostname = pool?.reservations.get(macAddress)?.hostname ?? virtualMachine;
      return { 'hw-address': macAddress, 'ip-address': address, ...(hostname !== '' && { hostname }) };
    });
}
