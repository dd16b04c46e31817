/**
 * The agent of a ClusterAgent as a Linux process: DHCP on a management network, and the hosts that it finds there.
 *
 * @packageDocumentation
 */
export { type ApiLeasesSettings, openApiLeases } from './api-leases.js';
export { HostsMachine } from './hosts-machine.js';
export type { HostsPorts } from './hosts-ports.js';
export { HostsProcess, type HostsProcessSettings } from './hosts-process.js';
