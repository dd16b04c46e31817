/** Agents that serve several pools: trouble with one pool does not affect the others, and no address is on two interfaces. */
import { beforeEach, describe, expect, it } from 'vitest';
import type { LoggedPacket } from '../ports.js';
import type { FakeGroupLease } from '../testing/fake-group-lease.js';
import type { FakePod } from '../testing/fake-pod.js';
import { AgentWorld, clientPacket, ip, suspend, type WorldPool } from './agent-world-fixtures.js';

const VM_A = '02:00:00:00:00:0a';
const VM_B = '02:00:00:00:00:0b';
const VM_NEW = '02:00:00:00:00:0c';
const EPERM = { error: new Error('EPERM'), isDone: false };

let world: AgentWorld;
let one: WorldPool;
let two: WorldPool;
let lease: FakeGroupLease;

beforeEach(() => {
  world = new AgentWorld();
  [one, two] = [world.addPool(), world.addPool()];
  world.record(one, { '10.0.0.10': VM_A });
  world.record(two, { '10.0.1.10': VM_B });
  lease = world.addGroup();
});

const startBoth = () => world.startBoth(lease);

interface Asked {
  readonly pool: WorldPool;
  readonly macAddress: string;
  readonly xid: number;
  readonly secs?: number;
}

/** Broadcasts a DISCOVER and returns who answered within `ms`. */
async function ask({ pool, macAddress, xid, secs = 0 }: Asked, ms = 50): Promise<string[]> {
  pool.replies.length = 0;
  pool.network.broadcast(clientPacket('discover', macAddress, { xid, secs }));
  await world.pass(ms);
  return pool.replies.map(({ owner, type }) => `${owner}: ${type}`).toSorted();
}

/** A client of each pool asks, and again a second later. Returns who answered the first message, and who the retransmission. */
async function askTwice(xid: number): Promise<Record<'one' | 'two', readonly [string[], string[]]>> {
  const ofOne = { pool: one, macAddress: VM_A, xid };
  const ofTwo = { pool: two, macAddress: VM_B, xid };
  const first = [await ask(ofOne), await ask(ofTwo)] as const;
  await world.pass(1_000);
  const again = [await ask({ ...ofOne, secs: 1 }), await ask({ ...ofTwo, secs: 1 })] as const;
  return { one: [first[0], again[0]], two: [first[1], again[1]] };
}

const stateOf = (pod: FakePod, pool: WorldPool) => {
  const { serving, reason } = pod.agent.report().get(pool.key) ?? {};
  return serving ? 'serving' : reason;
};

/** If a client retransmits after an answer of the leader, it did not receive that answer. */
const SERVED = [['a: offer'], ['a: offer', 'b: offer']] as const;
const STOOD_IN = [[], ['b: offer']] as const;
const SILENT = [[], []] as const;

