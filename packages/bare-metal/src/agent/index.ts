/**
 * Keeps the objects of the hosts of one ClusterAgent in an API server: a HostStatus for each lease and each HostEndpoint, their
 * health, and operations that act once. It depends only on ports: it has no timer, clock, log or connection itself.
 *
 * @packageDocumentation
 */

export { HostAgent } from './host-agent.js';
export type { HostAgentEvent, HostWriteKind } from './host-agent-event.js';
export type { HostAgentPorts, HostEventRecorder, HostObserver, HostTarget, ManagementControllers, PollReport } from './ports.js';
