/**
 * What keeps the objects of the hosts of one ClusterAgent in an API server: a HostStatus for each lease and each HostEndpoint, their health, and operations that
 * act once. On ports: it has no timer, clock, log or connection of its own.
 *
 * @packageDocumentation
 */

export { HostAgent } from './host-agent.js';
export type { HostAgentEvent, HostWriteKind } from './host-agent-event.js';
export type { HostAgentPorts, HostEventRecorder, HostObserver, HostTarget, ManagementControllers, PollReport } from './ports.js';