describe('a leader that is alive and cannot serve one of two pools', () => {
  it.each<{
    readonly what: string;
    readonly happens: (a: FakePod) => void;
    readonly reason: string;
    readonly answers: readonly [readonly string[], readonly string[]];
  }>([
    {
      what: 'its interface vanished: the standby answers clients that retransmit',
      happens: (a) => a.kernel.removeLink('net1'),
      reason: 'InterfaceMissing',
      answers: STOOD_IN,
    },
    {
      what: 'its interface is not isolated: the standby answers clients that retransmit',
      happens: (a) => {
        a.isolationProblem = (name) => (name === 'net1' ? 'packets can pass' : undefined);
      },
      reason: 'InterfaceNotIsolated',
      answers: STOOD_IN,
    },
    {
      what: 'the kernel refuses the address: both answer clients that retransmit, with the same reply',
      happens: (a) => {
        a.kernel.failure = (call, { interfaceName }) => (call === 'add' && interfaceName === 'net1' ? EPERM : undefined);
      },
      reason: 'AddressFailed',
      answers: [[], ['a: offer', 'b: offer']],
    },
    {
      what: 'the pod needs its server address: the standby answers clients that retransmit',
      happens: (a) => {
        a.neededFor = (address) => (address === two.serverAddress ? 'the API server' : undefined);
        a.agent.checkServerAddresses();
      },
      reason: 'ServerAddressRefused',
      answers: STOOD_IN,
    },
    {
      what: 'it is suspended: no replica answers',
      happens: () => suspend(lease, [two.key], 2),
      reason: 'Suspended',
      answers: SILENT,
    },
    {
      what: 'it is paused: no replica answers',
      happens: () => world.record(two, { '10.0.1.10': VM_B }, { spec: { paused: true } }),
      reason: 'Paused',
      answers: SILENT,
    },
    {
      what: 'it is deleted: no replica answers',
      happens: () => two.object.remove(two.key),
      reason: 'PoolMissing',
      answers: SILENT,
    },
  ])('$what; the other pool is served as before', async ({ happens, reason, answers }) => {
    const [a, b] = await startBoth();
    happens(a);
    await world.pass(700);
    expect([stateOf(a, one), stateOf(a, two)]).toEqual(['serving', reason]);
    expect(await askTwice(9)).toEqual({ one: SERVED, two: answers });
    expect([world.holders(one), world.holders(two)]).toEqual([['a'], []]);
    expect(world.overlaps()).toEqual([]);
    expect([a, b].flatMap(({ observer }) => observer.of('packet-failed'))).toEqual([]);
  });

  it.each<[string, (a: FakePod) => void, 'a' | 'b']>([
    ['its interface vanished', (a) => a.kernel.removeLink('net1'), 'b'],
    ['its interface is replaced', (a) => void a.kernel.addLink('net1'), 'a'],
    ['it is suspended: that is not a trouble', () => suspend(lease, [two.key], 2), 'a'],
    ['it is paused: that is not a trouble', () => world.record(two, {}, { spec: { paused: true } }), 'a'],
    ['it is deleted: that is not a trouble', () => two.object.remove(two.key), 'a'],
  ])('%s: which replica is leader half a minute later', async (_, happens, leader) => {
    const [a, b] = await startBoth();
    happens(a);
    await world.pass(30_000);
    expect([a.agent.isLeader(), b.agent.isLeader()]).toEqual([leader === 'a', leader === 'b']);
    expect(world.holders(one)).toEqual([leader]);
    expect(world.overlaps()).toEqual([]);
  });

  it('if neither can serve all pools, they do not take turns forever', async () => {
    const [a, b] = await startBoth();
    a.kernel.removeLink('net0');
    b.kernel.removeLink('net1');
    await world.pass(300_000);
    const stepped = [a, b].flatMap(({ observer }) => observer.of('stepping-down')).length;
    expect(stepped).toBeGreaterThanOrEqual(2);
    expect(stepped).toBeLessThanOrEqual(10);
    expect(world.overlaps()).toEqual([]);
    expect([a, b].filter(({ agent }) => agent.isLeader())).toHaveLength(1);
  });
});

describe('an interface that vanishes without notice', () => {
  it('gets no address while it is missing, and the leader is unready for that pool alone', async () => {
    const [a] = await startBoth();
    a.kernel.removeLink('net1');
    await world.pass(1_000);
    expect([world.holders(one), world.holders(two)]).toEqual([['a'], []]);
    expect(a.agent.unready()).toEqual([`${two.key}: interface net1 is missing`]);
    expect(a.observer.of('address-failed')).toEqual([]);
  });

  it('between two checks, and comes back as another one: its address is added and announced there, the other one stays', async () => {
    const [a] = await startBoth();
    a.kernel.addLink('net1');
    await world.pass(600);
    expect([world.holders(one), world.holders(two)]).toEqual([['a'], ['a']]);
    expect(a.kernel.announced).toEqual(['net0', 'net1', 'net1']);
    expect(a.kernel.spans().filter(({ interfaceName }) => interfaceName === 'net0')).toHaveLength(1);
    expect((await askTwice(9)).two).toEqual(SERVED);
  });

  it('on a standby: it lets others go first, and becomes leader if there is no other', async () => {
    const [a, b] = await startBoth();
    b.kernel.removeLink('net1');
    a.process.kill();
    await world.pass(2_900);
    expect(b.agent.isLeader()).toBe(false);
    await world.pass(2_500);
    expect(b.agent.isLeader()).toBe(true);
    expect([world.holders(one), world.holders(two)]).toEqual([['b'], []]);
    expect((await askTwice(9)).one).toEqual([['b: offer'], ['b: offer']]);
  });

  it('while the process is frozen: it answers nothing from there when it wakes', async () => {
    const [a] = await startBoth();
    a.process.freeze(500);
    two.network.broadcast(clientPacket('discover', VM_B, { xid: 9 }));
    a.kernel.removeLink('net1');
    two.replies.length = 0;
    await world.pass(1_000);
    expect(two.replies).toEqual([]);
    expect(world.holders(one)).toEqual(['a']);
  });
});

