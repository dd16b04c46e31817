/** The ports for a real API server: connection, objects, leases. */

export {
  AnswerTooLongError,
  ApiConnection,
  type ApiConnectionSettings,
  type ApiRequest,
  ApiRequestError,
  type ApiTransport,
  type RequestObserver,
} from './api-connection.js';
export { type ApiLeaseSettings, ApiLeaseStore, type LeaseObject, toStoredLease } from './api-lease-store.js';
export { ApiObjectClient } from './api-object-client.js';
export {
  type ClusterConnection,
  connectByKubeConfig,
  connectInCluster,
  type KubeConfigSource,
  NoClusterError,
} from './cluster-connection.js';
export { errorForLog } from './error-for-log.js';
export { findCluster } from './find-cluster.js';
export { systemClock } from './system-clock.js';
