/**
 * From IPPool and VirtualMachineNetworkConfig objects to addresses: translation and plans as pure functions.
 *
 * @packageDocumentation
 */

export {
  AGENT_NETWORK_CONFIGS_VARIABLE,
  type AgentNetworkConfig,
  IPPOOL_REFS_VARIABLE,
  type ParsedAgentNetworkConfigs,
  parseAgentNetworkConfigs,
} from './agent/agent-network-config.js';
export {
  AGENT_REPORT_ANNOTATION,
  type AgentReport,
  formatAgentReport,
  type PoolReport,
  parseAgentReport,
} from './agent/agent-report.js';
export { agentInterfaceName } from './agent/interface-name.js';
export {
  type AgentDeploymentPlan,
  MULTUS_NETWORKS_ANNOTATION,
  type PoolForAgents,
  planAgentDeployment,
  toAgentNetworkConfigs,
} from './agent/plan-agent-deployment.js';
export { UNIFIED_AGENTS_LEASE, UnifiedAgents, type UnifiedAgentsSettings } from './agent/unified-agents.js';
export { ClusterView, type ObjectSource, type PoolView } from './controller/cluster-view.js';
export type { ByKind } from './controller/controller-context.js';
export {
  type ControllerObserver,
  DhcpController,
  type DhcpControllerSettings,
  type WorkDone,
  type WorkKind,
} from './controller/dhcp-controller.js';
export {
  type EventObject,
  EventRecorder,
  type EventRecorderSettings,
  type EventRegarding,
  type EventText,
  toRegarding,
} from './events/event-recorder.js';
export { fillInDefaults } from './fill-in-defaults.js';
export { type BackOffSettings, backOffMs } from './machinery/back-off.js';
export type { Clock } from './machinery/clock.js';
export { fencedClient, NotLeadingError } from './machinery/fenced-client.js';
export { KeyedQueue, type KeyedQueueSettings, type WorkResult } from './machinery/keyed-queue.js';
export {
  LeaseElector,
  type LeaseElectorSettings,
  type LeaseRecord,
  type LeaseStore,
  type StoredLease,
} from './machinery/lease-elector.js';
export { ObjectCache, type ObjectCacheSettings } from './machinery/object-cache.js';
export type { MergePatch, ObjectClient, WriteRefusal, WriteResult, WriteTarget } from './machinery/object-client.js';
export { keyOf, Reflector, type ReflectorSettings } from './machinery/reflector.js';
export {
  type ApiObjectLike,
  ExpiredError,
  type ListPage,
  type ResourcePort,
  type WatchEnd,
  type WatchEvent,
  type WatchHandlers,
} from './machinery/resource-port.js';
export { type NetworkConfigClaims, readNetworkConfigClaims } from './network-config/interface-claims.js';
export { type ConditionState, readConditions, withConditions } from './object/conditions.js';
export { isBeingDeleted, type KubernetesObject, type OwnerReference } from './object/kubernetes-object.js';
export { isRecord, readField, readList, readText } from './object/read-field.js';
export {
  type AddressClaim,
  type AssignmentPlan,
  type KnownState,
  NOTHING_RECORDED,
  planAssignments,
  type Quarantine,
  type RecordedPool,
  type RefusedClaim,
} from './plan-assignments.js';
export { type PoolReading, readPool } from './pool/read-pool.js';
export { type RecordedAddresses, readRecordedAddresses } from './pool/recorded-addresses.js';
export { type ResolvedNames, toPool } from './to-pool.js';
export { type NetworkConfigPlan, planNetworkConfig } from './virtual-machine/plan-network-config.js';
export { type WantedInterfaces, wantedInterfaces } from './virtual-machine/wanted-interfaces.js';
