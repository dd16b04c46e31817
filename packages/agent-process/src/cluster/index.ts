/**
 * Runs the agent of a cluster as a process: it follows its pools over the API, takes part in the election, and serves on the
 * interfaces of its pod.
 *
 * @packageDocumentation
 */

export { idle } from './idle.js';
export { KubernetesAgent, type KubernetesAgentSettings } from './kubernetes-agent.js';
export { podIsolation } from './pod-isolation.js';
export { PodProcess, type PodProcessSettings, USER_AGENT } from './pod-process.js';
