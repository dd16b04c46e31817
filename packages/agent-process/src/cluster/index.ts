/**
 * Runs the agent of a cluster as a process: it follows its pools over the API, takes part in the election, and serves on the
 * interfaces of its pod.
 *
 * @packageDocumentation
 */

export { electionConnection, USER_AGENT } from './election-connection.js';
export { idle } from './idle.js';
export { KubernetesAgent, type KubernetesAgentSettings } from './kubernetes-agent.js';
export { podIsolation } from './pod-isolation.js';
export { servePodStatus } from './serve-pod-status.js';
