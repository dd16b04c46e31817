/**
 * The lease file of ISC dhcpd 4.4 (`dhcpd.leases`): parses it and reports every problem, writes it, and translates its leases for an open pool.
 *
 * @packageDocumentation
 */
export { formatIscLeases } from './format-isc-leases.js';
export {
  type IscBindingState,
  type IscLease,
  type IscLeaseEntry,
  type IscLeaseProblem,
  type IscLeaseProblemReason,
  isBrokenFile,
  type UnreadableIscLease,
} from './isc-lease.js';
export { type IscLeaseReading, parseIscLeases } from './parse-isc-leases.js';
export { findPoolOfLease, type PoolOfLease } from './pool-of-lease.js';
export {
  type ImportedIscLease,
  type IscImport,
  type IscLeaseOutcome,
  type ReadIscLeases,
  toBindingRecords,
} from './to-binding-records.js';
export { toIscLeases } from './to-isc-leases.js';
