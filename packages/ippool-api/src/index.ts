/**
 * What Kubernetes stores for DHCP: IPPool, VirtualMachineNetworkConfig, NetworkAttachmentDefinition, and the parts of a VirtualMachine that are read.
 * Types, validation and CRDs come from one schema each. `./agent`: what the controller and the agents write for each other, in the environment of
 * pods and in annotations of Leases.
 *
 * @packageDocumentation
 */
export * from './agent/index.js';
export {
  CONDITIONS,
  condition,
  IPPoolConditionType,
  VirtualMachineNetworkConfigConditionType,
  WolConfigConditionType,
} from './condition.js';
export type { CustomResource, PrinterColumn } from './custom-resource.js';
export { toCustomResourceDefinition } from './custom-resource-definition.js';
export { type ExplainedIssue, explainIssue, type IssueReason } from './describe-issue.js';
export {
  type IPPool,
  type IPPoolSpec,
  type IPPoolStatus,
  type IPv4Config,
  type IPv6Config,
  ipPool,
  ipPoolResource,
} from './ip-pool.js';
export { type NetworkAttachmentDefinition, networkAttachmentDefinition } from './network-attachment-definition.js';
export type { ObjectMeta } from './object-meta.js';
export type { ObjectProblem, ObjectProblemReason, ParsedKind } from './parse-by-kind.js';
export { type ApiObject, type ParsedObject, parseObject } from './parse-object.js';
export { parseWolConfig } from './parse-wol-config.js';
export { closestName, type UnknownField } from './unknown-fields.js';
export { type VirtualMachine, virtualMachine } from './virtual-machine.js';
export {
  type NetworkConfig,
  type VirtualMachineNetworkConfig,
  virtualMachineNetworkConfig,
  virtualMachineNetworkConfigResource,
} from './virtual-machine-network-config.js';
export {
  type WolConfig,
  type WolConfigAgent,
  type WolConfigSpec,
  type WolConfigStatus,
  wolConfig,
  wolConfigResource,
} from './wol-config.js';
