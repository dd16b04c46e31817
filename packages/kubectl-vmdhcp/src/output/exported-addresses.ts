/** The addresses of pools, for other programs. */

import type { Pool } from '@vmdhcp/dhcp-allocator';
import { formatIpv6Address, type Ipv4Address, parseIpv4Address, parseMacAddress } from '@vmdhcp/dhcp-allocator/address';
import { ipv6AddressBeside } from '@vmdhcp/dhcp-allocator/dhcpv6';
import type { IPPool } from '@vmdhcp/ippool-api';
import { compareByAge, compareText, type KubernetesObject, keyOf, readField, readList, readText } from '@vmdhcp/kube-runtime';
import { toPool } from '@vmdhcp/reconciler/pool';
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
  /** Its settings; undefined if they are invalid. */
  readonly valid: Pool | undefined;
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
  return ordered.map((pool) => {
    const valid = validPoolOf(pool);
    return { pool, valid, addresses: addressesOf(pool, valid, byClient) };
  });
}

const NO_ROW = { namespace: '', virtualMachine: '', interface: '' };

function addressesOf(
  pool: KubernetesObject,
  valid: Pool | undefined,
  byClient: ReadonlyMap<string, LeaseRow>,
): ExportedAddress[] {
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
    const { namespace, virtualMachine, interface: name } = row ?? NO_ROW;
    // A host that is not a virtual machine has one too.
    const ipv6Address = row?.ipv6Address ?? ipv6AddressOf(valid, number);
    const isAssigned = index >= reserved.length;
    all.set(number, { address, ipv6Address, macAddress, namespace, virtualMachine, interface: name, isAssigned });
  }
  return [...all].toSorted(([one], [other]) => one - other).map(([, exported]) => exported);
}

/** Undefined if its settings are invalid. Definitions of another version may have accepted any shape. */
function validPoolOf(object: KubernetesObject): Pool | undefined {
  try {
    const checked = toPool(object as unknown as IPPool);
    return checked.ok ? checked.value : undefined;
  } catch {
    return undefined;
  }
}

function ipv6AddressOf(pool: Pool | undefined, address: Ipv4Address): string {
  const ipv6Address = pool && ipv6AddressBeside(pool, address);
  return ipv6Address === undefined ? '' : formatIpv6Address(ipv6Address);
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
  // A spreadsheet would run a name that begins like a formula; the apostrophe makes it text.
  const text = printableLine(cell).replace(/^[=+\-@]/, "'$&");
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
