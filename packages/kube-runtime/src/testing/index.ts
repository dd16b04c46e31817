/** For tests of packages that build on this: a clock that stands still until a test advances it, and a cluster in memory. */

export { collectGarbage } from './collect-garbage.js';
export {
  type ContractCase,
  LEASE_STORE_CONTRACT,
  type LeaseStoreTarget,
  OBJECT_CLIENT_CONTRACT,
  type ObjectClientTarget,
  SCALE_CONTRACT,
  type ScaleTarget,
} from './contract.js';
export { FakeClock } from './fake-clock.js';
export { MemoryLeaseStore } from './memory-lease-store.js';
export { MemoryResource, type MemorySubresource, type WriteFault } from './memory-resource.js';
export { applyMergePatch } from './merge-patch.js';
export { type Random, randomFrom } from './random-from.js';
export { repeatWithPromises, settle } from './settle.js';
