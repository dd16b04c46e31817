/**
 * From IPPool and VirtualMachineNetworkConfig objects to addresses: translation and plans as pure functions.
 *
 * @packageDocumentation
 */
export { fillInDefaults } from './fill-in-defaults.js';
export {
  type AddressClaim,
  type AssignmentPlan,
  type KnownState,
  NOTHING_RECORDED,
  planAssignments,
  type Quarantine,
  type RecordedPool,
  type RefusedClaim,
} from './plan-assignments.js';
export { type ResolvedNames, toPool } from './to-pool.js';
