/** The addresses of pools, for other programs. */

import { parseIpv4Address, parseMacAddress } from '@vmdhcp/dhcp-allocator/address';
import { compareByAge, compareText, type KubernetesObject, keyOf, readField, readList, readText } from '@vmdhcp/kube-runtime';
import { LEASES, type LeaseRow } from './lease-rows.js';
import { poolNetworkOf } from './pool-rows.js';
import { printableLine } from './printable-line.js';

/** An address that a client has, or that is reserved for it. */
export interface ExportedAddress {
  readonly address: string;
  /** Empty if its interface has none. */
  readonly ipv6Address: string;
  readonly macAddress: string;
  /** Empty if it has no virtual machine. */
  readonly namespace: string;
  readonly virtualMachine: string;
  readonly interface: string;
  /** False if it is only reserved. */
  readonly isAssigned: boolean;
}

export interface ExportedPool {
  readonly pool: KubernetesObject;
  /** In the order of addresses. */
  readonly addresses: readonly ExportedAddress[];
}

/**
 * The pools in order, each with the addresses in its status and its reservations; names come from the
 * VirtualMachineNetworkConfigs.
 */
export function exportedPools(pools: readonly KubernetesObject[], configs: readonly KubernetesObject[]): ExportedPool[] {
  const rows = configs.toSorted(compareByAge).flatMap((config) => LEASES.toRows(config, 0));
  // Others may claim the same MAC address: they have no address.
  const allocated = rows.filter(({ state }) => state === 'Allocated').toReversed();
  const byClient = new Map(allocated.map((row) => [keyOfClient(row.network, row.macAddress, row.address), row]));
  const ordered = pools.toSorted((one, other) => compareText(keyOf(one), keyOf(other)));
  return ordered.map((pool) => ({ pool, addresses: addressesOf(pool, byClient) }));
}

const NO_ROW = { namespace: '', virtualMachine: '', interface: '', ipv6Address: '' };

function addressesOf(pool: KubernetesObject, byClient: ReadonlyMap<string, LeaseRow>): ExportedAddress[] {
  const reserved = readList(pool.spec, 'ipv4Config', 'reservations').map(
    (one) => [readText(one, 'ipAddress') ?? '', readText(one, 'macAddress') ?? ''] as const,
  );
  const allocated = Object.entries(readField(pool.status, 'ipv4', 'allocated') ?? {}) as [string, unknown][];
  const all = new Map<number, ExportedAddress>();
  for (const [index, [address, value]] of [...reserved, ...allocated].entries()) {
    const macAddress = typeof value === 'string' ? parseMacAddress(value) : undefined;
    const number = parseIpv4Address(address);
    if (macAddress === undefined || number === undefined) continue;
    const row = byClient.get(keyOfClient(poolNetworkOf(pool), macAddress, address));
    const { namespace, virtualMachine, interface: name, ipv6Address } = row ?? NO_ROW;
    const isAssigned = index >= reserved.length;
    all.set(number, { address, ipv6Address, macAddress, namespace, virtualMachine, interface: name, isAssigned });
  }
  return [...all].toSorted(([one], [other]) => one - other).map(([, exported]) => exported);
}

function keyOfClient(network: string, macAddress: string, address: string): string {
  return `${network} ${parseMacAddress(macAddress) ?? ''} ${address}`;
}

const CSV_COLUMNS = ['pool', 'network', 'address', 'macAddress', 'namespace', 'virtualMachine', 'interface', 'ipv6Address'];

/** RFC 4180, with a header line. */
export function toCsv(pools: readonly ExportedPool[]): string {
  const lines = pools.flatMap(({ pool, addresses }) =>
    addresses.map((one) => [
      keyOf(pool),
      poolNetworkOf(pool),
      one.address,
      one.macAddress,
      one.namespace,
      one.virtualMachine,
      one.interface,
      one.ipv6Address,
    ]),
  );
  return [CSV_COLUMNS, ...lines].map((line) => `${line.map(quoted).join(',')}\r\n`).join('');
}

function quoted(cell: string): string {
  const text = printableLine(cell);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
