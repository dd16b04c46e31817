import { OptionCode } from '@vmdhcp/dhcp-allocator';
import {
  AGENT_LOG_ANNOTATION,
  parseSuspendedPools,
  SUSPENDED_POOLS_ANNOTATION,
  SUSPENDED_POOLS_SEEN_ANNOTATION,
} from '@vmdhcp/ippool-api/agent';
import type { KubernetesObject, ResourcePort } from '@vmdhcp/kube-runtime';
import { beforeEach, describe, expect, it } from 'vitest';
import type { FakeGroupLease } from '../testing/fake-group-lease.js';
import type { FakePod } from '../testing/fake-pod.js';
import { AgentWorld, clientPacket, ip, rebootPacket, suspend, type WorldPool } from './agent-world-fixtures.js';

const [VM_A, VM_B, VM_C] = ['02:00:00:00:00:0a', '02:00:00:00:00:0b', '02:00:00:00:00:0c'];
const VM_D = '02:00:00:00:00:0d';
const SQUATTER = '02:00:00:00:00:66';
const ADDRESS_A = ip('10.0.0.10');
const ROGUE = [{ address: '10.0.0.66', macAddress: SQUATTER }];

let world: AgentWorld;
let pool: WorldPool;
let lease: FakeGroupLease;

beforeEach(() => {
  world = new AgentWorld();
  pool = world.addPool();
  world.record(pool, { '10.0.0.10': VM_A, '10.0.0.11': VM_B });
  lease = world.addGroup();
});

/** A leader `a` and a standby `b`. */
const startBoth = () => world.startBoth(lease);

/** Sends a packet and returns who answered it within a moment, and how. */
const ask = (packet: Uint8Array, ms?: number) => world.ask(pool, packet, ms);

const reason = (pod: FakePod, key = pool.key) => pod.agent.report().get(key)?.reason;

