/**
 * Bare-metal hosts in a cluster: from ClusterAgents to the agents that serve DHCP on management networks and follow the hosts there.
 *
 * @packageDocumentation
 */

export { findSharedUnderlays } from '../workload/find-shared-underlays.js';
export {
  HOST_AGENT_SELECTOR,
  type HostAgentSettings,
  hostAgentName,
  hostAgentVolumeName,
  type LeaseStorage,
} from '../workload/host-agent-settings.js';
export {
  type HostAgents,
  type HostAgentsObservation,
  type HostAgentsPlan,
  planHostAgents,
} from '../workload/plan-host-agents.js';
export { type HostWorkload, readHostWorkload } from '../workload/read-host-workload.js';
export { BareMetalController } from './bare-metal-controller.js';
export type {
  BareMetalControllerSettings,
  BareMetalKey,
  BareMetalObserver,
  ClusterAgentAddresses,
} from './bare-metal-settings.js';
export { CACHED_HOST_PARTS } from './cached-hosts.js';
