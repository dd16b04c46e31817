/** Agents that hear nothing: on a node without the bridge, on a network that is dead everywhere, on one that is merely quiet. */
import { AGENT_REPORT_ANNOTATION, parseAgentReport } from '@vmdhcp/ippool-api/agent';
import { beforeEach, expect, it } from 'vitest';
import type { FakeGroupLease } from '../testing/fake-group-lease.js';
import type { FakePod } from '../testing/fake-pod.js';
import { AgentWorld, type WorldPool } from './agent-world-fixtures.js';

const VM_A = '02:00:00:00:00:0a';

let world: AgentWorld;
let pools: readonly WorldPool[];
let lease: FakeGroupLease;

beforeEach(() => {
  world = new AgentWorld();
  pools = [world.addPool(), world.addPool()];
  world.record(pools[0] as WorldPool, { '10.0.0.10': VM_A });
  lease = world.addGroup();
});

const deafen = (pod: FakePod, ...interfaceNames: readonly string[]) => {
  pod.framesReceived = (name) => (interfaceNames.includes(name) ? 7 : world.clock.nowMs());
};
const leaders = () => world.pods.filter(({ agent }) => agent.isLeader()).map(({ owner }) => owner);
const terms = () => lease.stored?.stored.record.transitions;
const reported = (pool = 0) =>
  parseAgentReport(lease.stored?.annotations[AGENT_REPORT_ANNOTATION]).get((pools[pool] as WorldPool).key)?.silentMinutes;

it('a leader that hears nothing steps down for a replica that hears its networks, and stays a standby', async () => {
  const [a] = await world.startBoth(lease);
  deafen(a, 'net0', 'net1');
  await world.pass(110_000);
  expect(leaders()).toEqual(['a']);
  await world.pass(25_000);
  expect(leaders()).toEqual(['b']);
  expect(a.observer.of('network-silent').map(({ interfaceName }) => interfaceName)).toEqual(['net0', 'net1']);
  const term = terms();
  await world.pass(900_000);
  expect([leaders(), terms(), reported()]).toEqual([['b'], term, undefined]);
});

it('where every replica hears nothing, the leader changes once, and the report says so', async () => {
  const [a, b] = await world.startBoth(lease);
  for (const pod of [a, b]) deafen(pod, 'net0', 'net1');
  await world.pass(150_000);
  expect(leaders()).toEqual(['b']);
  const term = terms();
  await world.pass(1_800_000);
  expect([leaders(), terms()]).toEqual([['b'], term]);
  expect([reported(0), reported(1)]).toEqual([32, 32]);
});

it('a replica that hears one of its networks stays leader, and reports the other one', async () => {
  const [a] = await world.startBoth(lease);
  deafen(a, 'net0');
  await world.pass(300_000);
  expect([leaders(), reported(0), reported(1)]).toEqual([['a'], 4, undefined]);
});

it('nobody is to be heard where no address is recorded', async () => {
  world.record(pools[0] as WorldPool, {});
  const [a] = await world.startBoth(lease);
  deafen(a, 'net0', 'net1');
  await world.pass(300_000);
  expect(leaders()).toEqual(['a']);
});

it('the leader asks the machines of a quiet network, and they answer', async () => {
  const [a, b] = await world.startBoth(lease);
  const frames = new Map<FakePod, number>();
  for (const pod of [a, b]) pod.framesReceived = () => frames.get(pod) ?? 0;
  const asked: string[] = [];
  for (const pod of [a, b])
    pod.addressUse = async (interfaceName) => {
      asked.push(`${pod.owner} ${interfaceName}`);
      frames.set(pod, (frames.get(pod) ?? 0) + 1);
      return { byClient: true, others: [] };
    };
  await world.pass(600_000);
  expect([leaders(), reported()]).toEqual([['a'], undefined]);
  expect(new Set(asked)).toEqual(new Set(['a net0']));
});

it('of those that could take over, one that has never heard its network goes last', async () => {
  const [a, b] = await world.startBoth(lease);
  deafen(b, 'net0', 'net1');
  await world.pass(200_000);
  world.startPod('c', lease);
  await world.pass(10_000);
  a.process.kill();
  await world.pass(10_000);
  expect(leaders()).toEqual(['c']);
});

it('an agent without other replicas stays leader', async () => {
  const a = world.startPod('a', lease, { isAlone: true });
  deafen(a, 'net0', 'net1');
  await world.pass(300_000);
  expect([leaders(), reported()]).toEqual([['a'], 4]);
});
