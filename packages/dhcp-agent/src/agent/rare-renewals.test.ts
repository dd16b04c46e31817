/** A Lease that is renewed rarely, because there are many groups: the effect on clients, and the cost. */
import {
  AGENT_LOG_ANNOTATION,
  AGENT_REPORT_ANNOTATION,
  formatAgentReport,
  formatRenewPeriodMs,
  RENEW_PERIOD_ANNOTATION,
  SUSPENDED_POOLS_ANNOTATION,
} from '@vmdhcp/ippool-api/agent';
import { randomFrom } from '@vmdhcp/kube-runtime/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import type { FakeGroupLease } from '../testing/fake-group-lease.js';
import type { FakePod } from '../testing/fake-pod.js';
import { AgentWorld, clientPacket, type WorldPool } from './agent-world-fixtures.js';

const VM_A = '02:00:00:00:00:0a';
const VM_B = '02:00:00:00:00:0b';
/** The default renew period with 200 groups. */
const PERIOD_MS = 8_000;
/** 2.75 s, and 7.5 s with their spread of a fifth. */
const LEASE_MS = 11_750;

/** The report of a leader whose probe was answered. */
const CONFLICT = formatAgentReport(
  new Map([
    ['default/net-0', { serving: true, conflicts: [{ address: '10.0.0.10', macAddress: VM_A, usedBy: '02:00:00:00:00:ff' }] }],
  ]),
);

let world: AgentWorld;
let pool: WorldPool;
let lease: FakeGroupLease;

beforeEach(() => {
  world = new AgentWorld();
  pool = world.addPool();
  world.record(pool, { '10.0.0.10': VM_A });
  lease = world.addGroup();
});

/** A leader `a` and a standby `b`, some renewals after the period was set. */
async function startBoth(): Promise<[FakePod, FakePod]> {
  const both = await world.startBoth(lease);
  lease.annotate({ [RENEW_PERIOD_ANNOTATION]: formatRenewPeriodMs(PERIOD_MS) });
  await world.pass(3 * PERIOD_MS + 6_500);
  return both;
}

const ask = (packet: Uint8Array, ms?: number) => world.ask(pool, packet, ms);

const version = () => Number(lease.stored?.stored.version);

