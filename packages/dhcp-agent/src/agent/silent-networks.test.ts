/** Agents that reach no machine: on a node without the bridge, on a network that is dead everywhere, on one whose machines are off. */
import { AGENT_REPORT_ANNOTATION, parseAgentReport } from '@vmdhcp/ippool-api/agent';
import { beforeEach, expect, it } from 'vitest';
import type { FakeGroupLease } from '../testing/fake-group-lease.js';
import type { FakePod } from '../testing/fake-pod.js';
import { AgentWorld, clientPacket, type WorldPool } from './agent-world-fixtures.js';

const [VM_A, VM_B] = ['02:00:00:00:00:0a', '02:00:00:00:00:0b'];
const CONFIRMED = [{ type: 'AgentReady', status: 'False', reason: 'NetworkSilent' }];

let world: AgentWorld;
let pools: readonly WorldPool[];
let lease: FakeGroupLease;
/** Pods that reach the machines of these interfaces. */
let reached: Map<FakePod, Set<string>>;

beforeEach(() => {
  world = new AgentWorld();
  pools = [world.addPool(), world.addPool()];
  lease = world.addGroup();
  reached = new Map();
  record([]);
});

/** The condition that the controller writes. */
function record(conditions: readonly object[], spec = {}): void {
  world.record(pools[0] as WorldPool, { '10.0.0.10': VM_A }, { conditions, spec });
  world.record(pools[1] as WorldPool, { '10.0.1.10': VM_B }, { conditions, spec });
}

function reaching(pod: FakePod, ...interfaceNames: readonly string[]): void {
  reached.set(pod, new Set(interfaceNames));
  pod.addressUse = async (interfaceName) => ({ byClient: reached.get(pod)?.has(interfaceName) === true, others: [] });
}

const leaders = () => world.pods.filter(({ agent }) => agent.isLeader()).map(({ owner }) => owner);
const terms = () => lease.stored?.stored.record.transitions ?? 0;
const reported = (pool = 0) =>
  parseAgentReport(lease.stored?.annotations[AGENT_REPORT_ANNOTATION]).get((pools[pool] as WorldPool).key)?.silentMinutes;

async function both(): Promise<[FakePod, FakePod]> {
  const [a, b] = await world.startBoth(lease);
  reaching(a);
  reaching(b, 'net0', 'net1');
  return [a, b];
}

it('a leader that reaches no machine steps down for a replica that does, which stays leader', async () => {
  const [a] = await both();
  record(CONFIRMED);
  await world.pass(120_000);
  expect(leaders()).toEqual(['a']);
  await world.pass(25_000);
  expect(leaders()).toEqual(['b']);
  expect(a.observer.of('network-silent').map(({ interfaceName }) => interfaceName)).toEqual(['net0', 'net1']);
  const term = terms();
  await world.pass(1_800_000);
  expect([leaders(), terms(), reported()]).toEqual([['b'], term, undefined]);
});

it('a network whose machines are off keeps its leader: the controller does not confirm that they run', async () => {
  const [, b] = await both();
  reaching(b);
  await world.pass(3_600_000);
  expect([leaders(), reported()]).toEqual([['a'], 60]);
});

it('if no replica reaches a machine, the leader changes less and less often', async () => {
  const [, b] = await both();
  reaching(b);
  record(CONFIRMED);
  await world.pass(200_000);
  expect(leaders()).toEqual(['b']);
  const changes: number[] = [];
  for (let hour = 0; hour < 4; hour++) {
    const term = terms();
    await world.pass(3_600_000);
    changes.push(terms() - term);
    expect([reported(0) !== undefined, reported(1) !== undefined]).toEqual([true, true]);
  }
  expect(changes[0]).toBeLessThanOrEqual(8);
  // Each of the two steps down twice an hour.
  for (const ofAnHour of changes.slice(1)) expect(ofAnHour).toBeLessThanOrEqual(4);
});

it('a replica that reaches the machines of one of its networks stays leader, and reports the other one', async () => {
  const [a] = await both();
  reaching(a, 'net1');
  record(CONFIRMED);
  await world.pass(300_000);
  expect([leaders(), reported(0), reported(1)]).toEqual([['a'], 4, undefined]);
});

it('machines that get replies are within reach', async () => {
  const [a] = await both();
  reaching(a);
  record(CONFIRMED);
  for (let times = 0; times < 20; times++) {
    await world.ask(pools[0] as WorldPool, clientPacket('discover', VM_A));
    await world.pass(30_000);
  }
  expect([leaders(), reported()]).toEqual([['a'], undefined]);
});

it('when a silent leader steps down, a replica that reaches no machine goes last', async () => {
  const [, b] = await both();
  reaching(b);
  reaching(world.startPod('c', lease), 'net0', 'net1');
  record(CONFIRMED);
  await world.pass(145_000);
  expect(leaders()).toEqual(['c']);
});

it('a replica that reaches no machine goes last even if it found the Lease free when it started', async () => {
  lease.annotate({});
  for (const { object } of pools) object.failNext = 1;
  reaching(world.startPod('c', lease));
  await world.pass(10);
  reaching(world.startPod('a', lease));
  await world.pass(3_000);
  reaching(world.startPod('b', lease), 'net0', 'net1');
  record(CONFIRMED);
  expect(leaders()).toEqual(['a']);
  await world.pass(145_000);
  expect(leaders()).toEqual(['b']);
});

it('a leader that is alone steps down less and less often, and for a replica that comes later', async () => {
  const a = world.startPod('a', lease);
  reaching(a);
  record(CONFIRMED);
  await world.pass(900_000);
  expect(a.observer.of('stepping-down').length).toBeLessThanOrEqual(4);
  reaching(world.startPod('b', lease), 'net0', 'net1');
  await world.pass(2_000_000);
  expect(leaders()).toEqual(['b']);
});

it('a leader that reached machines after a quiet time steps down at once when it loses them again', async () => {
  const [a, b] = await both();
  record(CONFIRMED);
  await world.pass(200_000);
  expect(leaders()).toEqual(['b']);
  record([]);
  await world.pass(600_000);
  reaching(a, 'net0', 'net1');
  reaching(b);
  record(CONFIRMED);
  await world.pass(200_000);
  expect(leaders()).toEqual(['a']);
});

it('pools whose machines may not be probed get no ARP requests, and are never silent', async () => {
  record(CONFIRMED, { conflictProbe: 'Disabled' });
  const asked: string[] = [];
  const [a] = await both();
  a.addressUse = async (interfaceName) => {
    asked.push(interfaceName);
    return { byClient: false, others: [] };
  };
  await world.pass(600_000);
  expect([leaders(), reported(), asked]).toEqual([['a'], undefined, []]);
});

it('pools whose machines may do without IPv4 are never silent', async () => {
  record(CONFIRMED, { ipv6Config: { cidr: 'fd00:48::/64', ipv6OnlyWait: 300 } });
  const [a] = await both();
  reaching(a);
  await world.pass(600_000);
  expect([leaders(), reported()]).toEqual([['a'], undefined]);
});

it('an agent without other replicas stays leader', async () => {
  const a = world.startPod('a', lease, { isAlone: true });
  reaching(a);
  record(CONFIRMED);
  await world.pass(300_000);
  expect([leaders(), reported()]).toEqual([['a'], 4]);
});
