import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { createBareMetalMetrics } from './bare-metal-metrics.js';

it('the leader has a series for each ClusterAgent, and writes are counted by kind', async () => {
  const registry = new Registry();
  let isLeading = false;
  const ready = () =>
    new Map([
      ['rack', true],
      ['hall', false],
    ]);
  const metrics = createBareMetalMetrics(registry, {
    ready,
    addresses: () => new Map([['rack', { used: 3, available: 7 }]]),
    isLeading: () => isLeading,
  });
  metrics.onAgentWrite({ kind: 'create', object: { kind: 'Deployment', metadata: { name: 'agent-rack' } } });
  metrics.onOrphanedOperation();
  expect(await registry.metrics()).not.toContain('clusteragent="rack"');
  isLeading = true;
  const text = await registry.metrics();
  expect(text).toContain('vmdhcpcontroller_cluster_agent_ready{clusteragent="rack"} 1');
  expect(text).toContain('vmdhcpcontroller_cluster_agent_ready{clusteragent="hall"} 0');
  expect(text).toContain('vmdhcpcontroller_cluster_agent_addresses{clusteragent="rack",state="available"} 7');
  expect(text).toContain('vmdhcpcontroller_host_agent_writes_total{kind="Deployment",write="create"} 1');
  expect(text).toContain('vmdhcpcontroller_orphaned_host_operations_total 1');
});
