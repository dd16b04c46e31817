/** What agents write into the Lease of their group and when, and what they read from it: current values, another leader's, or late ones. */
import {
  AGENT_LOG_ANNOTATION,
  AGENT_REPORT_ANNOTATION,
  type AgentReport,
  formatAgentReport,
  type PoolReport,
  parseAgentReport,
  SUSPENDED_POOLS_ANNOTATION,
  SUSPENDED_POOLS_SEEN_ANNOTATION,
} from '@vmdhcp/ippool-api/agent';
import { beforeEach, describe, expect, it } from 'vitest';
import type { FakeGroupLease } from '../testing/fake-group-lease.js';
import type { FakePod } from '../testing/fake-pod.js';
import { AgentWorld, clientPacket, ip, suspend, type WorldPool } from './agent-world-fixtures.js';

const [VM_A, VM_B, VM_C] = ['02:00:00:00:00:0a', '02:00:00:00:00:0b', '02:00:00:00:00:0c'];
const SQUATTER = '02:00:00:00:00:66';
const ROGUE = [{ address: '10.0.0.66', macAddress: SQUATTER }];
const EPERM = { error: new Error('EPERM'), isDone: false };
const HOUR_MS = 3_600_000;

let world: AgentWorld;
let pool: WorldPool;
let lease: FakeGroupLease;

beforeEach(() => {
  world = new AgentWorld();
  pool = world.addPool();
  world.record(pool, { '10.0.0.10': VM_A, '10.0.0.11': VM_B });
  lease = world.addGroup();
});

async function startLeader(): Promise<FakePod> {
  const a = world.startPod('a', lease);
  await world.pass(2_000);
  return a;
}

const version = () => Number(lease.stored?.stored.version);
const reported = (key = pool.key) => parseAgentReport(lease.stored?.annotations[AGENT_REPORT_ANNOTATION]).get(key);

/** Soon after a check of everything, and long before the next check and the next renewal. */
async function quietMoment(): Promise<void> {
  let renewedAtMs = Number.NEGATIVE_INFINITY;
  for (;;) {
    const before = version();
    await world.pass(1);
    const nowMs = world.clock.nowMs();
    if (version() !== before) renewedAtMs = nowMs;
    if (nowMs - renewedAtMs < 400 && nowMs % 250 > 30 && nowMs % 250 < 150) return;
  }
}

