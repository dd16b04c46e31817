/**
 * Plans the objects of bare-metal hosts: which HostStatus each lease and each HostEndpoint has, which addresses are bound, what a
 * health report changes, and operations that act once.
 *
 * @packageDocumentation
 */

export { type BoundAddress, type BoundAddresses, boundAddresses, type LeaseRelease } from './binding/bound-addresses.js';
export { describeNoLease } from './binding/describe-no-lease.js';
export {
  type BindingPlan,
  type BindingRequest,
  type HostReleasePlan,
  hasLeaseEnded,
  planBinding,
  planRelease,
} from './binding/plan-binding.js';
export { clusterAgentNameProblems, clusterAgentProblems } from './check/cluster-agent-problems.js';
export { clusterAgentOf, type HostNetworkFacts, hostEndpointProblems } from './check/host-endpoint-problems.js';
export { hostSecretProblems, type NamedSecret, type SecretContent, type SecretData, secretContent } from './check/host-secret.js';
export { clusterAgentSecretProblems, hostEndpointSecretProblems } from './check/unnamed-secret.js';
export { type BmcLogEntry, type HealthReport, isWarning } from './health/health-report.js';
export { type HealthFacts, type HealthUpdate, mergeHealth } from './health/merge-health.js';
export { type ClusterAgentSettings, type HostConnection, isInSubnet, readClusterAgent } from './host/cluster-agent-settings.js';
export { hostStatusName, parseHostStatusName } from './host/host-name.js';
export { isHostAddress } from './host/host-network.js';
export { type BindingAnnotation, type HostMode, type ObservedHost, readHost } from './host/read-host.js';
export type {
  HostLease,
  HostStatusAction,
  InventoryFacts,
  InventoryPlan,
  NewHostStatus,
} from './inventory/inventory-plan.js';
export { ownHostStatuses } from './inventory/own-objects.js';
export { planHostInventory } from './inventory/plan-host-inventory.js';
export type { HostEvent } from './object/host-event.js';
export { describeHostProblem, type HostProblem, type HostProblemReason } from './object/problem.js';
export {
  type OperationAttempt,
  OperationAttempts,
  type OperationOutcome,
  RepeatedOperationError,
} from './operation/operation-attempts.js';
export {
  OPERATION_TIMES,
  type OperationFacts,
  type OperationPlan,
  type OperationStep,
  type OperationTimes,
} from './operation/operation-plan.js';
export { type OrphanFacts, planHostOperations, planOrphanedOperations } from './operation/plan-host-operations.js';