describe('a pool that is suspended while its leader cannot know', () => {
  it.each<[string, (a: FakePod) => void]>([
    ['it is cut off from the API server', (a) => Object.assign(a, { isCutOff: true })],
    ['it is frozen', (a) => a.process.freeze(30_000)],
    ['it is dead', (a) => a.process.kill()],
  ])('%s: its address is gone when the Lease has expired, and the next leader does not add it', async (_, happens) => {
    const [a, b] = await startBoth();
    happens(a);
    suspend(lease, [two.key], 2);
    await world.pass(3_500);
    expect(b.agent.isLeader()).toBe(true);
    expect([world.holders(one), world.holders(two)]).toEqual([['b'], []]);
    expect([stateOf(b, one), stateOf(b, two)]).toEqual(['serving', 'Suspended']);
    expect(b.kernel.spans().filter(({ interfaceName }) => interfaceName === 'net1')).toEqual([]);
    expect(world.overlaps()).toEqual([]);
  });

  it('writes are slow and answers are lost: a leader that took over by a write whose answer was lost does not add it', async () => {
    const [a, b] = await startBoth();
    a.process.kill();
    let requests = 0;
    b.fate = () => ({ thereMs: 2, backMs: 2, ...(requests++ < 4 && { lost: 'answer' as const }) });
    suspend(lease, [two.key], 2);
    await world.pass(12_000);
    expect(b.agent.isLeader()).toBe(true);
    expect([world.holders(one), world.holders(two)]).toEqual([['b'], []]);
    expect(b.kernel.spans().filter(({ interfaceName }) => interfaceName === 'net1')).toEqual([]);
  });

  it('a leader that wakes after another group serves the pool answers none of its clients', async () => {
    const other = world.addGroup();
    suspend(other, [two.key], 1);
    const [a, b] = await startBoth();
    const c = world.startPod('c', other, { pools: [two] });
    await world.pass(1_000);
    a.process.freeze(8_000);
    b.process.freeze(8_000);
    suspend(lease, [two.key], 2);
    await world.pass(4_000);
    suspend(other, [], 2);
    await world.pass(1_000);
    expect(world.holders(two)).toEqual(['c']);
    two.replies.length = 0;
    two.network.broadcast(clientPacket('discover', VM_B, { xid: 9 }));
    await world.pass(6_000);
    expect(two.replies.map(({ owner }) => owner)).toEqual(['c']);
    expect(await ask({ pool: two, macAddress: VM_B, xid: 9, secs: 6 })).toEqual(['c: offer']);
    expect([stateOf(c, two), world.overlaps()]).toEqual(['serving', []]);
  });
});

describe('a replica that becomes leader', () => {
  it('answers the clients of each pool that asked a moment before, on their network and once', async () => {
    const [a, b] = await startBoth();
    a.process.kill();
    await world.pass(2_100);
    expect(b.agent.isLeader()).toBe(false);
    for (const pool of [one, two]) pool.replies.length = 0;
    one.network.broadcast(clientPacket('discover', VM_A, { xid: 5 }));
    two.network.broadcast(clientPacket('discover', VM_B, { xid: 6 }));
    await world.pass(1_200);
    expect([one, two].map(({ replies }) => replies.map(({ owner, address }) => [owner, address]))).toEqual([
      [['b', ip('10.0.0.10')]],
      [['b', ip('10.0.1.10')]],
    ]);
  });

  it('does not answer clients of a pool whose address it does not get', async () => {
    const [a, b] = await startBoth();
    a.process.kill();
    suspend(lease, [two.key], 2);
    await world.pass(2_100);
    expect(b.agent.isLeader()).toBe(false);
    for (const pool of [one, two]) pool.replies.length = 0;
    one.network.broadcast(clientPacket('discover', VM_A, { xid: 5 }));
    two.network.broadcast(clientPacket('discover', VM_B, { xid: 6 }));
    await world.pass(1_200);
    expect(b.agent.isLeader()).toBe(true);
    expect([one, two].map(({ replies }) => replies.length)).toEqual([1, 0]);
  });

  it('probes a new address when its client asks, if the former leader died before probing it', async () => {
    const [a, b] = await startBoth();
    a.addressUse = () => new Promise(() => undefined);
    const probed: number[] = [];
    b.addressUse = async (_, address) => {
      probed.push(address);
      return { byClient: false, others: [] };
    };
    world.record(two, { '10.0.1.10': VM_B, '10.0.1.12': VM_NEW });
    await world.pass(100);
    a.process.kill();
    await world.pass(3_500);
    expect([b.agent.isLeader(), probed]).toEqual([true, []]);
    expect(await ask({ pool: two, macAddress: VM_NEW, xid: 9 })).toEqual(['b: offer']);
    expect(probed).toEqual([ip('10.0.1.12')]);
  });
});

