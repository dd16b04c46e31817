/**
 * The agent of a ClusterAgent as a Linux process: DHCP on a management network, and the hosts that it finds there.
 *
 * @packageDocumentation
 */
export { HostsProcess, type HostsProcessSettings } from './hosts-process.js';