describe('two replicas of an agent', () => {
  it('one becomes leader and has the address; the other one is ready and silent', async () => {
    const [a, b] = await startBoth();
    expect([a.agent.isLeader(), b.agent.isLeader()]).toEqual([true, false]);
    expect(world.holders(pool)).toEqual(['a']);
    expect([a.agent.unready(), b.agent.unready()]).toEqual([[], []]);
    expect([a.agent.report().get(pool.key)?.serving, reason(b)]).toEqual([true, 'NotLeading']);
    expect(await ask(clientPacket('discover', VM_A))).toEqual(['a: offer']);
    expect(pool.replies).toMatchObject([{ address: ADDRESS_A }]);
  });

  it('both know their leases, and only the leader binds them', async () => {
    const [a, b] = await startBoth();
    await ask(rebootPacket(VM_A, ADDRESS_A));
    const bound = ({ agent }: FakePod) => [...agent.leases()].filter(({ expiresAtMs }) => expiresAtMs !== undefined).length;
    expect([bound(a), bound(b)]).toEqual([1, 0]);
    expect([...b.agent.leases()]).toHaveLength(2);
  });

  it('a bound lease expires by the wall clock, with an event', async () => {
    const [a] = await startBoth();
    await ask(rebootPacket(VM_A, ADDRESS_A));
    a.wallOffsetMs += 400 * 24 * 3_600_000;
    await world.pass(6_000);
    expect(a.observer.of('lease').map(({ event }) => event)).toEqual(['bound', 'expired']);
    expect(await ask(rebootPacket(VM_A, ADDRESS_A, { xid: 8 }))).toEqual(['a: ack']);
  });

  it('each keeps its sockets open and never reopens them without need', async () => {
    await startBoth();
    expect([pool.network.opened, pool.network.openSockets]).toEqual([2, 2]);
    await world.pass(60_000);
    expect([pool.network.opened, pool.network.openSockets]).toEqual([2, 2]);
  });

  it('the address never leaves the leader while it renews', async () => {
    const [a] = await startBoth();
    await world.pass(60_000);
    expect(a.kernel.spans()).toHaveLength(1);
    expect(a.kernel.announced).toEqual(['net0']);
    expect(world.holders(pool)).toEqual(['a']);
  });

  it('a leader that stops removes the address, releases the Lease, and the other one takes over at once', async () => {
    const [a, b] = await startBoth();
    const stopped = a.agent.stop();
    await world.pass(100);
    await stopped;
    expect([a.agent.isLeader(), b.agent.isLeader()]).toEqual([false, true]);
    expect(world.holders(pool)).toEqual(['b']);
    expect(world.overlaps()).toEqual([]);
    expect(a.observer.of('leadership-lost')).toEqual([]);
    expect(pool.network.openSockets).toBe(1);
  });

  it('a leader that is about to stop answers no client', async () => {
    const [a] = await startBoth();
    a.fate = () => ({ thereMs: 500, backMs: 500 });
    void a.agent.stop();
    expect(await ask(clientPacket('discover', VM_A))).toEqual([]);
    expect(a.agent.counters.messages().next().done).toBe(true);
  });

  it('a standby whose watch lags lists the pools when it becomes leader: no client gets an address that another one has by now', async () => {
    const { object } = pool;
    const late: ResourcePort<KubernetesObject> = {
      list: object.list,
      watch: (version, handlers) =>
        object.watch(version, { ...handlers, onEvent: (event) => void world.clock.after(60_000, () => handlers.onEvent(event)) }),
    };
    const a = world.startPod('a', lease);
    await world.pass(1_000);
    world.startPod('b', lease, { poolSource: () => late });
    await world.pass(2_000);
    world.record(pool, { '10.0.0.10': VM_B, '10.0.0.12': VM_A });
    await world.pass(1_000);
    expect(await ask(rebootPacket(VM_A, ADDRESS_A))).toEqual(['a: nak']);
    void a.agent.stop();
    await world.pass(1_000);
    expect(await ask(rebootPacket(VM_A, ADDRESS_A))).toEqual(['b: nak']);
    expect(await ask(rebootPacket(VM_B, ADDRESS_A))).toEqual(['b: ack']);
  });

  it('a leader that cannot remove its address lets the Lease expire', async () => {
    const [a, b] = await startBoth();
    a.kernel.failure = (call) => (call === 'remove' ? { error: new Error('ENOBUFS'), isDone: false } : undefined);
    void a.agent.stop();
    await world.pass(2_000);
    expect(b.agent.isLeader()).toBe(false);
    await world.pass(1_500);
    expect(b.agent.isLeader()).toBe(true);
    expect(world.overlaps()).toEqual([]);
  });

  it('a dead leader is replaced when its Lease has expired, and its address is gone by then', async () => {
    const [a, b] = await startBoth();
    a.process.kill();
    await world.pass(2_700);
    expect(b.agent.isLeader()).toBe(false);
    await world.pass(800);
    expect(b.agent.isLeader()).toBe(true);
    expect(world.holders(pool)).toEqual(['b']);
    expect(world.overlaps()).toEqual([]);
  });

  it('a leader that was frozen for long answers as a standby before any of its timers has run', async () => {
    const [a] = await startBoth();
    a.process.freeze(10_000);
    await world.pass(9_990);
    pool.replies.length = 0;
    pool.network.broadcast(clientPacket('discover', VM_A));
    await world.pass(5_000);
    expect(pool.replies.map(({ owner }) => owner)).toEqual(['b']);
    expect(world.overlaps()).toEqual([]);
    expect(a.observer.kinds()).toContain('leadership-lost');
  });

  it('a leader cut off from the API server loses leadership and its address; it goes on as a standby', async () => {
    const [a, b] = await startBoth();
    a.isCutOff = true;
    await world.pass(4_000);
    expect([a.agent.isLeader(), b.agent.isLeader()]).toEqual([false, true]);
    expect(world.holders(pool)).toEqual(['b']);
    expect(world.overlaps()).toEqual([]);
    expect(a.observer.of('lease-unreachable').length).toBeGreaterThan(0);
  });

  it('a leader stays leader if its write took effect but the answer was lost', async () => {
    const [a, b] = await startBoth();
    let requests = 0;
    a.fate = () => ({ thereMs: 2, backMs: 2, ...(++requests % 4 === 1 && { lost: 'answer' as const }) });
    await world.pass(20_000);
    expect([a.agent.isLeader(), b.agent.isLeader()]).toEqual([true, false]);
    expect(a.observer.kinds()).not.toContain('leadership-lost');
  });

  it('the wall clock is set by an hour in both directions: nothing changes', async () => {
    const [a, b] = await startBoth();
    a.wallOffsetMs += 3_600_000;
    b.wallOffsetMs -= 3_600_000;
    await world.pass(20_000);
    expect(world.holders(pool)).toEqual(['a']);
    expect(a.observer.kinds()).not.toContain('leadership-lost');
  });
});

