import type { Ipv4Address } from '../address/ipv4-address.js';
import { type Binding, type BindingRecord, isBindingValid } from '../binding/binding.js';
import { BindingTable } from '../binding/binding-table.js';
import type { IscLease } from './isc-lease.js';

const SECOND_MS = 1_000;

/**
 * The leases of a pool as ISC dhcpd stores them, sorted by address. A lease that ended is free and keeps its client, so that dhcpd gives that client
 * the address again; a quarantined address is abandoned. Ends are rounded up to a whole second.
 *
 * @param records - of one pool, in the order in which they were recorded.
 */
export function toIscLeases(records: Iterable<BindingRecord>, nowMs: number): IscLease[] {
  const table = new BindingTable('');
  for (const record of records) table.apply(record);
  const quarantined = [...table.quarantines()].filter(([, untilMs]) => untilMs > nowMs);
  const leases = [
    ...[...table.bindings()].map((binding) => toLease(binding, nowMs)),
    ...quarantined.map(([address, untilMs]) => abandonedLease(address, untilMs)),
  ];
  return leases.toSorted((one, other) => one.address - other.address);
}

function toLease(binding: Binding, nowMs: number): IscLease {
  const { address, macAddress, hostname, boundAtMs, grantedAtMs, endsAtMs } = binding;
  const isValid = isBindingValid(binding, nowMs);
  return {
    address,
    state: isValid ? 'active' : 'free',
    ...(isValid && { nextState: 'free' }),
    ...(isValid && { rewindState: 'free' }),
    startsAtMs: wholeSecond(boundAtMs),
    endsAtMs: isValid ? nextSecond(endsAtMs) : wholeSecond(Math.min(endsAtMs, nowMs)),
    clientLastSeenAtMs: wholeSecond(grantedAtMs),
    // Without a `uid`, dhcpd finds the lease by the hardware address, whether the client sends an identifier or not.
    macAddress,
    ...(hostname !== undefined && { hostname }),
  };
}

function abandonedLease(address: Ipv4Address, untilMs: number): IscLease {
  return { address, state: 'abandoned', nextState: 'free', endsAtMs: nextSecond(untilMs) };
}

function wholeSecond(timeMs: number): number {
  return Math.floor(timeMs / SECOND_MS) * SECOND_MS;
}

function nextSecond(timeMs: number): number {
  return Math.ceil(timeMs / SECOND_MS) * SECOND_MS;
}