describe('the report of a leader is in the Lease a moment after it changed, not at the next renewal', () => {
  const declined = () => {
    const options = [[50, Uint8Array.of(10, 0, 0, 10)] as const, [54, Uint8Array.of(10, 0, 0, 2)] as const];
    pool.network.broadcast(clientPacket('decline', VM_A, { options }));
  };

  it.each<[string, (a: FakePod) => void, Partial<PoolReport>]>([
    ['the pool is paused', () => world.record(pool, {}, { spec: { paused: true } }), { serving: false, reason: 'Paused' }],
    ['the pool is deleted', () => pool.object.remove(pool.key), { serving: false, reason: 'PoolMissing' }],
    ['the pool is suspended', () => suspend(lease, [pool.key], 2), { serving: false, reason: 'Suspended' }],
    ['its socket fails', () => pool.network.fail('net0', new Error('ENETDOWN')), { serving: false, reason: 'SocketFailed' }],
    [
      'the pod needs its server address',
      (a) => {
        a.neededFor = () => 'the API server';
        a.agent.checkServerAddresses();
      },
      { serving: false, reason: 'ServerAddressRefused' },
    ],
    [
      'a client declines its address, which another host uses',
      (a) => {
        a.addressUse = async (_, address) => ({ byClient: false, others: address === ip('10.0.0.10') ? [SQUATTER] : [] });
        declined();
      },
      { serving: true, conflicts: [{ address: '10.0.0.10', macAddress: VM_A, usedBy: SQUATTER }] },
    ],
    [
      'a new client gets an address that another host uses',
      (a) => {
        a.addressUse = async (_, address) => ({ byClient: false, others: address === ip('10.0.0.12') ? [SQUATTER] : [] });
        world.record(pool, { '10.0.0.10': VM_A, '10.0.0.12': VM_C });
      },
      { serving: true, conflicts: [{ address: '10.0.0.12', macAddress: VM_C, usedBy: SQUATTER }] },
    ],
  ])('%s', async (_, happens, expected) => {
    const a = await startLeader();
    expect(reported()).toMatchObject({ serving: true });
    await quietMoment();
    happens(a);
    await world.pass(30);
    expect(reported()).toMatchObject(expected);
    expect(a.observer.of('address-failed')).toEqual([]);
  });

  it.each<[string, () => void, () => void]>([
    [
      'the pool is not paused any more',
      () => world.record(pool, {}, { spec: { paused: true } }),
      () => world.record(pool, { '10.0.0.10': VM_A }),
    ],
    ['the pool is there again', () => pool.object.remove(pool.key), () => world.record(pool, { '10.0.0.10': VM_A })],
  ])('%s: address and socket are there at once', async (_, ends, begins) => {
    await startLeader();
    await quietMoment();
    ends();
    await world.pass(30);
    expect([world.holders(pool), pool.network.openSockets]).toEqual([[], 0]);
    await quietMoment();
    begins();
    await world.pass(30);
    expect([world.holders(pool), pool.network.openSockets]).toEqual([['a'], 1]);
    expect(reported()).toMatchObject({ serving: true });
  });

  it('the kernel refuses the address', async () => {
    const a = await startLeader();
    await quietMoment();
    a.kernel.failure = (call) => (call === 'add' ? EPERM : undefined);
    while (a.observer.of('address-failed').length === 0) await world.pass(1);
    await world.pass(20);
    expect(reported()).toMatchObject({ serving: false, reason: 'AddressFailed' });
  });

  it('another DHCP server is found, and is gone', async () => {
    const a = await startLeader();
    a.servers = async () => ROGUE;
    // They are searched on full seconds.
    while (a.observer.of('rogue-servers').length === 0) await world.pass(1_000);
    await world.pass(20);
    expect(reported()?.rogueServers).toEqual(ROGUE);
    a.servers = async () => [];
    await world.pass(980);
    while (a.observer.of('no-rogue-servers').length === 0) await world.pass(1_000);
    await world.pass(20);
    expect(reported()?.rogueServers).toEqual([]);
  });

  it('a suspension of a pool that no agent of the group serves is confirmed at once, although the report does not change', async () => {
    await startLeader();
    await quietMoment();
    suspend(lease, ['default/elsewhere'], 2);
    await world.pass(30);
    const { annotations = {} } = lease.stored ?? {};
    expect(annotations[SUSPENDED_POOLS_SEEN_ANNOTATION]).toBe(annotations[SUSPENDED_POOLS_ANNOTATION]);
  });

  it('clients come and go, which is not urgent: the Lease is written only when it is renewed', async () => {
    await startLeader();
    await quietMoment();
    const before = version();
    for (let round = 0; round < 25; round++) {
      world.record(pool, { '10.0.0.10': VM_A, [`10.0.0.${20 + round}`]: VM_B });
      await world.pass(40);
    }
    expect(version() - before).toBe(2);
  });
});

describe('a suspended pool loses its address', () => {
  it('as soon as the Lease was read', async () => {
    const a = await startLeader();
    await quietMoment();
    suspend(lease, [pool.key], 2);
    await world.pass(15);
    expect([world.holders(pool), a.agent.report().get(pool.key)?.reason]).toEqual([[], 'Suspended']);
    expect(a.observer.of('address-failed')).toEqual([]);
  });

  it.each<[string, () => void]>([
    ['paused', () => world.record(pool, {}, { spec: { paused: true } })],
    ['deleted', () => pool.object.remove(pool.key)],
    ['moved to another server address', () => world.record(pool, {}, { spec: { ipv4Config: { serverIP: '10.0.0.3' } } })],
  ])('and one that is %s loses it before the Lease is written, however long that takes', async (_, happens) => {
    const a = await startLeader();
    await quietMoment();
    a.fate = () => ({ thereMs: 400, backMs: 400 });
    happens();
    await world.pass(5);
    expect(world.holders(pool)).toEqual([]);
  });

  it('even if the kernel hangs in that very call: it is Draining until the address is gone', async () => {
    const a = await startLeader();
    a.kernel.callMs = () => 1_200;
    suspend(lease, [pool.key], 2);
    await world.pass(100);
    expect(reported()).toMatchObject({ serving: true });
    await world.pass(4_000);
    expect([world.holders(pool), reported()?.reason]).toEqual([[], 'Suspended']);
  });
});

