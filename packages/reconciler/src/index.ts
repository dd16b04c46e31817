/**
 * From IPPool and VirtualMachineNetworkConfig objects to addresses: translation and plans as pure functions.
 *
 * @packageDocumentation
 */
export { type AdmissionFacts, type ClusterNetworks, NO_CLUSTER_NETWORKS } from './admission/admission-facts.js';
export { type AdmissionResponse, type StatusSubject, toAdmissionResponse } from './admission/admission-response.js';
export {
  type AdmissionProblem,
  type AdmissionRequest,
  type AdmissionReview,
  newFindings,
  toReview,
} from './admission/admission-review.js';
export { ADMISSION_RULES, type AdmissionReason } from './admission/admission-rules.js';
export { ClusterFacts, type FactKind } from './admission/cluster-facts.js';
export { type DefaultedPool, defaultIpPool, type JsonPatchOperation } from './admission/default-ip-pool.js';
export { factsOfObjects } from './admission/facts-of-objects.js';
export { reviewIpPool } from './admission/review-ip-pool.js';
export { reviewNetworkConfig } from './admission/review-network-config.js';
export { reviewUnfilledIpPool } from './admission/review-unfilled-ip-pool.js';
export { reviewVirtualMachine, type VirtualMachineRules } from './admission/review-virtual-machine.js';
export { type AgentPodSettings, toAgentDeployment } from './agents/agent-deployment.js';
export type { AgentsObservation } from './agents/agents-observation.js';
export type { AgentAction, AgentsPlan, AgentsSettings } from './agents/agents-plan.js';
export { configuredPools } from './agents/configured-pools.js';
export { type FittingPools, fitAgentConfigs, MOST_CONFIG_OCTETS } from './agents/fit-agent-configs.js';
export { agentInterfaceName } from './agents/interface-name.js';
export { isGoneForGood, legacyPoolOf } from './agents/legacy-pod.js';
export { planAgents } from './agents/plan-agents.js';
export { planUnifiedDeployment, type UnifiedDeploymentPlan } from './agents/plan-unified-deployment.js';
export { type PoolForAgents, toAgentNetworkConfigs } from './agents/pool-for-agents.js';
export {
  AGENT_TOPOLOGIES,
  type AgentGroup,
  type AgentTopology,
  type GroupingSettings,
  groupPools,
  UNIFIED_GROUP,
} from './agents/topology.js';
export {
  type AddressClaim,
  type AssignmentPlan,
  type KnownState,
  NOTHING_RECORDED,
  planAssignments,
  type Quarantine,
  type RecordedPool,
  type RefusedClaim,
} from './assignment/plan-assignments.js';
export { type AssignmentRecord, type AuditFacts, type RecordText, toRecordText } from './audit/index.js';
export type { AddressChange } from './controller/address-changes.js';
export type { AgentReplicas } from './controller/agent-replicas.js';
export type { AuditSettings } from './controller/audit-keeper.js';
export { type CachedPartsSettings, cachedParts, cachedPartsWith } from './controller/cached-parts.js';
export type { ByKind } from './controller/controller-context.js';
export type { ControllerObserver, ReadKind, ReconciledKey, ReconciledKind } from './controller/controller-observer.js';
export { DhcpController } from './controller/dhcp-controller.js';
export type { DhcpControllerSettings } from './controller/dhcp-controller-settings.js';
export {
  type InterfaceClaim,
  type NetworkConfigClaims,
  readInterfaceEntry,
  readNetworkConfigClaims,
} from './network-config/interface-claims.js';
export { type AddressConflict, readReportedConflicts, toReportedConflict } from './pool/address-conflict.js';
export { fillInDefaults } from './pool/fill-in-defaults.js';
export { findLeaseTimeProblem } from './pool/find-lease-time-problem.js';
export { probesConflicts } from './pool/probes-conflicts.js';
export { type PoolReading, readPool } from './pool/read-pool.js';
export { type RecordedAddresses, readRecordedAddresses } from './pool/recorded-addresses.js';
export { type ResolvedNames, toPool } from './pool/to-pool.js';
export { AGENT_SELECTOR } from './view/agent-resources.js';
export { ClusterView, type ObjectSource } from './view/cluster-view.js';
export type { InstancesState } from './view/instance-source.js';
export { MachineAddresses, type MachineAddressesSettings } from './view/machine-addresses.js';
export type { MachineInventory } from './view/machine-inventory.js';
export type { PoolView } from './view/pool-views.js';
export { hasLostAddress, type MachineObjects } from './virtual-machine/has-lost-address.js';
export { INSTANCES_REMEDY } from './virtual-machine/instance-problems.js';
export {
  type FormerMacAddresses,
  type InterfaceKnowledge,
  type KnownMacAddress,
  type MacAddressSource,
  type MachineInterface,
  type MachineInterfaces,
  macAddressesOf,
  machineInterfaces,
} from './virtual-machine/machine-interfaces.js';
export type { MemoryProblem } from './virtual-machine/memory-record.js';
export { type NetworkConfigPlan, planNetworkConfig } from './virtual-machine/plan-network-config.js';
export {
  formatRememberedInterfaces,
  type RememberedInterface,
  type RememberedInterfaces,
  readRememberedInterfaces,
} from './virtual-machine/remembered-interfaces.js';
export { projectInstance, type RunningInstance, readRunningInstance } from './virtual-machine/running-instance.js';
export { type MachineKnowledge, type WantedInterfaces, wantedInterfaces } from './virtual-machine/wanted-interfaces.js';
