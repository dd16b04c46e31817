/** What addresses of unknown clients are told by their records. */
import type { Ipv4Address } from '../address/ipv4-address.js';
import type { MacAddress } from '../address/mac-address.js';
import { type Binding, type BindingRecord, isBindingValid } from '../binding/binding.js';
import { BindingTable } from '../binding/binding-table.js';
import { isProven } from './lease-times.js';
import type { UnknownClient } from './unknown-client.js';

/** An address that an object declares. */
export interface DeclaredAddress {
  readonly address: Ipv4Address;
  /** Absent if it is not known: then the unknown client that has the address now keeps it as long as it renews its lease. */
  readonly macAddress?: MacAddress;
  /**
   * True if this pool leases the address to that client before any other address, and records it like every lease; it may lie outside the dynamic
   * ranges. Otherwise the client has the address by an assignment, and this pool does not answer it.
   */
  readonly isLeasedHere?: boolean;
}

/** True if the lease was never renewed. */
export function mayBeMadeUp(binding: Binding | undefined, nowMs: number): boolean {
  return binding !== undefined && isBindingValid(binding, nowMs) && !isProven(binding, binding.grantedAtMs);
}

export function isOfClient(record: BindingRecord, { macAddress }: UnknownClient): boolean {
  return record.kind === 'binding' && record.macAddress === macAddress;
}

export function bindingTableOf(poolName: string, records: Iterable<BindingRecord>): BindingTable {
  const table = new BindingTable(poolName);
  for (const record of records) if (record.poolName === poolName) table.apply(record);
  return table;
}