describe('what a standby adopts from the report of a leader', () => {
  const annotate = (report: AgentReport | string) =>
    lease.annotate(
      { [AGENT_REPORT_ANNOTATION]: typeof report === 'string' ? report : formatAgentReport(report) },
      'a leader that is gone',
    );
  const conflict = { address: '10.0.0.10', macAddress: VM_A as string, usedBy: SQUATTER };
  const served: PoolReport = { serving: true };

  it.each<[string, () => AgentReport | string, Partial<PoolReport>]>([
    ['a conflict of a client', () => new Map([[pool.key, { ...served, conflicts: [conflict] }]]), { conflicts: [conflict] }],
    [
      'no conflict about an address that the client does not have any more',
      () => new Map([[pool.key, { ...served, conflicts: [{ ...conflict, address: '10.0.0.11' }] }]]),
      {},
    ],
    [
      'no conflict of a client that has no lease',
      () => new Map([[pool.key, { ...served, conflicts: [{ ...conflict, macAddress: VM_C as string }] }]]),
      {},
    ],
    [
      'no conflict of a client in another pool, and no server there',
      () => new Map([['default/elsewhere', { ...served, conflicts: [conflict], rogueServers: ROGUE }]]),
      {},
    ],
    [
      'the entries after a pool that is not served here',
      () =>
        new Map([
          ['default/elsewhere', { ...served, rogueServers: ROGUE }],
          [pool.key, { ...served, conflicts: [conflict] }],
        ]),
      { conflicts: [conflict] },
    ],
    ['other DHCP servers', () => new Map([[pool.key, { ...served, rogueServers: ROGUE }]]), { rogueServers: ROGUE }],
    ['that there are none', () => new Map([[pool.key, { ...served, rogueServers: [] }]]), { rogueServers: [] }],
    ['nothing if the leader has not searched', () => new Map([[pool.key, served]]), {}],
    ['nothing from a text that cannot be read', () => '{"default/net-0":', {}],
  ])('%s', async (_, report, expected) => {
    const b = world.startPod('b', lease);
    annotate(report());
    await world.pass(1_000);
    const changes = b.observer.of('pool-log-settings').length;
    for (let round = 0; round < 3; round++) {
      annotate(report());
      await world.pass(100);
    }
    expect(b.observer.of('pool-log-settings'), 'the same report again changes nothing').toHaveLength(changes);
    expect(b.agent.isLeader()).toBe(false);
    const { conflicts, rogueServers } = b.agent.report().get(pool.key) ?? {};
    expect({ conflicts, rogueServers }).toEqual({ conflicts: undefined, rogueServers: undefined, ...expected });
    const hasConflict = expected.conflicts !== undefined;
    expect([...b.agent.leases()].some(({ macAddress }) => macAddress === VM_A)).toBe(!hasConflict);
  });

  it('once it is leader itself, nothing from its own earlier report', async () => {
    const a = await startLeader();
    a.addressUse = async (_, address) => ({ byClient: false, others: address === ip('10.0.0.12') ? [SQUATTER] : [] });
    world.record(pool, { '10.0.0.10': VM_A, '10.0.0.12': VM_C });
    await world.pass(1_000);
    expect(reported()?.conflicts).toHaveLength(1);
    a.addressUse = async () => ({ byClient: false, others: [] });
    await quietMoment();
    a.fate = () => ({ thereMs: 2, backMs: 400 });
    // The pending write reports a conflict that is over when its answer comes: the client has its address again.
    while (world.clock.nowMs() % 500 !== 499) await world.pass(1);
    const before = version();
    while (version() === before) await world.pass(1);
    world.record(pool, { '10.0.0.10': VM_A, '10.0.0.13': VM_C });
    await world.pass(10);
    world.record(pool, { '10.0.0.10': VM_A, '10.0.0.12': VM_C });
    await world.pass(2_000);
    expect(a.agent.report().get(pool.key)?.conflicts).toBeUndefined();
    expect([...a.agent.leases()].map(({ macAddress }) => macAddress)).toContain(VM_C);
  });

  it('nothing from a watch event that is older than the last read', async () => {
    const debug = '{"level":"debug"}';
    lease.annotate({});
    // Others go first for a while, so it reads the Lease and does not take it.
    const b = world.startPod('b', lease);
    b.kernel.removeLink('net0');
    b.watchLagMs = () => 800;
    await world.pass(10);
    lease.annotate({});
    await world.pass(10);
    lease.annotate({ [AGENT_LOG_ANNOTATION]: debug });
    await world.pass(1_200);
    expect(b.agent.isLeader()).toBe(false);
    const levels = b.observer.of('log-settings').map(({ settings }) => settings.level);
    expect(levels.indexOf('debug')).toBeGreaterThanOrEqual(0);
    expect(levels.slice(levels.indexOf('debug'))).not.toContain(undefined);
  });
});

