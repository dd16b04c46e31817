import { beforeEach, describe, expect, it } from 'vitest';
import type { FakeGroupLease } from '../testing/fake-group-lease.js';
import { AgentWorld, clientPacket, ip, type WorldPool } from './agent-world-fixtures.js';

const [VM_A, VM_B] = ['02:00:00:00:00:0a', '02:00:00:00:00:0b'];

let world: AgentWorld;
let pool: WorldPool;
let lease: FakeGroupLease;

beforeEach(() => {
  world = new AgentWorld();
  pool = world.addPool();
  world.record(pool, { '10.0.0.10': VM_A, '10.0.0.11': VM_B });
  lease = world.addGroup();
});

describe('two replicas of an agent', () => {
  it('one becomes leader and has the address; the other one is ready and silent', async () => {
    const a = world.startPod('a', lease);
    await world.pass(1_000);
    const b = world.startPod('b', lease);
    await world.pass(5_000);
    expect([a.agent.isLeader(), b.agent.isLeader()]).toEqual([true, false]);
    expect(world.holders(pool)).toEqual(['a']);
    expect([a.agent.unready(), b.agent.unready()]).toEqual([[], []]);
    pool.network.broadcast(clientPacket('discover', VM_A));
    await world.pass(100);
    expect(pool.replies).toMatchObject([{ owner: 'a', type: 'offer', address: ip('10.0.0.10') }]);
  });
});
