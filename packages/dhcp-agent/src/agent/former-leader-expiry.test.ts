import { expect, it } from 'vitest';
import { AgentWorld, ip, rebootPacket } from './agent-world-fixtures.js';

const VM_A = '02:00:00:00:00:0a';

it('a lease that is renewed with the next leader does not expire, nor is it logged as expired by the former one', async () => {
  const world = new AgentWorld();
  const pool = world.addPool();
  world.record(pool, { '10.0.0.10': VM_A }, { spec: { ipv4Config: { leaseTime: 60 } } });
  const lease = world.addGroup();
  const [a, b] = await world.startBoth(lease);
  expect(await world.ask(pool, rebootPacket(VM_A, ip('10.0.0.10')))).toEqual(['a: ack']);
  a.isCutOff = true;
  await world.pass(6_000);
  a.isCutOff = false;
  for (let renewal = 0; renewal < 5; renewal++) {
    expect(await world.ask(pool, rebootPacket(VM_A, ip('10.0.0.10'), { xid: 100 + renewal }))).toEqual(['b: ack']);
    await world.pass(30_000);
  }
  const events = (pod: typeof a) => pod.observer.of('lease').map(({ event }) => event);
  expect({ a: events(a), b: events(b) }).toEqual({ a: ['bound'], b: ['bound'] });
});