describe('a Lease that is renewed every eight seconds', () => {
  it('is written that often, and lasts correspondingly longer', async () => {
    await startBoth();
    const before = version();
    await world.pass(10 * PERIOD_MS);
    expect(version() - before).toBeLessThanOrEqual(10);
    expect(lease.stored?.stored.record).toMatchObject({ holder: 'a', leaseDurationMs: LEASE_MS });
    expect(world.holders(pool)).toEqual(['a']);
  });

  it('the report of the leader does not wait for the next renewal', async () => {
    const [a] = await startBoth();
    const before = version();
    a.kernel.removeLink(pool.interfaceName);
    await world.pass(1_000);
    expect(version()).toBeGreaterThan(before);
  });

  it('a new log setting does not wait for the next renewal either', async () => {
    const [a] = await startBoth();
    const before = version();
    lease.annotate({ [AGENT_LOG_ANNOTATION]: '{"level":"debug"}' });
    await world.pass(100);
    expect(a.observer.of('log-settings').at(-1)?.settings).toEqual({ level: 'debug' });
    expect(version() - before, 'and costs no write').toBe(1);
  });

  it('the leader dies: the first retransmission is answered, although the standby has not heard of the Lease for a long time', async () => {
    const [a, b] = await startBoth();
    a.process.kill();
    await ask(clientPacket('discover', VM_A, { xid: 9 }), 1_000);
    expect(await ask(clientPacket('discover', VM_A, { xid: 9, secs: 1 }))).toEqual(['b: offer']);
    expect(b.agent.isLeader()).toBe(false);
  });

  it('the leader dies: a client whose address is new is answered when the standby has probed it', async () => {
    const [a] = await startBoth();
    a.process.kill();
    world.record(pool, { '10.0.0.10': VM_A, '10.0.0.11': VM_B });
    await world.pass(20);
    await ask(clientPacket('discover', VM_B, { xid: 9 }), 1_000);
    expect(await ask(clientPacket('discover', VM_B, { xid: 9, secs: 1 }))).toEqual(['b: offer']);
  });

  it('a standby that cannot reach the API server lets the others go first, as with any renew period', async () => {
    const [a, b] = await startBoth();
    a.process.kill();
    b.isCutOff = true;
    const answers: string[][] = [];
    for (let second = 0; second < 5; second++)
      answers.push(await ask(clientPacket('discover', VM_A, { xid: 9, secs: second }), 1_000));
    expect(answers).toEqual([[], [], [], ['b: offer'], ['b: offer']]);
  });

  it.each([
    ['suspends the pool', { [SUSPENDED_POOLS_ANNOTATION]: JSON.stringify({ turn: 9, pools: ['default/net-0'], since: [9] }) }],
    ['reports that another host uses the address', { [AGENT_REPORT_ANNOTATION]: CONFLICT }],
  ])('a standby that reads the Lease obeys it before it answers: the Lease %s', async (_, annotations) => {
    const [a, b] = await startBoth();
    a.process.kill();
    b.watchLagMs = () => 60_000;
    lease.annotate(annotations);
    await ask(clientPacket('discover', VM_A, { xid: 9 }), 1_000);
    expect(await ask(clientPacket('discover', VM_A, { xid: 9, secs: 1 }), 1_000)).toEqual([]);
    expect(b.observer.of('standby-answer')).toEqual([]);
  });

  it('a late answer is not repeated by itself', async () => {
    const [a] = await startBoth();
    a.process.kill();
    await ask(clientPacket('discover', VM_A, { xid: 9 }), 1_000);
    await ask(clientPacket('discover', VM_A, { xid: 9, secs: 1 }), 1_000);
    expect(pool.replies).toHaveLength(1);
    await world.pass(LEASE_MS);
    expect(pool.replies).toHaveLength(1);
  });

  it('the leader dies: another one has the address when the Lease is over, and never both', async () => {
    const [a, b] = await startBoth();
    a.process.kill();
    await world.pass(LEASE_MS + 1_000);
    expect(b.agent.isLeader()).toBe(true);
    expect(world.holders(pool)).toEqual(['b']);
    expect(world.overlaps()).toEqual([]);
  });

  it('the leader stops: another one has the address at once', async () => {
    const [a, b] = await startBoth();
    void a.agent.stop();
    await world.pass(200);
    expect(b.agent.isLeader()).toBe(true);
    expect(world.holders(pool)).toEqual(['b']);
  });

  it('is renewed more often again: the address stays where it is', async () => {
    await startBoth();
    lease.annotate({ [RENEW_PERIOD_ANNOTATION]: undefined });
    await world.pass(2 * LEASE_MS);
    expect(lease.stored?.stored.record.leaseDurationMs).toBe(2_750);
    expect(world.holders(pool)).toEqual(['a']);
    expect(world.overlaps()).toEqual([]);
  });
});

it('idle groups write their Leases only as often as necessary: 20 groups 2.5 times a second, so 200 would 25 times', async () => {
  const groups = Array.from({ length: 20 }, (_, number) => {
    const own = world.addGroup();
    own.annotate({ [RENEW_PERIOD_ANNOTATION]: formatRenewPeriodMs(PERIOD_MS) });
    const from = randomFrom(number);
    const random = () => from(1_000) / 1_000;
    world.startPod(`leader-${number}`, own, { pools: [], random });
    world.startPod(`standby-${number}`, own, { pools: [], random });
    return own;
  });
  await world.pass(2 * PERIOD_MS);
  const written = () => groups.reduce((sum, { stored }) => sum + Number(stored?.stored.version), 0);
  const before = written();
  await world.pass(60_000);
  expect(groups.every(({ stored }) => stored?.stored.record.holder !== '')).toBe(true);
  const perSecond = (written() - before) / 60;
  expect(perSecond).toBeLessThanOrEqual(2.5);
  expect(perSecond).toBeGreaterThan(1.5);
});
