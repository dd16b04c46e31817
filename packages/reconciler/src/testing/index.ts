/** For tests of whoever builds on this: time that stands still until it is told to go on, and stores in memory. */
export { FakeClock, settle } from './fake-clock.js';
export { MemoryLeaseStore } from './memory-lease-store.js';
export { MemoryResource } from './memory-resource.js';
