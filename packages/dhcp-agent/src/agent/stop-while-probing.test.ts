import { expect, it } from 'vitest';
import type { AddressUse } from '../ports.js';
import { AgentWorld, ip } from './agent-world-fixtures.js';

const [VM_A, SQUATTER] = ['02:00:00:00:00:0a', '02:00:00:00:00:66'];

it('an agent that has stopped opens no socket again when a probe ends that had begun before', async () => {
  const world = new AgentWorld();
  const pool = world.addPool();
  const lease = world.addGroup();
  const a = world.startPod('a', lease);
  await world.pass(2_000);
  const probe = Promise.withResolvers<AddressUse>();
  a.addressUse = async (_, address) => (address === ip('10.0.0.10') ? await probe.promise : { byClient: false, others: [] });
  // A new machine: the leader probes its address, which takes up to a second.
  world.record(pool, { '10.0.0.10': VM_A });
  await world.pass(100);
  const stopped = a.agent.stop();
  await world.pass(100);
  await stopped;
  expect(pool.network.openSockets).toBe(0);
  // Another host answers now.
  probe.resolve({ byClient: false, others: [SQUATTER] });
  await world.pass(2_000);
  expect({ openSockets: pool.network.openSockets, opened: pool.network.opened }).toEqual({ openSockets: 0, opened: 1 });
});
