/**
 * A small Redfish client: reports and logs of a management controller, power actions, and a one-time boot from the network.
 *
 * @packageDocumentation
 */

export { RESET_TYPES, type ResetType } from './action/reset-type.js';
export { RedfishClient, type RedfishClientSettings } from './client/redfish-client.js';
export { isOutcomeUnknown, RedfishError, type RedfishErrorCode, type RedfishErrorDetails } from './error/redfish-error.js';
export { AnswerMemory } from './http/answer-memory.js';
export type { CallOptions } from './http/call.js';
export type { HostReport, LogEntry } from './report/host-report.js';
export type { RedfishTarget } from './target/redfish-target.js';
