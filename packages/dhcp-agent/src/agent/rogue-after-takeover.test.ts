import { beforeEach, describe, expect, it } from 'vitest';
import type { FakeGroupLease } from '../testing/fake-group-lease.js';
import { AgentWorld, clientPacket, type WorldPool } from './agent-world-fixtures.js';

const VM_A = '02:00:00:00:00:0a';
const ROGUE = [{ address: '10.0.0.66', macAddress: '02:00:00:00:00:66' }];

let world: AgentWorld;
let pool: WorldPool;
let lease: FakeGroupLease;

beforeEach(() => {
  world = new AgentWorld();
  pool = world.addPool();
  world.record(pool, { '10.0.0.10': VM_A }, { spec: { onRogueServer: 'Stop' } });
  lease = world.addGroup();
});

const ask = (packet: Uint8Array, ms?: number) => world.ask(pool, packet, ms);

describe('a former leader, with onRogueServer: Stop', () => {
  it('stays silent when the new leader finds another DHCP server, although it found none itself', async () => {
    const [a, b] = await world.startBoth(lease);
    // The former leader looked, and found none.
    expect(a.agent.report().get(pool.key)?.rogueServers).toEqual([]);
    // Leadership moves once: the API server does not answer a for a while.
    a.isCutOff = true;
    await world.pass(6_000);
    a.isCutOff = false;
    await world.pass(3_000);
    expect([a.agent.isLeader(), b.agent.isLeader()]).toEqual([false, true]);
    // Now somebody starts another DHCP server; the leader finds it and stops.
    for (const pod of [a, b]) pod.servers = async () => ROGUE;
    await world.pass(300_000);
    expect(b.agent.report().get(pool.key)).toMatchObject({ serving: false, reason: 'RogueServer' });
    // A client retransmits, because the leader is silent on purpose.
    expect(await ask(clientPacket('discover', VM_A, { xid: 9 }), 1_000)).toEqual([]);
    expect(await ask(clientPacket('discover', VM_A, { xid: 9, secs: 1 }), 1_000)).toEqual([]);
    expect(await ask(clientPacket('discover', VM_A, { xid: 9, secs: 2 }), 1_000)).toEqual([]);
  });

  it('that leads again soon does not serve beside the DHCP server that the leader in between has found', async () => {
    const [a, b] = await world.startBoth(lease);
    for (const pod of [a, b]) pod.servers = async () => ROGUE;
    a.isCutOff = true;
    await world.pass(6_000);
    a.isCutOff = false;
    await world.pass(6_000);
    expect(b.agent.report().get(pool.key)).toMatchObject({ serving: false, reason: 'RogueServer' });
    b.process.kill();
    await world.pass(6_000);
    expect(a.agent.isLeader()).toBe(true);
    // Three minutes later it has still not looked, and reports to the controller that there is no other server.
    await world.pass(180_000);
    expect(a.agent.report().get(pool.key)).toMatchObject({ serving: false, rogueServers: ROGUE });
  });

  it('helps again when the new leader reports that the other DHCP server has gone', async () => {
    const a = world.startPod('a', lease);
    a.servers = async () => ROGUE;
    await world.pass(3_000);
    const b = world.startPod('b', lease);
    await world.pass(2_000);
    expect(a.agent.report().get(pool.key)).toMatchObject({ serving: false, reason: 'RogueServer' });
    a.isCutOff = true;
    await world.pass(6_000);
    a.isCutOff = false;
    for (const pod of [a, b]) pod.servers = async () => [];
    await world.pass(60_000);
    expect(b.agent.report().get(pool.key)).toMatchObject({ serving: true, rogueServers: [] });
    // The leader dies: the standby must help a client that retransmits, as the report says that there is no other server.
    b.process.kill();
    await ask(clientPacket('discover', VM_A, { xid: 9 }), 1_000);
    expect(await ask(clientPacket('discover', VM_A, { xid: 9, secs: 1 }))).toEqual(['a: offer']);
  });
});
