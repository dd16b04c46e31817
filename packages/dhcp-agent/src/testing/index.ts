/** For tests: pods with agents on one fake clock, with kernels, networks and Leases that fail like real ones. */
export { FakeGroupLease, type LeasePath, type RequestFate } from './fake-group-lease.js';
export { type AddressSpan, FakeKernel, type FakeKernelSettings } from './fake-kernel.js';
export { type FakeHost, FakeNetwork, type SentAdvertisement, type SentDhcpv6Reply, type SentReply } from './fake-network.js';
export { FakePod, type FakePodSettings } from './fake-pod.js';
export { FakeProcess } from './fake-process.js';
export { RecordingObserver } from './recording-observer.js';
