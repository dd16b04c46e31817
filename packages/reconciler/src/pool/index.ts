/**
 * Pools from IPPool objects: the part of this package that agents use, without the controller.
 *
 * @packageDocumentation
 */
export { type AddressConflict, readReportedConflicts, toReportedConflict } from './address-conflict.js';
export { changedAssignments, type ReadVersion } from './changed-assignments.js';
export { contestedAddresses, poolsOverlap } from './contested-addresses.js';
export { describeRanges } from './describe-room.js';
export { fillInDefaults } from './fill-in-defaults.js';
export { findLeaseTimeProblem } from './find-lease-time-problem.js';
export { type ObservedUse, readReportedUses, toReportedUse } from './observed-use.js';
export { probesConflicts } from './probes-conflicts.js';
export { type Quarantine, readQuarantines } from './quarantines.js';
export { type PoolReading, readPool } from './read-pool.js';
export { type RecordedAddresses, readRecordedAddresses } from './recorded-addresses.js';
export { type ResolvedNames, toPool } from './to-pool.js';
