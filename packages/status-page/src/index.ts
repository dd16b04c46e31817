/**
 * A read-only status page: its data, and HTTP.
 *
 * @packageDocumentation
 */

export { accessByToken, accessForAll, type TokenAccessPorts } from './access/own-access.js';
export { type AccessDecision, type PageAccess, sectionsIn } from './access/page-access.js';
export {
  DECISION_MS,
  ReviewAccess,
  type ReviewAccessSettings,
  type ReviewedUser,
  type ReviewPorts,
  type SectionRight,
} from './access/review-access.js';
export { type Asset, loadAssets } from './http/load-assets.js';
export type { PageHandlerSettings } from './http/page-handler.js';
export { type PageCertificate, PageServer, type PageServerSettings } from './http/page-server.js';
export { PageService, type PageServiceSettings } from './http/page-service.js';
export { type EventQuery, type EventSelection, trimEvent } from './lists/recent-events.js';
export { applyMapChanges, diffRuns, RunBuilder } from './model/address-map.js';
export type * from './model/page-data.js';
export { ADDRESS_STATES, EVENTS_OF, SECTIONS } from './model/page-data.js';
export { AddressTable } from './pool/address-table.js';
export type { VersionedPool } from './pool/diff-pools.js';
export { keptReservations, type PoolClient, type PoolFacts } from './pool/pool-facts.js';
export { holdersOf, toLease } from './pool/pool-leases.js';
export { type PoolSnapshot, toPoolSnapshot } from './pool/pool-snapshot.js';
export { toPageReason } from './reason/page-reason.js';
export { type ClusterSource, type ClusterSourceSettings, createClusterSource } from './source/cluster-source.js';
export { type PageSource, POOLS_ALONE, type SourceChange } from './source/page-source.js';
