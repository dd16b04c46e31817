import { expect, it } from 'vitest';
import { createWebhookMetrics } from './webhook-metrics.js';

it('the metrics of the webhook show its work, in seconds, with one series for unknown resources', async () => {
  const { registry, onDecided, onMalformed, onRequest, onCertificate } = createWebhookMetrics();
  const decision = { path: '/validate', operation: 'CREATE', outcome: 'allowed', durationMs: 2 };
  onDecided({ ...decision, resource: 'ippools' } as never);
  onDecided({ ...decision, resource: 'made-up-1' } as never);
  onDecided({ ...decision, resource: 'made-up-2' } as never);
  onMalformed();
  onRequest({ method: 'GET', status: 0, path: '/api', durationMs: 1 } as never);
  onCertificate(Date.parse('2026-01-01T00:00:00Z'));
  const lines = (await registry.metrics()).split('\n');
  const labels = (resource: string) => `webhook="/validate",resource="${resource}",operation="CREATE",outcome="allowed"`;
  const name = 'vmdhcpwebhook_decision_duration_seconds';
  expect(lines).toEqual(
    expect.arrayContaining([
      `${name}_sum{${labels('ippools')}} 0.002`,
      `${name}_count{${labels('other')}} 2`,
      'vmdhcpwebhook_malformed_requests_total 1',
      'vmdhcpwebhook_api_requests_total{method="GET",code="0"} 1',
      'vmdhcpwebhook_certificate_expiry_timestamp_seconds 1767225600',
    ]),
  );
});

it('a webhook without a certificate yet does not report one that expired in 1970', async () => {
  expect(await createWebhookMetrics().registry.metrics()).not.toMatch(/^vmdhcpwebhook_certificate_expiry_timestamp_seconds 0$/m);
});
