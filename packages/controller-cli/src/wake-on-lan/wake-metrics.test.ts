import type { DecidedReport } from '@vmdhcp/reconciler/wake-on-lan';
import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { createWakeMetrics } from './wake-metrics.js';

function created() {
  const registry = new Registry();
  const none = () => 0;
  const gauges = { managedMachines: none, managedBy: () => new Map(), waiting: none, followers: none };
  const metrics = createWakeMetrics(registry, gauges);
  const decide = (outcome: string, name: string) =>
    metrics.onDecided({
      verdict: { outcome, reason: 'x', message: '', machine: { namespace: 'lab', name } },
      sinceHeardMs: 40,
    } as unknown as DecidedReport);
  const lines = async () => (await registry.metrics()).split('\n');
  return { metrics, decide, lines };
}

it('a machine that a magic packet started is counted; one that runs already is not', async () => {
  const { decide, lines } = created();
  decide('started', 'web');
  decide('started', 'web');
  decide('running', 'other');
  const starts = (await lines()).filter((line) => line.startsWith('vmdhcpcontroller_wake_up_starts_total'));
  expect(starts).toEqual(['vmdhcpcontroller_wake_up_starts_total{virtualmachine="lab/web"} 2']);
});

it('of very many machines the thousand that were started last have a series', async () => {
  const { decide, lines } = created();
  for (let machine = 0; machine < 1_000; machine++) decide('started', `vm-${machine}`);
  decide('started', 'vm-0');
  decide('started', 'one-more');
  const starts = (await lines()).filter((line) => line.startsWith('vmdhcpcontroller_wake_up_starts_total{'));
  expect(starts).toHaveLength(1_000);
  expect(starts.join('\n')).toContain('"lab/vm-0"} 2');
  expect(starts.join('\n')).not.toContain('"lab/vm-1"}');
});

it('when the certificates expire is known in seconds', async () => {
  const { metrics, lines } = created();
  metrics.onCertificate('agents', Date.parse('2026-01-01T00:00:00Z'));
  expect(await lines()).toContain('vmdhcpcontroller_wol_certificate_expiry_timestamp_seconds{certificate="agents"} 1767225600');
});
