import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { registerReportMetrics } from './report-metrics.js';

it('reports that are lost have a series before the first one', async () => {
  const ends = new Map<string, number>();
  const registry = new Registry();
  registerReportMetrics(registry, {
    info: { node: 'n', operator: '10.0.0.1:9998', ports: [9] },
    ends: () => ends,
    failedTries: () => 0,
    waiting: () => 0,
    listed: () => undefined,
    isConnected: () => true,
    remembered: () => 0,
  });
  const lost = async () =>
    (await registry.metrics()).split('\n').filter((line) => line.startsWith('vmdhcp_agent_wol_reports_total{'));
  expect(await lost()).toEqual([
    'vmdhcp_agent_wol_reports_total{outcome="too-old"} 0',
    'vmdhcp_agent_wol_reports_total{outcome="queue-full"} 0',
  ]);
  ends.set('too-old', 3).set('accepted', 7);
  expect((await lost()).toSorted()).toEqual([
    'vmdhcp_agent_wol_reports_total{outcome="accepted"} 7',
    'vmdhcp_agent_wol_reports_total{outcome="queue-full"} 0',
    'vmdhcp_agent_wol_reports_total{outcome="too-old"} 3',
  ]);
});
