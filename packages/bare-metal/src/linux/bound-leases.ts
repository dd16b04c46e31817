/**
 * Translates bound addresses for the leases of unknown clients: to declarations for the pool, and to records of clients that it
 * does not know.
 */
import {
  type BindingRecord,
  type BindingTable,
  type DeclaredAddress,
  formatIpv4Address,
  type Ipv4Address,
  isBindingValid,
  isProven,
  type Pool,
  parseIpv4Address,
  rangeContains,
} from '@vmdhcp/dhcp-allocator';
import type { BoundAddress, BoundAddresses } from '../binding/bound-addresses.js';
import type { HostLease } from '../inventory/inventory-plan.js';

/**
 * The addresses that are declared to the pool. Those that an annotation binds are leased only to their client. Those of
 * HostEndpoints are leased to no client that does not have them.
 *
 * Addresses that `enableBindDhcpIP` binds are not declared. The pool remembers which client had which address, and leases such an
 * address to another client only if every address was already used by a client; it then takes the one whose lease ended first.
 * That is the meaning of this switch.
 */
export function declaredAddresses({ bindings, keptOut }: Pick<BoundAddresses, 'bindings' | 'keptOut'>): DeclaredAddress[] {
  const bound = bindings.flatMap(({ ipAddress, macAddress, isByAnnotation }): DeclaredAddress[] => {
    const address = parseIpv4Address(ipAddress);
    return address === undefined || !isByAnnotation ? [] : [{ address, macAddress, isLeasedHere: true }];
  });
  const taken = new Set(bound.map(({ address }) => address));
  const others = keptOut.flatMap((text) => parseIpv4Address(text) ?? []).filter((address) => !taken.has(address));
  return [...bound, ...others.map((address) => ({ address }))];
}

/** A pool, and the leases that it knows. */
export interface KnownLeases {
  readonly pool: Pick<Pool, 'name' | 'dynamic'>;
  readonly table: Pick<BindingTable, 'at' | 'bindings' | 'quarantines'>;
  /** Records in progress: leases that clients are about to get. */
  readonly recordings: Iterable<BindingRecord>;
}

/**
 * Records by which the pool remembers clients without a lease, because the leases were lost or another server made them: a lease
 * that ended when its HostStatus last changed. The client gets its address again; another one gets it only if no other is left.
 */
export function rememberedClients(
  { bindings }: Pick<BoundAddresses, 'bindings'>,
  { pool, table, recordings }: KnownLeases,
  nowMs: number,
): BindingRecord[] {
  const { name, dynamic } = pool;
  const pending = [...recordings];
  const known = new Set(
    [...table.bindings(), ...pending.filter((one) => one.kind === 'binding')].map(({ macAddress }) => macAddress),
  );
  // A record that came after these would end the lease that they begin.
  const taken = new Set(pending.map(({ address }) => address));
  const isFree = (address: Ipv4Address) =>
    !taken.has(address) && table.at(address) === undefined && (table.quarantines().get(address) ?? 0) <= nowMs;
  return bindings.flatMap((bound) => {
    const address = parseIpv4Address(bound.ipAddress);
    if (address === undefined || bound.isByAnnotation || known.has(bound.macAddress)) return [];
    if (!dynamic.some((range) => rangeContains(range, address)) || !isFree(address)) return [];
    return [endedLease(bound, { poolName: name, address }, nowMs)];
  });
}

/** The leases that clients have now. */
export function hostLeases(table: Pick<BindingTable, 'bindings'>, nowMs: number): HostLease[] {
  return [...table.bindings()]
    .filter((binding) => isBindingValid(binding, nowMs))
    .map((binding) => ({
      ipAddress: formatIpv4Address(binding.address),
      macAddress: binding.macAddress,
      ...(!isProven(binding, binding.grantedAtMs) && { isNew: true }),
    }));
}

/** True if the lease of the address has ended and its client never renewed it. */
export function wasNeverRenewed(table: Pick<BindingTable, 'at'>, ipAddress: string, nowMs: number): boolean {
  const address = parseIpv4Address(ipAddress);
  const binding = address === undefined ? undefined : table.at(address);
  return binding !== undefined && !isBindingValid(binding, nowMs) && !isProven(binding, binding.grantedAtMs);
}

function endedLease(
  { macAddress, changedAtMs }: BoundAddress,
  place: { readonly poolName: string; readonly address: Ipv4Address },
  nowMs: number,
): BindingRecord {
  const endedAtMs = Math.min(changedAtMs, nowMs);
  // Its start is not known: it was before the HostStatus changed.
  const times = { boundAtMs: 0, grantedAtMs: endedAtMs, endsAtMs: endedAtMs };
  return { kind: 'binding', ...place, macAddress, ...times, isReleased: false };
}