describe('a standby', () => {
  it('answers a client that retransmits while the leader is dead, as the leader would', async () => {
    const [a, b] = await startBoth();
    a.process.kill();
    expect(await ask(clientPacket('discover', VM_A, { xid: 9 }), 1_000)).toEqual([]);
    expect(await ask(clientPacket('discover', VM_A, { xid: 9, secs: 1 }))).toEqual(['b: offer']);
    expect(pool.replies[0]?.address).toBe(ADDRESS_A);
    expect(b.observer.of('standby-answer')).toEqual([{ kind: 'standby-answer', pool: pool.key, macAddress: VM_A }]);
  });

  it('sends its answer in a frame even where the leader would send a datagram, because it does not have the address', async () => {
    const [a] = await startBoth();
    const renewal = clientPacket('request', VM_A, { xid: 9, clientAddress: ADDRESS_A });
    await ask(renewal, 1_000);
    expect(pool.replies).toMatchObject([{ owner: 'a', destination: { kind: 'unicast', address: ADDRESS_A } }]);
    a.process.kill();
    await ask(renewal, 1_000);
    expect(await ask(renewal)).toEqual(['b: ack']);
    expect(pool.replies).toMatchObject([{ destination: { kind: 'link', address: ADDRESS_A, port: 68 } }]);
  });

  it('sends to a broadcast address where the leader would', async () => {
    const [a] = await startBoth();
    a.process.kill();
    const packet = clientPacket('discover', VM_A, { xid: 9, wantsBroadcast: true });
    await ask(packet, 1_000);
    await ask(packet);
    expect(pool.replies).toMatchObject([{ destination: { kind: 'broadcast' } }]);
  });

  it('shows which clients it left to the leader, and which it answered', async () => {
    const [a, b] = await startBoth();
    const shown = (pod: FakePod) =>
      [...pod.traffic.clients()].map(({ messages, answers, unanswered }) => ({ messages, answers, unanswered }));
    await ask(clientPacket('discover', VM_A, { xid: 9 }), 1_000);
    expect(shown(a)).toEqual([{ messages: { DISCOVER: 1 }, answers: { OFFER: 1 }, unanswered: {} }]);
    a.process.kill();
    await ask(clientPacket('discover', VM_A, { xid: 9, secs: 1 }));
    expect(shown(b)).toEqual([{ messages: { DISCOVER: 2 }, answers: { OFFER: 1 }, unanswered: { 'standing-by': 1 } }]);
    expect([...b.traffic.clients()][0]).toMatchObject({ mac: VM_A, pool: pool.key, standing: 'declared' });
  });

  it('that becomes leader shows a message that waited as one, with its answer', async () => {
    const [a, b] = await startBoth();
    a.process.kill();
    await world.pass(2_500);
    pool.network.broadcast(clientPacket('discover', VM_A));
    await world.pass(1_200);
    expect([...b.traffic.clients()]).toMatchObject([
      {
        messages: { DISCOVER: 1 },
        answers: { OFFER: 1 },
        last: [{ reason: 'standing-by' }, { answer: 'OFFER 10.0.0.10', reason: null }],
      },
    ]);
  });

  it('does not note a RELEASE or DECLINE: the leader does', async () => {
    const [a, b] = await startBoth();
    const release = clientPacket('release', VM_A, { clientAddress: ADDRESS_A, options: [[54, Uint8Array.of(10, 0, 0, 2)]] });
    await ask(rebootPacket(VM_A, ADDRESS_A));
    await ask(release);
    expect(a.observer.of('lease').map(({ event }) => event)).toEqual(['bound', 'released']);
    expect(b.observer.of('lease')).toEqual([]);
    expect([...b.agent.counters.messages()]).toMatchObject([{ reason: 'standing-by' }, { reason: 'standing-by' }]);
  });

  it('without news from the API server waits until others could have taken over', async () => {
    const [a, b] = await startBoth();
    a.process.kill();
    b.isCutOff = true;
    await world.pass(6_000);
    const answers: string[][] = [];
    for (let second = 0; second < 5; second++)
      answers.push(await ask(clientPacket('discover', VM_A, { xid: 9, secs: second }), 1_000));
    expect(answers).toEqual([[], [], [], ['b: offer'], ['b: offer']]);
  });

  it('that becomes leader answers messages that arrived a moment before', async () => {
    const [a] = await startBoth();
    a.process.kill();
    await world.pass(2_500);
    pool.replies.length = 0;
    pool.network.broadcast(clientPacket('discover', VM_A));
    await world.pass(1_200);
    expect(pool.replies).toMatchObject([{ owner: 'b', type: 'offer' }]);
  });

  it('probes an address that is new when its client retransmits, and answers then', async () => {
    const [a, b] = await startBoth();
    world.record(pool, { '10.0.0.10': VM_A, '10.0.0.11': VM_B, '10.0.0.12': VM_C });
    const probed: number[] = [];
    b.addressUse = async (_, address) => {
      probed.push(address);
      await new Promise<void>((resolve) => world.clock.after(300, resolve));
      return { byClient: false, others: [] };
    };
    a.process.kill();
    await world.pass(100);
    await ask(clientPacket('discover', VM_C, { xid: 9 }), 1_000);
    expect(probed, 'leaves a client that does not retransmit to the leader').toEqual([]);
    expect(await ask(clientPacket('discover', VM_C, { xid: 9, secs: 1 }), 200)).toEqual([]);
    expect(probed).toEqual([ip('10.0.0.12')]);
    await world.pass(200);
    expect(pool.replies).toMatchObject([{ owner: 'b', type: 'offer' }]);
  });

  it('does not answer for an address that another host uses', async () => {
    const [a, b] = await startBoth();
    b.addressUse = async (_, address) => ({ byClient: false, others: address === ip('10.0.0.12') ? [SQUATTER] : [] });
    world.record(pool, { '10.0.0.10': VM_A, '10.0.0.11': VM_B, '10.0.0.12': VM_C });
    a.process.kill();
    await world.pass(100);
    for (let second = 0; second < 3; second++)
      expect(await ask(clientPacket('discover', VM_C, { xid: 9, secs: second }), 1_000)).toEqual([]);
    expect(b.observer.of('standby-answer')).toEqual([]);
  });

  it('adopts a conflict that the leader reports: the client gets no reply from either', async () => {
    const [a, b] = await startBoth();
    for (const pod of [a, b]) pod.addressUse = async () => ({ byClient: false, others: [SQUATTER] });
    a.addressUse = async (_, address) => ({ byClient: false, others: address === ip('10.0.0.12') ? [SQUATTER] : [] });
    world.record(pool, { '10.0.0.10': VM_A, '10.0.0.11': VM_B, '10.0.0.12': VM_C });
    await world.pass(2_000);
    expect(a.agent.report().get(pool.key)?.conflicts).toHaveLength(1);
    expect([...b.agent.leases()].map(({ macAddress }) => macAddress)).not.toContain(VM_C);
  });

  it('adopts the rogue servers that the leader reports', async () => {
    world.record(pool, { '10.0.0.10': VM_A }, { spec: { onRogueServer: 'Stop' } });
    const a = world.startPod('a', lease);
    a.servers = async () => ROGUE;
    await world.pass(3_000);
    const b = world.startPod('b', lease);
    await world.pass(2_000);
    expect(b.agent.report().get(pool.key)?.rogueServers).toEqual(ROGUE);
    a.process.kill();
    await ask(clientPacket('discover', VM_A, { xid: 9 }), 1_000);
    expect(await ask(clientPacket('discover', VM_A, { xid: 9, secs: 1 }))).toEqual([]);
  });
});

