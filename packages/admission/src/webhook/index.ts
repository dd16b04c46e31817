/**
 * The admission webhook as a process: HTTPS, its certificate, its registration, and rules on caches.
 *
 * @packageDocumentation
 */

export { decodeReview, encodeAnswer, type ReceivedReview } from './admission-message.js';
export { ADMISSION_PATHS, type AdmissionPath } from './admission-server.js';
export { type ClusterFactsSource, createClusterFactsSource } from './cluster-facts-source.js';
export { createClusterReviewer } from './cluster-reviewer.js';
export { createWebhookMetrics } from './webhook-metrics.js';
export { WebhookProcess } from './webhook-process.js';
export { RegistrationResource, serviceAccountsOf, toWebhookConfigurations, WEBHOOK_LABELS } from './webhook-registration.js';
