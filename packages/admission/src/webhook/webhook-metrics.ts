import type { RequestObserver } from '@vmdhcp/kube-runtime/node';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { AdmissionDecision } from './admission-server.js';

export interface WebhookMetrics {
  readonly registry: Registry;
  readonly onDecided: (decision: AdmissionDecision) => void;
  readonly onMalformed: () => void;
  readonly onRequest: RequestObserver;
  /** When the served certificate expires, in milliseconds since 1970. */
  readonly onCertificate: (notAfterMs: number) => void;
}

/** Requests for other resources have the label `other`: labels are bounded whatever is sent. */
const RESOURCES: ReadonlySet<string> = new Set([
  ...['ippools', 'virtualmachinenetworkconfigs', 'virtualmachines'],
  ...['wolconfigs', 'clusteragents', 'hostendpoints', 'hostoperations'],
]);

/** Creates the metrics of the webhook. */
export function createWebhookMetrics(): WebhookMetrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  const duration = new Histogram({
    name: 'vmdhcpwebhook_decision_duration_seconds',
    help: 'Duration of one decision of the webhook; outcome failed: without an answer, so that the failurePolicy decided.',
    labelNames: ['webhook', 'resource', 'operation', 'outcome'],
    buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1, 5],
    registers,
  });
  const malformed = new Counter({
    name: 'vmdhcpwebhook_malformed_requests_total',
    help: 'Requests to the webhook that are not an AdmissionReview of v1, or too large.',
    registers,
  });
  const requests = new Counter({
    name: 'vmdhcpwebhook_api_requests_total',
    help: 'Requests of the webhook to the API server; code 0: no response.',
    labelNames: ['method', 'code'],
    registers,
  });
  const expiry = new Gauge({
    name: 'vmdhcpwebhook_certificate_expiry_timestamp_seconds',
    help: 'When the certificate of the webhook expires, in seconds since 1970.',
    registers,
  });
  // Until there is a certificate: 0 would be one that expired in 1970.
  expiry.remove();
  return {
    registry,
    onDecided: ({ path: webhook, resource, operation, outcome, durationMs }) => {
      const labels = { webhook, resource: RESOURCES.has(resource) ? resource : 'other', operation, outcome };
      duration.observe(labels, durationMs / 1000);
    },
    onMalformed: () => malformed.inc(),
    onRequest: ({ method, status }) => requests.inc({ method, code: status }),
    onCertificate: (notAfterMs) => expiry.set(notAfterMs / 1000),
  };
}