describe('a suspended pool', () => {
  it('loses its address, gets no answers from any replica, and is reported first as draining, then as suspended', async () => {
    const [a] = await startBoth();
    a.kernel.failure = (call) => (call === 'remove' ? { error: new Error('ENOBUFS'), isDone: false } : undefined);
    suspend(lease, [pool.key], 2);
    await world.pass(50);
    expect(reason(a)).toBe('Draining');
    a.kernel.failure = () => undefined;
    await world.pass(300);
    expect(reason(a)).toBe('Suspended');
    expect(world.holders(pool)).toEqual([]);
    expect(await ask(clientPacket('discover', VM_A, { xid: 9 }), 1_000)).toEqual([]);
    expect(await ask(clientPacket('discover', VM_A, { xid: 9, secs: 1 }), 1_000)).toEqual([]);
    expect(a.observer.of('suspended-pools')).toEqual([{ kind: 'suspended-pools', pools: [pool.key] }]);
  });

  it('is read at once: the leader echoes it within a moment, not at its next renewal', async () => {
    await startBoth();
    await world.pass(10);
    suspend(lease, [pool.key], 2);
    await world.pass(100);
    const { annotations = {} } = lease.stored ?? {};
    expect(annotations[SUSPENDED_POOLS_SEEN_ANNOTATION]).toBe(annotations[SUSPENDED_POOLS_ANNOTATION]);
  });

  it('is served again as soon as it is no longer suspended', async () => {
    await startBoth();
    suspend(lease, [pool.key], 2);
    await world.pass(1_000);
    suspend(lease, [], 3);
    await world.pass(1_000);
    expect(world.holders(pool)).toEqual(['a']);
    expect(await ask(clientPacket('discover', VM_A))).toEqual(['a: offer']);
  });

  it('newer lists replace older ones', async () => {
    const other = world.addPool();
    const a = world.startPod('a', lease);
    await world.pass(1_000);
    suspend(lease, [pool.key], 2);
    await world.pass(1_000);
    expect([world.holders(pool), world.holders(other)]).toEqual([[], ['a']]);
    suspend(lease, [other.key], 3);
    await world.pass(1_000);
    expect([world.holders(pool), world.holders(other)]).toEqual([['a'], []]);
    suspend(lease, [pool.key, other.key], 4);
    await world.pass(1_000);
    expect([reason(a), reason(a, other.key)]).toEqual(['Suspended', 'Suspended']);
  });

  it('stays suspended when the Lease is deleted: it is created again with what it suspended', async () => {
    const [a, b] = await startBoth();
    suspend(lease, [pool.key], 2);
    await world.pass(1_000);
    lease.delete();
    await world.pass(5_000);
    expect([...parseSuspendedPools(lease.stored?.annotations[SUSPENDED_POOLS_ANNOTATION])]).toEqual([pool.key]);
    expect(world.holders(pool)).toEqual([]);
    expect([a.agent.isLeader(), b.agent.isLeader()].filter(Boolean)).toHaveLength(1);
  });

  it('stays suspended for a replica that becomes leader, whatever state of the Lease it has seen', async () => {
    const [a, b] = await startBoth();
    b.watchLagMs = () => 60_000;
    suspend(lease, [pool.key], 2);
    await world.pass(500);
    a.process.kill();
    await world.pass(5_000);
    expect(b.agent.isLeader()).toBe(true);
    expect(reason(b)).toBe('Suspended');
    expect(b.kernel.spans()).toEqual([]);
  });
});

