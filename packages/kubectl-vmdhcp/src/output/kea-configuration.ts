/** Pools as a configuration of Kea DHCPv4. Source: Kea Administrator Reference Manual, "DHCPv4 Server Configuration". */
import { encodeOption, type Pool, type PoolOptions } from '@vmdhcp/dhcp-allocator';
import { formatIpv4Address, subtractRanges } from '@vmdhcp/dhcp-allocator/address';
import { keyOf, readField, readText } from '@vmdhcp/kube-runtime';
import { readPool } from '@vmdhcp/reconciler/pool';
import type { ExportedAddress, ExportedPool } from './exported-addresses.js';
import { poolNetworkOf } from './pool-rows.js';

export function toKea(pools: readonly ExportedPool[]): object {
  const subnet4 = pools.map(({ pool, addresses }, index) => {
    const config = readField(pool.spec, 'ipv4Config');
    const seconds = readField(config, 'leaseTime');
    const reading = readPool(pool);
    return {
      id: index + 1,
      subnet: readText(config, 'cidr') ?? '',
      'user-context': { pool: keyOf(pool), network: poolNetworkOf(pool) },
      ...(typeof seconds === 'number' && seconds > 0 && { 'valid-lifetime': seconds }),
      ...(reading.ok && settingsOf(reading.pool)),
      reservations: reservationsOf(addresses),
    };
  });
  return { Dhcp4: { 'interfaces-config': { interfaces: ['*'] }, 'reservations-out-of-pool': false, subnet4 } };
}

/** Two pools with one subnet, which Kea accepts once, as it tells networks apart by their subnet; undefined if there are none. */
export function poolsWithOneSubnet(pools: readonly ExportedPool[]): readonly [string, string] | undefined {
  const keys = new Map<string, string>();
  for (const { pool } of pools) {
    const subnet = readText(pool.spec, 'ipv4Config', 'cidr') ?? '';
    const other = keys.get(subnet);
    if (other !== undefined) return [other, keyOf(pool)];
    keys.set(subnet, keyOf(pool));
  }
  return undefined;
}

/** Kea would lease what is in its ranges to unknown clients, so they do not have the addresses that the pool never leases. */
function settingsOf({ ranges, unavailable, options }: Pool): object {
  const leased = ranges.flatMap((range) => subtractRanges([range], unavailable));
  const { nextServer, bootFile } = options;
  return {
    pools: leased.map(({ first, last }) => ({ pool: `${formatIpv4Address(first)} - ${formatIpv4Address(last)}` })),
    ...(nextServer !== undefined && { 'next-server': formatIpv4Address(nextServer) }),
    ...(bootFile !== undefined && { 'boot-file-name': bootFile }),
    'option-data': optionsOf(options),
  };
}

function optionsOf(options: PoolOptions): object[] {
  const { router, dnsServers, domainName, domainSearch, ntpServers, mtu, staticRoutes, byCode } = options;
  const values = [
    ['routers', router === undefined ? '' : formatIpv4Address(router)],
    ['domain-name-servers', dnsServers.map(formatIpv4Address).join(', ')],
    ['domain-name', domainName ?? ''],
    ['domain-search', domainSearch.join(', ')],
    ['ntp-servers', ntpServers.map(formatIpv4Address).join(', ')],
    ['interface-mtu', mtu === undefined ? '' : String(mtu)],
  ] as const;
  const routes = staticRoutes.length === 0 ? [] : [encodeOption('classlessStaticRoutes', staticRoutes)];
  return [
    ...values.flatMap(([name, data]) => (data === '' ? [] : [{ name, data }])),
    ...[...routes, ...byCode].map(([code, octets]) => ({ code, 'csv-format': false, data: Buffer.from(octets).toString('hex') })),
  ];
}

/** One for each client, as Kea accepts no more: the address that it has counts before one that is reserved for it. */
function reservationsOf(addresses: readonly ExportedAddress[]): object[] {
  const assigned = new Set(addresses.flatMap(({ isAssigned, macAddress }) => (isAssigned ? [macAddress] : [])));
  return addresses
    .filter(({ isAssigned, macAddress }) => isAssigned || !assigned.has(macAddress))
    .map(({ address, macAddress, virtualMachine }) => ({
      'hw-address': macAddress,
      'ip-address': address,
      ...(virtualMachine !== '' && { hostname: virtualMachine }),
    }));
}
