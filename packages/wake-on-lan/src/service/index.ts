/**
 * The wire between Wake-on-LAN agents and their manager: `wol.v1.WOLService` over gRPC and mutual TLS.
 *
 * @packageDocumentation
 */

export { WolClient, type WolClientSettings } from '../client/wol-client.js';
export { isAddress } from '../following/follow-leader.js';
export { reconnectPauseMs } from '../following/reconnect-pause.js';
export type { WakeableAddresses, WolHandler } from '../report/wol-handler.js';
export { startWolServer, type WolServer, type WolServerSettings } from '../server/wol-server.js';
export type { ConnectionRefusalReason, WolServerEvent } from '../server/wol-server-event.js';
export { AGENT_NAME, MANAGER_NAME, type TlsMaterial } from '../tls/tls-material.js';