describe('a Lease that is deleted', () => {
  it('is created again by its leader, which stays leader', async () => {
    const [a] = await startBoth();
    lease.delete();
    await world.pass(3_000);
    expect(a.agent.isLeader()).toBe(true);
    expect(lease.stored?.stored.record.holder).toBe('a');
    expect(a.observer.kinds()).not.toContain('leadership-lost');
  });

  it('while its leader is frozen is created again when that leadership is over', async () => {
    const [a, b] = await startBoth();
    a.process.freeze(6_000);
    lease.delete();
    await world.pass(9_000);
    expect(b.agent.isLeader()).toBe(true);
    expect(world.overlaps()).toEqual([]);
  });

  it('together with its leader is created again soon after that leadership is over', async () => {
    const [a, b] = await startBoth();
    a.process.freeze(60_000);
    lease.delete();
    // The duration of the Lease, a retry period, and a moment more.
    await world.pass(3_500);
    expect(b.agent.isLeader()).toBe(true);
    expect(world.overlaps()).toEqual([]);
  });

  it('is not created at once by a replica that missed the last leader: it waits for the duration of a Lease', async () => {
    const [a, b] = await startBoth();
    b.isCutOff = true;
    await world.pass(20_000);
    a.process.freeze(3_000);
    lease.delete();
    b.isCutOff = false;
    await world.pass(8_000);
    expect(world.overlaps()).toEqual([]);
    expect([a, b].filter(({ agent }) => agent.isLeader())).toHaveLength(1);
  });
});

describe('an agent that is the only replica', () => {
  it('does not wait for others even while it cannot serve its pools: no other replica could do better', async () => {
    lease.annotate({});
    const a = world.startPod('a', lease, { isAlone: true });
    a.kernel.removeLink('net0');
    await world.pass(600);
    expect(a.agent.isLeader()).toBe(true);
  });

  it('that lost leadership for a while adds and announces its address again', async () => {
    const a = world.startPod('a', lease, { isAlone: true });
    await world.pass(1_000);
    a.isCutOff = true;
    await world.pass(5_000);
    expect(world.holders(pool)).toEqual([]);
    a.isCutOff = false;
    await world.pass(3_000);
    expect(world.holders(pool)).toEqual(['a']);
    expect(a.kernel.announced).toEqual(['net0', 'net0']);
  });

  it('never steps down', async () => {
    const a = world.startPod('a', lease, { isAlone: true });
    await world.pass(1_000);
    a.kernel.removeLink('net0');
    await world.pass(60_000);
    expect(a.agent.isLeader()).toBe(true);
    expect(a.observer.kinds()).not.toContain('stepping-down');
  });

  it('waits for another holder, and reports it once', async () => {
    const other = world.startPod('other', lease);
    await world.pass(1_000);
    const a = world.startPod('a', lease, { isAlone: true });
    await world.pass(5_000);
    expect(a.agent.isLeader()).toBe(false);
    expect(a.observer.of('another-holder')).toEqual([{ kind: 'another-holder', holder: 'other' }]);
    other.process.kill();
    await world.pass(4_000);
    expect(a.agent.isLeader()).toBe(true);
    expect(world.overlaps()).toEqual([]);
  });

  it('that is one of several replicas does not report the holder', async () => {
    const [, b] = await startBoth();
    expect(b.observer.of('another-holder')).toEqual([]);
  });
});

