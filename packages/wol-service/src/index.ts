/**
 * The wire between Wake-on-LAN agents and their manager: `wol.v1.WOLService` over gRPC and mutual TLS.
 *
 * @packageDocumentation
 */

export {
  type DeliveryOutcome,
  type ManagerState,
  type ReportOutcome,
  WAKE_STATUSES,
  type WakeAnswer,
  type WakeReport,
  type WakeStatus,
  type WolClientEvent,
} from '@vmdhcp/wake-on-lan';
export { WolClient, type WolClientSettings } from './client/wol-client.js';
export { backOffMs } from './following/back-off.js';
export { isAddress } from './following/follow-leader.js';
export type { WakeableAddresses, WolHandler } from './report/wol-handler.js';
export { startWolServer, type WolServer, type WolServerSettings } from './server/wol-server.js';
export type { ConnectionRefusalReason, WolServerEvent } from './server/wol-server-event.js';
export { AGENT_NAME, MANAGER_NAME, type TlsMaterial } from './tls/tls-material.js';
