/**
 * The admission webhook as a process: HTTPS, its certificate, its registration, and rules on caches.
 *
 * @packageDocumentation
 */

export { createWebhookMetrics } from './webhook-metrics.js';
export { WebhookProcess } from './webhook-process.js';
export { RegistrationResource, WEBHOOK_LABELS } from './webhook-registration.js';