describe('a leader that cannot serve all of its pools', () => {
  it('steps down after three seconds, and a replica that can becomes leader', async () => {
    const [a, b] = await startBoth();
    a.kernel.removeLink('net0');
    await world.pass(2_500);
    expect(a.agent.isLeader()).toBe(true);
    await world.pass(2_500);
    expect([a.agent.isLeader(), b.agent.isLeader()]).toEqual([false, true]);
    expect(a.observer.of('stepping-down')).toEqual([
      { kind: 'stepping-down', troubles: [`${pool.key}: interface net0 is missing`] },
    ]);
    await world.pass(30_000);
    expect(b.agent.isLeader()).toBe(true);
    expect(world.overlaps()).toEqual([]);
  });

  it('steps down because of an address that the kernel refuses', async () => {
    const [a, b] = await startBoth();
    a.kernel.failure = (call) => (call === 'add' ? { error: new Error('EPERM'), isDone: false } : undefined);
    await world.pass(6_000);
    expect([a.agent.isLeader(), b.agent.isLeader()]).toEqual([false, true]);
    expect(world.overlaps()).toEqual([]);
  });

  it('becomes leader again if there is no other replica', async () => {
    const a = world.startPod('a', lease);
    await world.pass(1_000);
    a.kernel.removeLink('net0');
    await world.pass(4_500);
    expect(a.agent.isLeader()).toBe(false);
    await world.pass(4_000);
    expect(a.agent.isLeader()).toBe(true);
  });

  it('lets others go first: a replica with troubles waits a second and a half', async () => {
    lease.annotate({});
    const a = world.startPod('a', lease);
    a.kernel.removeLink('net0');
    world.startPod('b', lease);
    await world.pass(1_000);
    expect(world.holders(pool)).toEqual(['b']);
  });

  it('lets others go first while its pools are not listed yet', async () => {
    lease.annotate({});
    const failing = { list: () => Promise.reject(new Error('HTTP 500')), watch: () => () => undefined };
    const a = world.startPod('a', lease, { poolSource: () => failing });
    const b = world.startPod('b', lease);
    await world.pass(1_200);
    expect([a.agent.isLeader(), b.agent.isLeader()]).toEqual([false, true]);
    expect(a.agent.unready()).toEqual([`not listed yet: ${pool.key}`]);
    expect(a.observer.of('pool-unreadable').length).toBeGreaterThan(0);
  });
});

describe('an interface', () => {
  it('that vanishes loses its socket; when it is back it is served again', async () => {
    const [a] = await startBoth();
    a.kernel.removeLink('net0');
    await world.pass(500);
    expect(reason(a)).toBe('InterfaceMissing');
    expect(a.agent.unready()).toEqual([`${pool.key}: interface net0 is missing`]);
    a.kernel.addLink('net0');
    await world.pass(1_000);
    expect(a.agent.report().get(pool.key)?.serving).toBe(true);
    expect(a.observer.kinds().filter((kind) => kind.startsWith('interface-'))).toEqual(['interface-missing', 'interface-back']);
    expect(await ask(clientPacket('discover', VM_A))).toEqual(['a: offer']);
  });

  it('that is replaced by another of the same name is opened again', async () => {
    const [a] = await startBoth();
    a.kernel.addLink('net0');
    await world.pass(1_000);
    expect(pool.network.opened).toBe(3);
    expect(a.kernel.has('net0', pool.serverAddress)).toBe(true);
    expect(await ask(clientPacket('discover', VM_A))).toEqual(['a: offer']);
  });

  it('that is not isolated gets no address and no socket', async () => {
    const a = world.startPod('a', lease);
    a.isolationProblem = () => 'packets can pass';
    await world.pass(2_000);
    expect(a.kernel.spans()).toEqual([]);
    expect(reason(a)).toBe('InterfaceNotIsolated');
    expect(await ask(clientPacket('discover', VM_A))).toEqual([]);
  });

  it('whose socket fails is reported, and opened again after a second', async () => {
    const [a] = await startBoth();
    pool.network.fail('net0', new Error('ENETDOWN'));
    expect(reason(a)).toBe('SocketFailed');
    await world.pass(1_500);
    expect(a.agent.report().get(pool.key)?.serving).toBe(true);
    expect(a.observer.of('socket-failed')).toHaveLength(1);
  });
});

