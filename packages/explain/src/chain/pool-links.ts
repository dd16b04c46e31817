/** The pool of an interface's network, and the address that it records. */
import { parseIpv4Address, parseMacAddress } from '@vmdhcp/dhcp-allocator';
import {
  describeCount,
  describeNames,
  isRecord,
  type KubernetesObject,
  keyOf,
  readField,
  readList,
  readText,
} from '@vmdhcp/kube-runtime';
import { type Finding, finding } from './address-chain.js';
import { conditionOf, findingOf } from './chain-conditions.js';
import { type ChainObservation, objectOf } from './chain-observation.js';
import { type EntryReading, isExternal, type LinkReading, NOTHING_READ } from './config-links.js';
import type { ChainInterface } from './machine-interfaces.js';

export function readPoolLink(observation: ChainObservation, { network }: ChainInterface): LinkReading {
  const pools = observation.pools.get(network);
  if (network === '' || pools === undefined || pools.pool.kind === 'unread') return NOTHING_READ;
  const object = objectOf(pools.pool);
  if (object === undefined) return withoutPool(observation, network);
  const cacheReady = conditionOf(object, 'CacheReady');
  const findings = cacheReady === undefined ? [] : findingOf(cacheReady, cacheReady.status !== 'True');
  return { facts: [{ link: 'pool', object: `IPPool ${keyOf(object)}`, facts: describePool(object) }], findings };
}

function withoutPool(observation: ChainObservation, network: string): LinkReading {
  if (observation.pools.get(network)?.pool.kind === 'refused')
    return { facts: [{ link: 'pool', facts: 'cannot be read', isUnknown: true }], findings: [] };
  const findings = isExternal(observation, network) ? [] : [finding('NoPool')];
  return { facts: [{ link: 'pool', facts: 'no IPPool names the network', isAbsent: true }], findings };
}

const MOST_RANGES = 3;

/** `10.1.0.0/24, 10.1.0.10 to 10.1.0.99: 3 addresses used, 87 free` */
function describePool({ spec, status }: KubernetesObject): string {
  const [start, end] = ['start', 'end'].map((name) => readText(spec, 'ipv4Config', 'pool', name) ?? '?');
  const ranges = readList(spec, 'ipv4Config', 'pool', 'ranges').map(String);
  const assigned = ranges.length > 0 ? describeNames(ranges, { most: MOST_RANGES }) : `${start} to ${end}`;
  const [used, available] = ['used', 'available'].map((name) => Number(readField(status, 'ipv4', name) ?? 0));
  const range = `${readText(spec, 'ipv4Config', 'cidr') ?? 'no cidr'}, ${assigned}`;
  return `${range}: ${describeCount(used ?? 0, 'address', 'addresses')} used, ${available} free`;
}

export interface AddressReading extends LinkReading {
  /** The address that the pool records for the interface; otherwise the one in the VirtualMachineNetworkConfig. */
  readonly address: string | undefined;
}

export function readAddress(observation: ChainObservation, one: ChainInterface, entry: EntryReading): AddressReading {
  const pool = objectOf(observation.pools.get(one.network)?.pool);
  if (pool === undefined) return fromEntry(entry);
  // An entry that the controller has not processed yet has no state.
  const isExplained = !entry.isThere || entry.findings.some(({ state }) => state === 'broken');
  const recorded = recordedFor(pool, one.macAddress);
  const isOfAnother = entry.findings.some(({ reason }) => reason === 'MacAddressClaimedTwice');
  if (recorded === undefined || isOfAnother) return withoutAddress(isExplained || !isUsed(pool));
  const isPending = entry.address !== recorded && !isExplained;
  const facts = [{ link: 'address', facts: describeAddresses(pool, { recorded, entry }, one.macAddress) }] as const;
  return { address: recorded, facts, findings: isPending ? [finding('AddressPending')] : [] };
}

/** The pool records the IPv4 address only; the status of the VirtualMachineNetworkConfig has the IPv6 address beside it. */
function describeAddresses(
  pool: KubernetesObject,
  { recorded, entry }: { readonly recorded: string; readonly entry: EntryReading },
  macAddress: string | undefined,
): string {
  const { address, ipv6Address } = entry;
  const addresses = address === recorded && ipv6Address !== undefined ? [recorded, ipv6Address] : [recorded];
  const how = reservationOf(pool, recorded) === macAddress ? 'reserved for' : 'assigned to';
  return `${addresses.join(' and ')} ${addresses.length === 1 ? 'is' : 'are'} ${how} ${macAddress}`;
}

/** If the pool cannot be read. */
function fromEntry({ address }: EntryReading): AddressReading {
  if (address === undefined) return { ...NOTHING_READ, address };
  return { address, facts: [{ link: 'address', facts: `${address}, by the VirtualMachineNetworkConfig` }], findings: [] };
}

function withoutAddress(isExplained: boolean): AddressReading {
  const findings: Finding[] = isExplained ? [] : [finding('AddressPending')];
  return {
    address: undefined,
    facts: [{ link: 'address', facts: 'none is recorded for the interface', isAbsent: true }],
    findings,
  };
}

function isUsed(pool: KubernetesObject): boolean {
  return conditionOf(pool, 'CacheReady')?.status !== 'False';
}

/** The address of a MAC address in `status.ipv4.allocated`. */
function recordedFor({ status }: KubernetesObject, macAddress: string | undefined): string | undefined {
  const allocated = readField(status, 'ipv4', 'allocated');
  if (macAddress === undefined || !isRecord(allocated)) return undefined;
  const found = Object.entries(allocated).find(([, value]) => isOfClient(value, macAddress));
  return found?.[0];
}

/** Most are spelled as the controller spells them. */
function isOfClient(value: unknown, macAddress: string): boolean {
  return value === macAddress || (typeof value === 'string' && parseMacAddress(value) === macAddress);
}

/** The MAC address for which an address is reserved. */
function reservationOf({ spec }: KubernetesObject, address: string): string | undefined {
  const wanted = parseIpv4Address(address);
  const found = readList(spec, 'ipv4Config', 'reservations').find(
    (one) => parseIpv4Address(readText(one, 'ipAddress') ?? '') === wanted,
  );
  return parseMacAddress(readText(found, 'macAddress') ?? '');
}