describe('a standby', () => {
  it('answers for a client that was new long ago: the leader had time to probe its address', async () => {
    const [a] = await startBoth();
    world.record(two, { '10.0.1.10': VM_B, '10.0.1.12': VM_NEW });
    await world.pass(21_000);
    a.process.kill();
    expect(await ask({ pool: two, macAddress: VM_NEW, xid: 9 }, 1_000)).toEqual([]);
    expect(await ask({ pool: two, macAddress: VM_NEW, xid: 9, secs: 1 })).toEqual(['b: offer']);
  });

  it.each<[string, number, string[]]>([
    ['a Lease and a quarter of a second less a millisecond', 2_999, []],
    ['a Lease and a quarter of a second', 3_000, ['b: offer']],
  ])('that has heard nothing for long answers a client that waited for %s', async (_, waitedMs, expected) => {
    const [a, b] = await startBoth();
    a.process.kill();
    b.isCutOff = true;
    await world.pass(6_000);
    expect(await ask({ pool: one, macAddress: VM_A, xid: 9 }, waitedMs - 500)).toEqual([]);
    expect(await ask({ pool: one, macAddress: VM_A, xid: 9, secs: 2 }, 500)).toEqual([]);
    expect(await ask({ pool: one, macAddress: VM_A, xid: 9, secs: 3 })).toEqual(expected);
  });

  it.each<[number, string[]]>([
    [5_000, ['b: offer']],
    [5_001, []],
  ])('whose watch reported the Lease %d ms ago, and whose writes are lost', async (agoMs, expected) => {
    const [a, b] = await startBoth();
    a.process.kill();
    b.fate = () => ({ thereMs: 2, backMs: 2, lost: 'request' });
    await world.pass(500);
    lease.annotate({});
    await world.pass(b.watchLagMs());
    await world.pass(agoMs - 1_000);
    expect(await ask({ pool: one, macAddress: VM_A, xid: 9 }, 1_000)).toEqual([]);
    expect(await ask({ pool: one, macAddress: VM_A, xid: 9, secs: 1 })).toEqual(expected);
  });
});

describe('other DHCP servers', () => {
  it('are searched only on networks that this agent serves', async () => {
    const probed: string[] = [];
    suspend(lease, [two.key], 1);
    const a = world.startPod('a', lease);
    a.servers = async (name) => {
      probed.push(name);
      return [];
    };
    await world.pass(5_000);
    expect([a.agent.isLeader(), probed]).toEqual([true, ['net0']]);
    suspend(lease, [], 2);
    await world.pass(2_000);
    expect(probed).toEqual(['net0', 'net1']);
  });

  it('on one network stop only the pool that asks for it', async () => {
    world.record(two, { '10.0.1.10': VM_B }, { spec: { onRogueServer: 'Stop' } });
    world.record(one, { '10.0.0.10': VM_A }, { spec: { onRogueServer: 'Stop' } });
    const a = world.startPod('a', lease);
    a.servers = async (name) => (name === 'net1' ? [{ address: '10.0.1.66', macAddress: '02:00:00:00:00:66' }] : []);
    await world.pass(3_000);
    expect([stateOf(a, one), stateOf(a, two)]).toEqual(['serving', 'RogueServer']);
    expect(await askTwice(9)).toEqual({ one: [['a: offer'], ['a: offer']], two: SILENT });
  });
});

describe('packets of a pool that is not answered', () => {
  it('are counted without a pool, and break nothing', async () => {
    const [a, b] = await startBoth();
    suspend(lease, [two.key], 2);
    await world.pass(1_000);
    await askTwice(9);
    for (const { agent, observer } of [a, b]) {
      expect([...agent.counters.dropped()]).toEqual([['no-pool-here', 2]]);
      expect(observer.of('packet-failed')).toEqual([]);
    }
  });

  it('are logged with their outcome if packets are logged, on leader and standby', async () => {
    const logs: LoggedPacket[][] = [[], []];
    const [a, b] = ['a', 'b'].map((name, number) =>
      world.startPod(name, lease, { packetLog: { isActive: true, note: (logged) => logs[number]?.push(logged) } }),
    );
    suspend(lease, [two.key], 1);
    await world.pass(5_000);
    expect([a?.agent.isLeader(), b?.agent.isLeader()]).toEqual([true, false]);
    await ask({ pool: one, macAddress: VM_A, xid: 9 });
    await ask({ pool: two, macAddress: VM_B, xid: 9 });
    const facts = logs.map((log) => log.map(({ interfaceName, poolName, notSent }) => [interfaceName, poolName, notSent]));
    expect(facts).toEqual([
      [
        ['net0', one.key, undefined],
        ['net1', undefined, undefined],
      ],
      [
        ['net0', one.key, 'standing-by'],
        ['net1', undefined, undefined],
      ],
    ]);
  });
});

describe('a dry run', () => {
  it('with several pools makes no kernel calls, whatever is suspended', async () => {
    suspend(lease, [two.key], 1);
    const a = world.startPod('a', lease, { isDryRun: true });
    await world.pass(6_000);
    expect([a.agent.isLeader(), stateOf(a, one), stateOf(a, two)]).toEqual([true, 'DryRun', 'Suspended']);
    expect([a.observer.of('address-failed'), a.observer.of('stepping-down'), a.agent.unready()]).toEqual([[], [], []]);
  });
});
