import { readConditions } from '@vmdhcp/kube-runtime';
import { describe, expect, it } from 'vitest';
import { clusterAgent } from './hosts-fixtures.js';
import { World } from './hosts-world-fixtures.js';

const off = () => {
  const object = clusterAgent();
  return {
    ...object,
    spec: { agentYaml: { underlayInterface: 'ns/net' }, feature: { enableDhcpServer: false } },
  } as typeof object;
};
const trueConditions = (world: World) =>
  readConditions(world.clusterAgents.objects.get('rack')?.status)
    .filter(({ status }) => status === 'True')
    .map(({ type }) => type)
    .toSorted();
/** As a person edits it: the status stays. */
const edit = (world: World, object: ReturnType<typeof clusterAgent>) =>
  world.put({ ...object, status: world.clusterAgents.objects.get('rack')?.status } as typeof object);

describe('a ClusterAgent whose DHCP server is switched off', () => {
  it('has no condition CannotServe any longer, although its interface was missing before', async () => {
    const world = new World();
    world.put(clusterAgent());
    const replica = world.add();
    replica.kernel.removeLink('net1');
    await world.until('the condition', () => trueConditions(world).includes('CannotServe'));
    edit(world, off());
    await world.clock.advance(600_000);
    expect([replica.machine.isLeader(), replica.machine.unready()]).toEqual([true, []]);
    expect(trueConditions(world)).toEqual([]);
  });

  it('has no condition RogueServer or AddressesExhausted any longer: nobody looks for other servers, and there is no range', async () => {
    const world = new World();
    world.put(clusterAgent({ ipRange: '10.0.0.10-10.0.0.10' }));
    world.otherServers = [{ address: '10.0.0.77', macAddress: '02:00:00:00:00:77' } as never];
    const replica = world.add();
    await world.until('a server', () => replica.machine.isServing());
    await world.join(1);
    await world.clock.advance(2_000);
    await world.join(2);
    await world.until('the conditions', () => trueConditions(world).length === 2);
    expect(trueConditions(world)).toEqual(['AddressesExhausted', 'RogueServer']);
    world.otherServers = [];
    edit(world, off());
    await world.clock.advance(600_000);
    expect(trueConditions(world)).toEqual([]);
  });
});
