import type { DecidedReport } from '@vmdhcp/wake-on-lan/controller';
import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { registerWakeMetrics } from './wake-metrics.js';

function created() {
  const registry = new Registry();
  const gauges = { managedMachines: () => 5, managedBy: () => new Map([['office', 3]]), waiting: () => 2, followers: () => 4 };
  const metrics = registerWakeMetrics(registry, gauges);
  const decide = (outcome: string, name: string, configs?: readonly string[]) =>
    metrics.onDecided({
      verdict: { outcome, reason: 'x', message: '', machine: { namespace: 'lab', name }, ...(configs && { configs }) },
      sinceHeardMs: 40,
    } as unknown as DecidedReport);
  const lines = async () => (await registry.metrics()).split('\n');
  return { metrics, decide, lines };
}

it('a machine that a magic packet started is counted; one that was already running is not', async () => {
  const { decide, lines } = created();
  decide('started', 'web');
  decide('started', 'web');
  decide('running', 'other');
  const starts = (await lines()).filter((line) => line.startsWith('vmdhcpcontroller_wake_up_starts_total'));
  expect(starts).toEqual(['vmdhcpcontroller_wake_up_starts_total{virtualmachine="lab/web"} 2']);
});

it('only the thousand machines that were started last have a series', async () => {
  const { decide, lines } = created();
  for (let machine = 0; machine < 1_000; machine++) decide('started', `vm-${machine}`);
  decide('started', 'vm-0');
  decide('started', 'one-more');
  const starts = (await lines()).filter((line) => line.startsWith('vmdhcpcontroller_wake_up_starts_total{'));
  expect(starts).toHaveLength(1_000);
  expect(starts.join('\n')).toContain('"lab/vm-0"} 2');
  expect(starts.join('\n')).not.toContain('"lab/vm-1"}');
});

it('wake-ups, starts and errors are counted for each WolConfig that allows the machine', async () => {
  const { decide, lines } = created();
  decide('started', 'web', ['all', 'office']);
  decide('unpaused', 'web', ['office']);
  decide('running', 'web', ['office']);
  decide('failed', 'web', ['all']);
  decide('not-found', 'unknown');
  const counted = (await lines()).filter((line) => line.startsWith('vmdhcpcontroller_wol_config_wake_ups_total{'));
  expect(counted.map((line) => line.replace('vmdhcpcontroller_wol_config_wake_ups_total', ''))).toEqual([
    '{wolconfig="all",result="started"} 1',
    '{wolconfig="office",result="started"} 2',
    '{wolconfig="office",result="other"} 1',
    '{wolconfig="all",result="error"} 1',
  ]);
});

it('only the thousand WolConfigs with the latest reports have series', async () => {
  const { decide, lines } = created();
  decide('failed', 'web', ['first']);
  for (let config = 0; config < 1_000; config++) decide('started', 'web', [`config-${config}`]);
  const counted = (await lines()).filter((line) => line.startsWith('vmdhcpcontroller_wol_config_wake_ups_total{'));
  expect([counted.length, counted.some((line) => line.includes('"first"'))]).toEqual([1_000, false]);
});

it('machines, agents and waits are read with the page, and a start has its time in seconds', async () => {
  const { decide, lines } = created();
  decide('started', 'web');
  expect(await lines()).toEqual(
    expect.arrayContaining([
      'wol_managed_vms 5',
      'vmdhcpcontroller_wol_config_machines{wolconfig="office"} 3',
      'vmdhcpcontroller_wake_ups_waiting 2',
      'vmdhcpcontroller_wake_agents 4',
      'vmdhcpcontroller_wake_up_start_seconds_bucket{le="0.025"} 0',
      'vmdhcpcontroller_wake_up_start_seconds_bucket{le="0.05"} 1',
    ]),
  );
});

it('the expiry of the certificates is known in seconds', async () => {
  const { metrics, lines } = created();
  metrics.onCertificate('agents', Date.parse('2026-01-01T00:00:00Z'));
  expect(await lines()).toContain('vmdhcpcontroller_wol_certificate_expiry_timestamp_seconds{certificate="agents"} 1767225600');
});

it('failures have a series before the first one', async () => {
  const { decide, lines } = created();
  const before = (await lines()).filter((line) => line.startsWith('vmdhcpcontroller_wake_ups_total{'));
  expect(before).toContain('vmdhcpcontroller_wake_ups_total{outcome="failed",reason="forbidden"} 0');
  expect(before.filter((line) => !line.endsWith(' 0'))).toEqual([]);
  expect(before).toHaveLength(10);
  expect(before).toContain('vmdhcpcontroller_wake_ups_total{outcome="abandoned",reason="not-down-in-time"} 0');
  decide('failed', 'web');
  expect(await lines()).toContain('vmdhcpcontroller_wake_ups_total{outcome="failed",reason="x"} 1');
});
