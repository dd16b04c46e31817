/** A standby whose watch of the pool hangs (a half-open connection), while its watch of the Lease works. */
import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { MemoryResource } from '@vmdhcp/kube-runtime/testing';
import { expect, it } from 'vitest';
import { AgentWorld, ip, rebootPacket } from './agent-world-fixtures.js';

const [VM_A, VM_B] = ['02:00:00:00:00:0a', '02:00:00:00:00:0b'];

it('the address of a machine that lost it is not acknowledged to it beside the machine that has it now', async () => {
  const world = new AgentWorld();
  const pool = world.addPool();
  world.record(pool, { '10.0.0.10': VM_A });
  const lease = world.addGroup();
  const a = world.startPod('a', lease);
  await world.pass(1_000);
  // b reads its own copy, which does not change any more.
  const frozen = new MemoryResource<KubernetesObject>(world.clock);
  frozen.put({
    apiVersion: 'network.harvesterhci.io/v1alpha1',
    kind: 'IPPool',
    metadata: { namespace: 'default', name: 'net-0', uid: 'uid-0', generation: 1 },
    spec: {
      networkName: pool.key,
      ipv4Config: { cidr: '10.0.0.0/24', serverIP: '10.0.0.2', pool: { start: '10.0.0.10', end: '10.0.0.99' } },
    },
    status: { ipv4: { allocated: { '10.0.0.10': VM_A }, used: 0, available: 0 } },
  });
  const b = world.startPod('b', lease, { poolSource: () => frozen });
  await world.pass(2_000);
  world.record(pool, { '10.0.0.10': VM_B });
  await world.pass(2_000);
  const versions = [a, b].map((pod) => pod.agent.report().get(pool.key)?.version);
  expect(await world.ask(pool, rebootPacket(VM_B, ip('10.0.0.10'), { xid: 1 }))).toEqual(['a: ack']);
  const ofA = [];
  for (let second = 0; second < 5; second++)
    ofA.push(...(await world.ask(pool, rebootPacket(VM_A, ip('10.0.0.10'), { xid: 2, secs: second }), 1_000)));
  expect({ versions, ofA }).toMatchObject({ ofA: [] });
});
