/** What pools record about an address or a MAC address, whichever virtual machine it belongs to. */
import {
  cidrContains,
  formatIpv4Address,
  type Ipv4Address,
  type MacAddress,
  parseIpv4Address,
  parseIpv4Cidr,
  parseMacAddress,
} from '@vmdhcp/dhcp-allocator';
import { ALLOCATED_EXCLUDED, ALLOCATED_RESERVED } from '@vmdhcp/ippool-api/agent';
import { isRecord, type KubernetesObject, keyOf, readField, readList, readText } from '@vmdhcp/kube-runtime';
import { networkOfPool, readQuarantines } from '@vmdhcp/reconciler/readers';
import type { ChainReason } from './reasons.js';

/** The address or MAC address to look up. */
export type ClientSubject =
  | { readonly kind: 'address'; readonly address: Ipv4Address }
  | { readonly kind: 'mac-address'; readonly macAddress: MacAddress };

/** The record of one pool. */
export interface ClientRecord {
  /** `namespace/name` of the IPPool. */
  readonly pool: string;
  /** `namespace/name` of its network. */
  readonly network: string;
  readonly address: string;
  readonly state: 'assigned' | 'reserved' | 'excluded' | 'unavailable' | 'quarantined' | 'unreadable' | 'free' | 'outside-range';
  /** The client that has the address, or for which it is reserved. */
  readonly macAddress?: MacAddress;
  /** The machine that uses a quarantined address. */
  readonly usedBy?: MacAddress;
  /** Present if the address is not simply assigned. */
  readonly reason?: ChainReason;
}

/** Returns one record for each pool whose subnet contains the address, or whose clients include the MAC address. */
export function findClientRecords(pools: readonly KubernetesObject[], subject: ClientSubject): ClientRecord[] {
  return pools.flatMap((pool) =>
    subject.kind === 'address' ? recordOfAddress(pool, subject.address) : recordsOfMacAddress(pool, subject.macAddress),
  );
}

function recordOfAddress(pool: KubernetesObject, address: Ipv4Address): ClientRecord[] {
  const cidr = parseIpv4Cidr(readText(pool.spec, 'ipv4Config', 'cidr') ?? '');
  if (cidr === undefined || !cidrContains(cidr, address)) return [];
  return [{ pool: keyOf(pool), network: networkOfPool(pool), address: formatIpv4Address(address), ...stateOf(pool, address) }];
}

type AddressState = Pick<ClientRecord, 'state' | 'macAddress' | 'usedBy' | 'reason'>;

function stateOf(pool: KubernetesObject, address: Ipv4Address): AddressState {
  const quarantine = readQuarantines(pool).find((one) => one.address === address);
  if (quarantine !== undefined) {
    const { usedBy } = quarantine;
    return { state: 'quarantined', reason: 'AddressQuarantined', ...(usedBy !== undefined && { usedBy }) };
  }
  const value = allocatedIn(pool)[formatIpv4Address(address)];
  const reserved = reservationIn(pool, address);
  if (value === undefined) return unrecorded(pool, { address, reserved });
  if (value === ALLOCATED_EXCLUDED) return { state: 'excluded', reason: 'AddressUnavailable' };
  if (value === ALLOCATED_RESERVED) return { state: 'unavailable', reason: 'AddressUnavailable' };
  const macAddress = typeof value === 'string' ? parseMacAddress(value) : undefined;
  if (macAddress === undefined) return { state: 'unreadable', reason: 'EntriesSkipped' };
  return { state: reserved === macAddress ? 'reserved' : 'assigned', macAddress };
}

/** The status does not list every excluded address. */
function unrecorded(
  pool: KubernetesObject,
  { address, reserved }: { readonly address: Ipv4Address; readonly reserved: MacAddress | undefined },
): AddressState {
  if (reserved !== undefined) return { state: 'reserved', macAddress: reserved };
  if (!rangesOf(pool).some((text) => covers(text, address))) return { state: 'outside-range', reason: 'ClientUnknown' };
  const isExcluded = readList(pool.spec, 'ipv4Config', 'pool', 'exclude').some((text) => covers(String(text), address));
  return isExcluded ? { state: 'excluded', reason: 'AddressUnavailable' } : { state: 'free', reason: 'AddressFree' };
}

/** `ranges` as the spec has them, or from `start` to `end`. */
function rangesOf({ spec }: KubernetesObject): string[] {
  const ranges = readList(spec, 'ipv4Config', 'pool', 'ranges').map(String);
  const [start, end] = ['start', 'end'].map((name) => readText(spec, 'ipv4Config', 'pool', name));
  return ranges.length > 0 || !start || !end ? ranges : [`${start}-${end}`];
}

/** An address, or a range of them. */
function covers(text: string, address: Ipv4Address): boolean {
  const [first, last] = text.split('-', 2).map((part) => parseIpv4Address(part.trim()));
  return first !== undefined && address >= first && address <= (last ?? first);
}

function recordsOfMacAddress(pool: KubernetesObject, macAddress: MacAddress): ClientRecord[] {
  const place = { pool: keyOf(pool), network: networkOfPool(pool) };
  const recorded = Object.entries(allocatedIn(pool)).find(
    ([, value]) => typeof value === 'string' && isClient(value, macAddress),
  );
  if (recorded !== undefined) return [{ ...place, address: recorded[0], state: 'assigned', macAddress }];
  const reservation = reservationsOf(pool).find((one) => one.macAddress === macAddress);
  return reservation === undefined
    ? []
    : [{ ...place, address: formatIpv4Address(reservation.address), state: 'reserved', macAddress }];
}

function isClient(value: string, macAddress: MacAddress): boolean {
  return value === macAddress || parseMacAddress(value) === macAddress;
}

function allocatedIn({ status }: KubernetesObject): Readonly<Record<string, unknown>> {
  const allocated = readField(status, 'ipv4', 'allocated');
  return isRecord(allocated) ? allocated : {};
}

function reservationIn(pool: KubernetesObject, address: Ipv4Address): MacAddress | undefined {
  return reservationsOf(pool).find((one) => one.address === address)?.macAddress;
}

interface Reservation {
  readonly address: Ipv4Address;
  readonly macAddress: MacAddress;
}

function reservationsOf({ spec }: KubernetesObject): Reservation[] {
  return readList(spec, 'ipv4Config', 'reservations').flatMap((one) => {
    const address = parseIpv4Address(readText(one, 'ipAddress') ?? '');
    const macAddress = parseMacAddress(readText(one, 'macAddress') ?? '');
    return address === undefined || macAddress === undefined ? [] : [{ address, macAddress }];
  });
}