describe('a pool', () => {
  it('that is paused loses its address and its socket; when it is resumed it has them again', async () => {
    const [a] = await startBoth();
    world.record(pool, { '10.0.0.10': VM_A }, { spec: { paused: true } });
    await world.pass(300);
    expect([world.holders(pool), pool.network.openSockets, reason(a)]).toEqual([[], 0, 'Paused']);
    expect(a.agent.unready()).toEqual([]);
    world.record(pool, { '10.0.0.10': VM_A });
    await world.pass(1_000);
    expect(world.holders(pool)).toEqual(['a']);
  });

  it('with another server address moves to it', async () => {
    const [a] = await startBoth();
    world.record(pool, { '10.0.0.10': VM_A }, { spec: { ipv4Config: { serverIP: '10.0.0.3' } } });
    await world.pass(1_000);
    expect(a.kernel.has('net0', ip('10.0.0.3'))).toBe(true);
    expect(a.kernel.has('net0', ip('10.0.0.2'))).toBe(false);
  });

  it('whose server address the pod itself needs is not served until that changes', async () => {
    const a = world.startPod('a', lease);
    a.neededFor = () => 'the API server';
    await world.pass(2_000);
    expect(reason(a)).toBe('ServerAddressRefused');
    expect(a.kernel.spans()).toEqual([]);
    a.neededFor = () => undefined;
    a.agent.checkServerAddresses();
    await world.pass(1_000);
    expect(world.holders(pool)).toEqual(['a']);
  });

  it('is served as before while the API server is away', async () => {
    const [a] = await startBoth();
    for (const pod of world.pods) pod.isCutOff = true;
    await world.pass(30_000);
    await ask(clientPacket('discover', VM_A, { xid: 9 }), 1_000);
    await ask(clientPacket('discover', VM_A, { xid: 9, secs: 1 }), 1_000);
    await ask(clientPacket('discover', VM_A, { xid: 9, secs: 2 }), 1_100);
    const answers = await ask(clientPacket('discover', VM_A, { xid: 9, secs: 3 }));
    expect(answers).toContain('a: offer');
    expect(a.agent.isLeader()).toBe(false);
    expect(world.holders(pool)).toEqual([]);
  });

  it('a new client is answered as soon as its address was probed, and need not retransmit', async () => {
    const [a] = await startBoth();
    let probed: () => void = () => undefined;
    a.addressUse = () =>
      new Promise((resolve) => {
        probed = () => resolve({ byClient: false, others: [] });
      });
    world.record(pool, { '10.0.0.10': VM_A, '10.0.0.12': VM_C });
    await world.pass(100);
    expect(await ask(clientPacket('discover', VM_C))).toEqual([]);
    probed();
    await world.pass(10);
    expect(pool.replies).toMatchObject([{ owner: 'a', type: 'offer', address: ip('10.0.0.12') }]);
    expect(await ask(clientPacket('discover', VM_C))).toEqual(['a: offer']);
  });

  it('an address that another host uses is reported, and its client gets no reply', async () => {
    const [a] = await startBoth();
    a.addressUse = async (_, address) => ({ byClient: false, others: address === ip('10.0.0.12') ? [SQUATTER] : [] });
    world.record(pool, { '10.0.0.10': VM_A, '10.0.0.12': VM_C });
    await world.pass(500);
    expect(a.observer.of('address-conflict')).toMatchObject([{ pool: pool.key, macAddress: VM_C, usedBy: SQUATTER }]);
    expect(await ask(clientPacket('discover', VM_C))).toEqual([]);
    expect(lease.stored?.annotations['network.harvesterhci.io/agent-report']).toContain(SQUATTER);
  });

  it('a host that uses the last free address of a subnet is believed: no client gets that address', async () => {
    const ipv4Config = { cidr: '10.0.0.0/29', router: '10.0.0.1', pool: { start: '10.0.0.3', end: '10.0.0.6' } };
    const others = { '10.0.0.3': VM_A, '10.0.0.4': VM_B, '10.0.0.6': VM_D };
    world.record(pool, others, { spec: { ipv4Config } });
    const [a] = await startBoth();
    a.addressUse = async (_, address) => ({ byClient: false, others: address === ip('10.0.0.5') ? [SQUATTER] : [] });
    a.heard.set(pool.interfaceName, [{ address: ip('10.0.0.5'), macAddress: SQUATTER }]);
    await world.pass(3_000);
    expect(a.observer.of('answers-for-every-address')).toEqual([]);
    expect(a.agent.report().get(pool.key)?.observedUses).toEqual([{ address: '10.0.0.5', usedBy: SQUATTER }]);
    world.record(pool, { ...others, '10.0.0.5': VM_C }, { spec: { ipv4Config } });
    await world.pass(500);
    expect(await ask(clientPacket('discover', VM_C))).toEqual([]);
  });

  it('a DECLINE that the network confirms is a conflict in the report', async () => {
    const [a] = await startBoth();
    a.addressUse = async (_, address) => ({ byClient: false, others: address === ADDRESS_A ? [SQUATTER] : [] });
    const options = [[50, Uint8Array.of(10, 0, 0, 10)] as const, [54, Uint8Array.of(10, 0, 0, 2)] as const];
    await ask(clientPacket('decline', VM_A, { options }));
    expect(a.agent.report().get(pool.key)?.conflicts).toMatchObject([{ macAddress: VM_A, usedBy: SQUATTER }]);
    expect(await ask(clientPacket('discover', VM_A))).toEqual([]);
  });
});

