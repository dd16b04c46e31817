/**
 * From IPPool and VirtualMachineNetworkConfig objects to addresses: translation and plans as pure functions.
 *
 * @packageDocumentation
 */
export { fillInDefaults } from './fill-in-defaults.js';
export { type BackOffSettings, backOffMs } from './machinery/back-off.js';
export type { Clock } from './machinery/clock.js';
export { KeyedQueue, type KeyedQueueSettings, type WorkResult } from './machinery/keyed-queue.js';
export {
  LeaseElector,
  type LeaseElectorSettings,
  type LeaseRecord,
  type LeaseStore,
  type StoredLease,
} from './machinery/lease-elector.js';
export { keyOf, Reflector, type ReflectorSettings } from './machinery/reflector.js';
export {
  type ApiObjectLike,
  ExpiredError,
  type ListPage,
  type ResourcePort,
  type WatchEnd,
  type WatchEvent,
  type WatchHandlers,
} from './machinery/resource-port.js';
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
