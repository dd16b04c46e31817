/**
 * Explains why a bare-metal host has its address, or none, as a value: every link from its ClusterAgent to its management
 * controller.
 *
 * @packageDocumentation
 */
export { explainHost, type HostObservation, isHostTrouble } from './explain-host.js';
export { type FoundHost, findHosts, type HostObjectLists, hostSelector } from './find-hosts.js';
export type { HostChain, HostChainLink, HostFinding } from './host-chain.js';
export { HOST_LINKS, type HostLinkName } from './host-links.js';
export { HOST_REASON_LINKS, type HostChainReason, type HostGravity } from './host-reason-links.js';
