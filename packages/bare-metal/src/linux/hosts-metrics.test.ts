import { expect, it } from 'vitest';
import { clusterAgent } from './hosts-fixtures.js';
import { createHostsMetrics } from './hosts-metrics.js';
import { World } from './hosts-world-fixtures.js';

it('a ClusterAgent whose DHCP server is switched off is not reported as a pool that its leader fails to serve', async () => {
  const world = new World();
  const object = clusterAgent();
  world.put({
    ...object,
    spec: { agentYaml: { underlayInterface: 'ns/net' }, feature: { enableDhcpServer: false } },
  } as typeof object);
  const { machine } = world.add();
  await world.clock.advance(600_000);
  expect([machine.isLeader(), machine.unready()]).toEqual([true, []]);
  const text = await createHostsMetrics('rack', machine, { counts: () => new Map() } as never).registry.metrics();
  const alertFires = /^vmdhcp_agent_pool_served\{pool="rack"\} 0$/m.test(text) && !/^vmdhcp_agent_leading 0$/m.test(text);
  expect(alertFires).toBe(false);
});

it('failed writes of leases are still counted when the agent has stepped down because of them', async () => {
  const world = new World();
  const open = world.records.open.bind(world.records);
  /** The counter of each opened store begins with 0, as that of OpenLeases. */
  let refuseWrites: () => void = () => undefined;
  world.records.open = async (...settings) => {
    const store = await open(...settings);
    const counted = { failures: 0 };
    Object.defineProperty(store.open, 'failures', { get: () => counted.failures });
    refuseWrites = () => {
      counted.failures += 3;
    };
    return store;
  };
  world.put(clusterAgent());
  const [one, other] = [world.add(), world.add()];
  await world.until('a server', () => one.machine.isServing());
  const { registry } = createHostsMetrics('rack', one.machine, { counts: () => new Map() } as never);
  const counted = async () => /^vmdhcp_agent_lease_write_failures_total (\d+)$/m.exec(await registry.metrics())?.[1];
  const seen = [await counted()];
  // Its volume, or its connection to the API server, refuses three writes.
  refuseWrites();
  one.recordingProblem = 'leases cannot be written: ENOSPC';
  // Prometheus reads every 30 s.
  for (let scrape = 0; scrape < 4; scrape++) {
    await world.clock.advance(30_000);
    seen.push(await counted());
  }
  expect([one.machine.isLeader(), seen]).toEqual([false, ['0', '3', '3', '3', '3']]);
  // In its next term it fails again: the failures of all terms count.
  one.recordingProblem = undefined;
  other.process.kill();
  await world.until('the first one to serve again', () => one.machine.isServing());
  refuseWrites();
  expect(await counted()).toBe('6');
});