describe('rogue DHCP servers', () => {
  it('are looked for on the networks that a leader serves, again and again', async () => {
    const [a, b] = await startBoth();
    let probes = 0;
    a.servers = async () => {
      probes++;
      return [];
    };
    b.servers = () => Promise.reject(new Error('a standby does not probe'));
    await world.pass(900_000);
    expect(probes).toBeGreaterThanOrEqual(3);
    expect(probes).toBeLessThanOrEqual(5);
    expect(b.observer.of('servers-not-probed')).toEqual([]);
  });

  it('are reported within a second, and stop the service if the pool asks for that, until they are gone', async () => {
    world.record(pool, { '10.0.0.10': VM_A }, { spec: { onRogueServer: 'Stop' } });
    const a = world.startPod('a', lease);
    a.servers = async () => ROGUE;
    await world.pass(3_000);
    expect(a.observer.of('rogue-servers')).toEqual([{ kind: 'rogue-servers', interfaceName: 'net0', servers: ROGUE }]);
    expect(reason(a)).toBe('RogueServer');
    expect(await ask(clientPacket('discover', VM_A))).toEqual([]);
    a.servers = async () => [];
    await world.pass(30_000);
    expect(a.observer.of('no-rogue-servers')).toHaveLength(1);
    expect(await ask(clientPacket('discover', VM_A))).toEqual(['a: offer']);
  });
});

describe('a dry run', () => {
  it('opens no socket, adds no address, probes nothing, and reports', async () => {
    const a = world.startPod('a', lease, { isDryRun: true });
    a.addressUse = () => Promise.reject(new Error('a dry run does not probe'));
    await world.pass(2_000);
    world.record(pool, { '10.0.0.10': VM_A, '10.0.0.12': VM_C });
    await world.pass(2_000);
    expect([pool.network.opened, a.kernel.spans(), a.observer.of('address-not-probed')]).toEqual([0, [], []]);
    expect(a.agent.isLeader()).toBe(true);
    expect(reason(a)).toBe('DryRun');
    expect(a.agent.unready()).toEqual([]);
  });
});

describe('what an agent reports to its observer', () => {
  it('the log settings of the Lease, at each reading', async () => {
    const a = world.startPod('a', lease);
    await world.pass(1_000);
    lease.annotate({ [AGENT_LOG_ANNOTATION]: '{"level":"debug","packets":true}' });
    await world.pass(2_000);
    expect(a.observer.of('log-settings').at(-1)?.settings).toEqual({ level: 'debug', packets: true });
  });

  it('that it became leader, once', async () => {
    const [a, b] = await startBoth();
    await world.pass(10_000);
    expect([a.observer.of('leader'), b.observer.of('leader')]).toEqual([[{ kind: 'leader' }], []]);
  });

  it('how long after the Lease was renewed for the last time another replica became leader', async () => {
    const [a, b] = await startBoth();
    a.process.kill();
    await world.pass(10_000);
    const [{ afterMs = 0 } = {}] = b.observer.of('leader');
    expect(afterMs).toBeGreaterThanOrEqual(2_000);
    expect(afterMs).toBeLessThan(4_000);
  });

  it('that another replica became leader at once after the Lease was released', async () => {
    const [a, b] = await startBoth();
    void a.agent.stop();
    await world.pass(2_000);
    const [{ afterMs } = {}] = b.observer.of('leader');
    expect(afterMs).toBeLessThan(500);
  });

  it('replies that could not be sent, which are counted', async () => {
    const [a] = await startBoth();
    pool.network.failSending('net0', { error: 'ENOBUFS', count: 3 });
    expect(a.observer.of('replies-not-sent')).toEqual([
      { kind: 'replies-not-sent', interfaceName: 'net0', error: 'ENOBUFS', count: 3 },
    ]);
    expect(a.agent.counters.dropped().get('send-failed')).toBe(3);
  });

  it('how long bursts took', async () => {
    const [a] = await startBoth();
    await ask(clientPacket('discover', VM_A));
    expect(a.observer.of('burst').length).toBeGreaterThan(0);
  });
});

describe('a reply', () => {
  it('has no next server (siaddr) if the pool names none', async () => {
    await startBoth();
    await ask(clientPacket('discover', VM_A));
    expect(pool.replies[0]?.message).toMatchObject({ siaddr: 0, giaddr: 0, ciaddr: 0, yiaddr: ADDRESS_A });
    expect(pool.replies[0]?.message.options.uint32(OptionCode.serverIdentifier)).toBe(pool.serverAddress);
  });

  it('has addresses of NTP servers that were resolved later', async () => {
    world.record(pool, { '10.0.0.10': VM_A }, { spec: { ipv4Config: { ntp: ['ntp.example.org'] } } });
    const a = world.startPod('a', lease);
    await world.pass(2_000);
    const ntp = async () => {
      await ask(clientPacket('discover', VM_A, { options: [[OptionCode.parameterRequestList, Uint8Array.of(42)]] }));
      return pool.replies[0]?.message.options.get(42);
    };
    expect(await ntp()).toBeUndefined();
    expect([...a.wantedNames]).toEqual(['ntp.example.org']);
    a.resolve('ntp.example.org', ['10.9.9.9']);
    await world.pass(10);
    expect(await ntp()).toEqual(Uint8Array.of(10, 9, 9, 9));
  });
});
