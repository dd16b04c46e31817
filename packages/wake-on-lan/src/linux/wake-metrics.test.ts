import { expect, it } from 'vitest';
import { createWakeMetrics } from './wake-metrics.js';

it('the metrics of a listener have the values of their sources at the time of reading', async () => {
  const wakeUps = { accepted: 2, failed: 1 };
  const registry = createWakeMetrics({
    packets: () => new Map([['wake-up', 3]]),
    wakeUps: () => wakeUps,
    listeners: () => ({ listening: 4, dead: 1 }),
  });
  const lines = async () => (await registry.metrics()).split('\n').filter((line) => line.startsWith('vmdhcp_agent_wol'));
  expect(await lines()).toEqual([
    'vmdhcp_agent_wol_packets_total{outcome="wake-up"} 3',
    'vmdhcp_agent_wol_wake_ups_total{outcome="accepted"} 2',
    'vmdhcp_agent_wol_wake_ups_total{outcome="failed"} 1',
    'vmdhcp_agent_wol_listeners{state="listening"} 4',
    'vmdhcp_agent_wol_listeners{state="dead"} 1',
  ]);
  wakeUps.failed = 5;
  expect(await lines()).toContain('vmdhcp_agent_wol_wake_ups_total{outcome="failed"} 5');
});