describe('a conflict', () => {
  it('is forgotten after an hour by the agent that found it, frozen for most of it, and its client is answered', async () => {
    const a = await startLeader();
    a.addressUse = async (_, address) => ({ byClient: false, others: address === ip('10.0.0.12') ? [SQUATTER] : [] });
    world.record(pool, { '10.0.0.10': VM_A, '10.0.0.12': VM_C });
    await world.pass(1_000);
    a.addressUse = async () => ({ byClient: false, others: [] });
    a.process.freeze(HOUR_MS - 20_000);
    await world.pass(HOUR_MS - 10_000);
    expect(a.agent.isLeader()).toBe(true);
    expect(reported()?.conflicts).toHaveLength(1);
    await world.pass(20_000);
    expect(reported()?.conflicts).toBeUndefined();
    expect([...a.agent.leases()].map(({ macAddress }) => macAddress)).toContain(VM_C);
  });
});

describe('an agent that is stopped', () => {
  it('leaves nothing behind: no timer, no watch, no socket, no event', async () => {
    const a = await startLeader();
    const b = world.startPod('b', lease);
    await world.pass(1_000);
    const stopped = [a.agent.stop(), b.agent.stop()];
    await world.pass(5_000);
    await Promise.all(stopped);
    expect([world.clock.pending, pool.network.openSockets, world.holders(pool)]).toEqual([0, 0, []]);
    const events = [a, b].map(({ observer }) => observer.events.length);
    const known = [...a.agent.leases()];
    lease.annotate({ [AGENT_LOG_ANNOTATION]: '{"level":"debug"}' });
    expect(world.clock.pending, 'the Lease is not watched any more').toBe(0);
    world.record(pool, { '10.0.0.12': VM_C });
    for (const { agent } of [a, b]) agent.checkServerAddresses();
    await world.pass(60_000);
    expect([a, b].map(({ observer }) => observer.events.length)).toEqual(events);
    expect([...a.agent.leases()]).toEqual(known);
  });

  it('checks its server addresses no more', async () => {
    const a = await startLeader();
    const stopped = a.agent.stop();
    await world.pass(1_000);
    await stopped;
    a.neededFor = () => 'the API server';
    a.agent.checkServerAddresses();
    expect(a.observer.of('pool').map(({ state }) => state)).toEqual(['active']);
  });
});

describe('an agent that is the only replica', () => {
  it('reports neither itself nor a Lease that another one has released as another holder', async () => {
    const other = world.startPod('other', lease);
    await world.pass(1_000);
    const a = world.startPod('a', lease, { isAlone: true });
    await world.pass(1_000);
    const stopped = other.agent.stop();
    await world.pass(3_000);
    await stopped;
    expect(a.agent.isLeader()).toBe(true);
    expect(a.observer.of('another-holder').map(({ holder }) => holder)).toEqual(['other']);
  });

  it('reports each holder that follows another one', async () => {
    lease.annotate({}, 'x');
    const a = world.startPod('a', lease, { isAlone: true });
    await world.pass(500);
    lease.delete();
    lease.annotate({}, 'y');
    await world.pass(500);
    expect(a.observer.of('another-holder').map(({ holder }) => holder)).toEqual(['x', 'y']);
  });
});
