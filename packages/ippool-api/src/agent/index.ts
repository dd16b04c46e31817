/**
 * What the controller and the agents write for each other, in the environment of pods and in annotations of Leases, with the labels and reasons of
 * all kinds. It uses no schema, so a program that imports only this part does not load zod.
 *
 * @packageDocumentation
 */
export { ALLOCATED_EXCLUDED, ALLOCATED_RESERVED } from '../allocated-marks.js';
export * from '../labels.js';
export { DEFAULT_NAMESPACE, networkKey, objectKey } from '../network-key.js';
export {
  type ConditionOf,
  type ConditionPlace,
  describeReason,
  type EventOf,
  type EventPlace,
  isReasonAt,
  REASONS,
  type Reason,
  type ReasonAt,
  type ReasonPlace,
  reasonOf,
  type WordOf,
} from '../reasons.js';
export {
  AGENT_LOG_LEVELS,
  type AgentLogLevel,
  type AgentLogSettings,
  type AnnotationProblem,
  formatAgentLogSettings,
  type PoolLogSettings,
  parseAgentLogSettings,
  readPoolLogSettings,
} from './agent-log-settings.js';
export {
  AGENT_DRY_RUN_VARIABLE,
  AGENT_LEASE_VARIABLE,
  AGENT_NETWORK_CONFIGS_VARIABLE,
  type AgentNetworkConfig,
  IPPOOL_REFS_VARIABLE,
  type ParsedAgentNetworkConfigs,
  parseAgentNetworkConfigs,
  UNIFIED_GROUP,
} from './agent-network-config.js';
export { AGENT_PROGRAM } from './agent-program.js';
export {
  type AgentReport,
  type DeclinedIpv6,
  DRAINING,
  describeAgentReport,
  formatAgentReport,
  MOST_DECLINED_IPV6,
  MOST_ROUTERS,
  type PoolReport,
  parseAgentReport,
  type ReportedConflict,
  type ReportedRouter,
  type ReportedUse,
  type RogueServer,
  SUSPENDED,
} from './agent-report.js';
export { imageProblem, isImage } from './image-text.js';
export { formatRenewPeriodMs, MOST_RENEW_PERIOD_MS, parseRenewPeriodMs } from './renew-period.js';
export {
  formatSuspendedPools,
  parseSuspendedPools,
  readSuspendedPools,
  type SuspendedPools,
} from './suspended-pools.js';
