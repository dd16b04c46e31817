/** Agents of a pool with `ipv6Config`: the leader answers DHCPv6 from the recorded IPv4 addresses. */
import { formatIpv6Address, parseIpv6Address, readIpv6Address } from '@vmdhcp/dhcp-allocator/address';
import {
  Dhcpv6Option,
  type Dhcpv6OptionEntry,
  Dhcpv6Type,
  decodeDhcpv6Packet,
  encodeDhcpv6Message,
  firstOption,
} from '@vmdhcp/dhcp-allocator/dhcpv6';
import { AGENT_REPORT_ANNOTATION, parseAgentReport } from '@vmdhcp/ippool-api/agent';
import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { MemoryResource } from '@vmdhcp/kube-runtime/testing';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { FakeGroupLease } from '../testing/fake-group-lease.js';
import type { FakePod } from '../testing/fake-pod.js';
import { AgentWorld, clientPacket, suspend, type WorldPool } from './agent-world-fixtures.js';

const [MAC_A, MAC_B, MAC_UNKNOWN] = ['02:00:00:00:00:0a', '02:00:00:00:00:0b', '02:00:00:00:00:ff'] as const;
const IPV6 = { ipv6Config: { cidr: '2001:db8:48::/64' } };
const DUID = Uint8Array.of(0, 3, 0, 1, 2, 0, 0, 0, 0, 1);
const NAMES = new Map<number, string>(Object.entries(Dhcpv6Type).map(([name, code]) => [code, name]));

interface Heard {
  readonly owner: string;
  readonly type: string | undefined;
  readonly address: string | undefined;
  readonly server: Uint8Array | undefined;
}

let world: AgentWorld;
let pool: WorldPool;
let group: FakeGroupLease;
let heard: Heard[];
let sent: { readonly packet: Uint8Array; readonly macAddress: string };
let transactions = 0;

beforeEach(() => {
  world = new AgentWorld();
  pool = world.addPool();
  group = world.addGroup();
  heard = [];
  pool.network.onDhcpv6Reply = ({ owner, bytes }) => {
    const decoded = decodeDhcpv6Packet(bytes);
    if (!decoded.ok) throw new Error(decoded.reason);
    const { type, options } = decoded.message;
    const association = firstOption(options, Dhcpv6Option.nonTemporaryAddresses);
    // IAID, T1, T2, then the header of the option with the address.
    const address = association !== undefined && association.length >= 32 ? readIpv6Address(association, 16) : undefined;
    heard.push({
      owner,
      type: NAMES.get(type),
      address: address === undefined ? undefined : formatIpv6Address(address),
      server: firstOption(options, Dhcpv6Option.serverIdentifier),
    });
  };
  world.record(pool, { '10.0.0.17': MAC_A }, { spec: IPV6 });
});

async function send(type: keyof typeof Dhcpv6Type, macAddress: string, ...more: readonly Dhcpv6OptionEntry[]): Promise<string[]> {
  const options: Dhcpv6OptionEntry[] = [
    [Dhcpv6Option.clientIdentifier, DUID],
    [Dhcpv6Option.nonTemporaryAddresses, Uint8Array.of(0, 0, 0, 1, ...new Uint8Array(8))],
    ...more,
  ];
  sent = { packet: encodeDhcpv6Message({ type: Dhcpv6Type[type], transactionId: ++transactions, options }), macAddress };
  return await transmit();
}

/** Transmits the last message, also once more. */
async function transmit(): Promise<string[]> {
  heard.length = 0;
  const { packet, macAddress } = sent;
  pool.network.sendDhcpv6(packet, { address: parseIpv6Address('fe80::1') ?? 0n, port: 546, macAddress: macAddress as never });
  await world.pass(50);
  return heard.map((one) => `${one.owner}: ${one.type} ${one.address}`);
}

const renew = () => send('renew', MAC_A, [Dhcpv6Option.serverIdentifier, server]);
let server: Uint8Array;

/** The client has its address, and knows its server. */
async function assigned(): Promise<void> {
  await send('solicit', MAC_A);
  server = heard[0]?.server ?? new Uint8Array(0);
  expect(await send('request', MAC_A, [Dhcpv6Option.serverIdentifier, server])).toEqual(['a: reply 2001:db8:48::11']);
}

const whyNot = (pod: FakePod) =>
  [...pod.agent.counters.dhcpv6()].flatMap(({ outcome, reason }) => (outcome === 'none' ? [reason] : []));
const service = (pod: FakePod) => {
  const { serving, reason, message } = pod.agent.report().get(pool.key) ?? {};
  return [serving, reason, message];
};

describe('DHCPv6 of a pool', () => {
  it('the leader assigns the address that corresponds to the IPv4 address, and the others are silent', async () => {
    const [, b] = await world.startBoth(group);
    expect(await send('solicit', MAC_A)).toEqual(['a: advertise 2001:db8:48::11']);
    await assigned();
    expect(whyNot(b)).toEqual(['standing-by']);
  });

  it('a client without a recorded address gets no answer, and the next one as soon as it is recorded', async () => {
    const [a] = await world.startBoth(group);
    expect(await send('solicit', MAC_B)).toEqual([]);
    expect(whyNot(a)).toEqual(['unknown-client']);
    world.record(pool, { '10.0.0.17': MAC_A, '10.0.0.18': MAC_B }, { spec: IPV6 });
    await world.pass(1_000);
    expect(await send('solicit', MAC_B)).toEqual(['a: advertise 2001:db8:48::12']);
    expect(await send('solicit', MAC_UNKNOWN)).toEqual([]);
  });

  it('after a take-over a client renews with the next leader, which has the same identifier', async () => {
    const [a] = await world.startBoth(group);
    await assigned();
    void a.agent.stop();
    await world.pass(5_000);
    expect(await renew()).toEqual(['b: reply 2001:db8:48::11']);
    expect(heard[0]?.server).toEqual(server);
  });

  it('a leader dies: a standby answers a client that retransmits, and its next message at once', async () => {
    const [a, b] = await world.startBoth(group);
    a.process.kill();
    expect(await send('solicit', MAC_A)).toEqual([]);
    await world.pass(1_000);
    expect(await transmit()).toEqual(['b: advertise 2001:db8:48::11']);
    server = heard[0]?.server ?? new Uint8Array(0);
    expect(await send('request', MAC_A, [Dhcpv6Option.serverIdentifier, server])).toEqual(['b: reply 2001:db8:48::11']);
    expect(world.holders(pool), 'the address of the dead leader has not ended yet').toEqual(['a']);
    expect(b.observer.of('standby-answer')).toHaveLength(2);
  });

  it('a standby refuses nothing and withdraws no address', async () => {
    const [a] = await world.startBoth(group);
    await assigned();
    a.process.kill();
    const retransmitting = async (
      type: 'request' | 'renew',
      macAddress: string,
      ...more: readonly Dhcpv6OptionEntry[]
    ): Promise<string[]> => {
      const answers = await send(type, macAddress, [Dhcpv6Option.serverIdentifier, server], ...more);
      for (let times = 0; times < 2; times++) {
        await world.pass(450);
        answers.push(...(await transmit()));
      }
      return answers;
    };
    expect(await retransmitting('request', MAC_UNKNOWN), 'no NoAddrsAvail').toEqual([]);
    const former = Uint8Array.of(0, 5, 0, 24, ...Buffer.from('20010db8004800000000000000000099', 'hex'), ...new Uint8Array(8));
    const second = Uint8Array.of(0, 0, 0, 2, ...new Uint8Array(8), ...former);
    const renewed = await retransmitting('renew', MAC_A, [Dhcpv6Option.nonTemporaryAddresses, second]);
    expect(renewed, 'its second address is not its own').toEqual([]);
    expect(world.holders(pool), 'nobody is leader').toEqual([]);
  });

  it('a standby does not answer for a pool that is suspended', async () => {
    const [a] = await world.startBoth(group);
    await assigned();
    a.process.kill();
    suspend(group, [pool.key], 2);
    await world.pass(100);
    const answers = await send('request', MAC_A, [Dhcpv6Option.serverIdentifier, server]);
    await world.pass(450);
    expect([...answers, ...(await transmit())]).toEqual([]);
  });

  it('a frozen leader that wakes up after another one took over does not answer', async () => {
    const [a] = await world.startBoth(group);
    await assigned();
    a.process.freeze(10_500);
    await world.pass(10_000);
    expect(await renew()).toEqual(['b: reply 2001:db8:48::11']);
    await world.pass(1_000);
    expect(await renew()).toEqual(['b: reply 2001:db8:48::11']);
  });

  it('a prefix that changes comes with the next renewal, and the former address ends', async () => {
    await world.startBoth(group);
    await assigned();
    world.record(pool, { '10.0.0.17': MAC_A }, { spec: { ipv6Config: { cidr: 'fd00:48::/64' } } });
    await world.pass(1_000);
    expect(await renew()).toEqual(['a: reply fd00:48::11']);
  });
});

describe('Router Advertisements of a pool', () => {
  const advertisements = () => {
    const sent: string[] = [];
    pool.network.onAdvertisement = ({ owner, atMs, to, message }) =>
      sent.push(`${owner} ${Math.round(atMs / 1_000)} s ${to === undefined ? 'all' : 'one'} ${message.length}`);
    return sent;
  };

  it('come from the leader alone, and from the next one after a take-over, with the same content', async () => {
    const sent = advertisements();
    const [a] = await world.startBoth(group);
    pool.network.solicitRouters({ address: 1n, macAddress: MAC_A as never });
    await world.pass(20_000);
    // To all when it begins, to the host that asks, to all.
    expect(sent).toEqual(['a 0 s all 56', 'a 3 s one 56', 'a 16 s all 56']);
    void a.agent.stop();
    await world.pass(5_000);
    expect(sent.slice(3)).toEqual([expect.stringMatching(/^b 23 s all 56$/)]);
  });

  it('come from a standby, to a host that asks again, while the leader is gone and another one cannot be elected', async () => {
    const advertised: string[] = [];
    const [a, b] = await world.startBoth(group);
    b.isCutOff = true;
    a.process.kill();
    await world.pass(30_000);
    expect(world.holders(pool)).toEqual([]);
    pool.network.onAdvertisement = ({ owner, to }) => advertised.push(`${owner} ${to?.macAddress}`);
    const source = { address: parseIpv6Address('fe80::1') ?? 0n, macAddress: MAC_A as never };
    for (let asked = 1; asked <= 3; asked++) {
      expect(advertised).toEqual([]);
      pool.network.solicitRouters(source);
      await world.pass(4_000);
    }
    expect(advertised).toEqual([`b ${MAC_A}`]);
  });

  it('never come from a standby that knows an old prefix, while the leader answers', async () => {
    const advertised: string[] = [];
    const [, b] = await world.startBoth(group);
    await world.pass(60_000);
    b.isCutOff = true;
    world.record(pool, { '10.0.0.17': MAC_A }, { spec: { ipv6Config: { cidr: 'fd00:48::/64' } } });
    await world.pass(120_000);
    expect(world.holders(pool)).toEqual(['a']);
    pool.network.onAdvertisement = ({ owner, to, message }) => {
      if (to !== undefined) advertised.push(`${owner} ${Buffer.from(message).includes(Buffer.from('fd000048', 'hex'))}`);
    };
    const source = { address: parseIpv6Address('fe80::1') ?? 0n, macAddress: MAC_A as never };
    // It asks again when its link comes back.
    for (let asked = 1; asked <= 2; asked++) {
      pool.network.solicitRouters(source);
      await world.pass(4_000);
    }
    expect(advertised).toEqual(['a true', 'a true']);
  });

  it('never come from a standby whose watch of the pool hangs, once the leader has reported a newer version', async () => {
    const advertised: string[] = [];
    world.startPod('a', group);
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
        ...IPV6,
      },
      status: { ipv4: { allocated: { '10.0.0.17': MAC_A }, used: 0, available: 0 } },
    });
    world.startPod('b', group, { poolSource: () => frozen });
    await world.pass(60_000);
    pool.network.onAdvertisement = ({ owner, to }) => {
      if (to !== undefined) advertised.push(owner);
    };
    const source = { address: parseIpv6Address('fe80::1') ?? 0n, macAddress: MAC_A as never };
    pool.network.solicitRouters(source);
    await world.pass(2_500);
    expect(advertised.splice(0)).toEqual(['a']);
    world.record(pool, { '10.0.0.17': MAC_A }, { spec: { ipv6Config: { cidr: 'fd00:48::/64' } } });
    await world.pass(1_500);
    pool.network.solicitRouters(source);
    await world.pass(1_000);
    expect(advertised).toEqual(['a']);
  });

  it('are sent again when the prefix has changed', async () => {
    const advertised: string[] = [];
    await world.startBoth(group);
    await world.pass(60_000);
    pool.network.onAdvertisement = ({ owner, message }) => {
      advertised.push(`${owner} ${Buffer.from(message).includes(Buffer.from('fd000048', 'hex'))}`);
    };
    await world.pass(60_000);
    expect(advertised).toEqual([]);
    world.record(pool, { '10.0.0.17': MAC_A, '10.0.0.18': MAC_B }, { spec: IPV6 });
    await world.pass(10_000);
    expect(advertised, 'another record').toEqual([]);
    world.record(pool, { '10.0.0.17': MAC_A }, { spec: { ipv6Config: { cidr: 'fd00:48::/64' } } });
    await world.pass(60_000);
    expect(advertised).toEqual(['a true', 'a true', 'a true']);
  });

  it('are not sent if the pool does not want them', async () => {
    const sent = advertisements();
    world.record(pool, {}, { spec: { ipv6Config: { ...IPV6.ipv6Config, routerAdvertisements: 'Disabled' } } });
    await world.startBoth(group);
    pool.network.solicitRouters(undefined);
    await world.pass(20_000);
    expect([sent, pool.network.openIpv6Sockets]).toEqual([[], 2]);
  });
});

describe('the IPv6 routers of a network', () => {
  const ROUTER = { address: parseIpv6Address('fe80::1') ?? 0n, macAddress: '02:00:00:00:99:01' as never };
  const routersOf = (pod: FakePod) =>
    pod.agent
      .report()
      .get(pool.key)
      ?.routers?.map(({ address }) => address);

  it('are reported by the leader, and by the next one from its predecessor until it has asked, too', async () => {
    const asking: string[] = [];
    pool.network.onRouterSolicitation = (owner) => {
      asking.push(owner);
      pool.network.advertiseRouter(ROUTER, { isDefaultRouter: true, isManaged: true });
    };
    const [a, b] = await world.startBoth(group);
    expect(routersOf(a)).toBeUndefined();
    await world.pass(13_000);
    expect([routersOf(a), asking]).toEqual([['fe80::1'], ['a', 'a', 'a']]);
    pool.network.onRouterSolicitation = (owner) => asking.push(owner);
    void a.agent.stop();
    await world.pass(5_000);
    expect([world.holders(pool), routersOf(b)]).toEqual([['b'], ['fe80::1']]);
    expect(asking.slice(3)).toEqual(['b', 'b']);
  });

  it('a next leader that cannot ask forgets what its predecessor found', async () => {
    pool.network.onRouterSolicitation = () => pool.network.advertiseRouter(ROUTER, { isDefaultRouter: true, isManaged: true });
    const a = world.startPod('a', group);
    await world.pass(20_000);
    pool.network.ipv6OpenFailure = () => new Error('EPERM');
    const b = world.startPod('b', group);
    await world.pass(5_000);
    void a.agent.stop();
    await world.pass(30_000);
    expect([world.holders(pool), routersOf(b)]).toEqual([['b'], ['fe80::1']]);
    await world.pass(60_000);
    expect(routersOf(b)).toBeUndefined();
  });

  it('are forgotten when the pool loses IPv6', async () => {
    pool.network.onRouterSolicitation = () => pool.network.advertiseRouter(ROUTER, { isDefaultRouter: true, isManaged: true });
    const [a] = await world.startBoth(group);
    await world.pass(20_000);
    world.record(pool, { '10.0.0.17': MAC_A });
    await world.pass(1_000);
    expect(routersOf(a)).toBeUndefined();
  });

  it('the advertisement of another agent is not heard, but that of a client that imitates one is', async () => {
    const [a] = await world.startBoth(group);
    await world.pass(13_000);
    const heard = { isDefaultRouter: false, isManaged: true };
    pool.network.advertiseRouter(ROUTER, heard, true);
    pool.network.advertiseRouter({ ...ROUTER, address: 2n, macAddress: MAC_A as never }, heard, true);
    await world.pass(21_000);
    expect(routersOf(a)).toEqual(['::2']);
  });

  it('a router that sends no advertisements is asked, and is reported if it answers; an advertisement in its name proves nothing', async () => {
    const router = ROUTER.address;
    const asked: string[] = [];
    const sent = new Set<string>();
    const ipv6Config = { ...IPV6.ipv6Config, routerAdvertisements: 'DefaultRoute', routers: ['fe80::1', 'fe80::2'] };
    world.record(pool, { '10.0.0.17': MAC_A }, { spec: { ipv6Config } });
    pool.network.onNeighborSolicitation = (owner, address) => asked.push(`${owner} ${formatIpv6Address(address)}`);
    pool.network.onAdvertisement = ({ from, message }) => sent.add(`${from && formatIpv6Address(from)} ${message.length}`);
    const [a] = await world.startBoth(group);
    pool.network.advertiseRouter(ROUTER, { isDefaultRouter: true, isManaged: true });
    await world.pass(13_000);
    expect(routersOf(a)).toEqual([]);
    expect(asked).toEqual(Array.from({ length: 3 }, () => ['a fe80::1', 'a fe80::2']).flat());
    expect([...sent]).toEqual(['fe80::1 48', 'fe80::2 48']);
    pool.network.advertiseNeighbor({ address: router, isRouter: true }, ROUTER.macAddress);
    pool.network.advertiseNeighbor({ address: router + 8n, isRouter: true }, ROUTER.macAddress);
    // A host that does not forward packets.
    pool.network.advertiseNeighbor({ address: router + 1n, isRouter: false }, ROUTER.macAddress);
    await world.pass(21_000);
    expect(routersOf(a)).toEqual(['fe80::1']);
    // A client that imitates an agent.
    pool.network.advertiseRouter({ ...ROUTER, macAddress: MAC_A as never }, { isDefaultRouter: true, isManaged: true });
    await world.pass(41_000);
    expect(routersOf(a)).toEqual(['fe80::1', 'fe80::1']);
  });

  it('without an answer there are none', async () => {
    const [a] = await world.startBoth(group);
    await world.pass(13_000);
    expect(routersOf(a)).toEqual([]);
  });

  it('one that begins to advertise itself is reported at once', async () => {
    const [a] = await world.startBoth(group);
    await world.pass(60_000);
    pool.network.advertiseRouter(ROUTER, { isDefaultRouter: false, isManaged: false });
    await world.pass(260);
    const { annotations = {} } = group.stored ?? {};
    expect(parseAgentReport(annotations[AGENT_REPORT_ANNOTATION]).get(pool.key)?.routers).toEqual([
      { address: 'fe80::1', macAddress: '02:00:00:00:99:01', isDefaultRouter: false, isManaged: false },
    ]);
    expect(a.observer.events.filter(({ kind }) => kind === 'ipv6-routers')).toHaveLength(2);
  });
});

describe('the sockets for IPv6', () => {
  it('are opened and closed with ipv6Config, and those of IPv4 stay', async () => {
    world.record(pool, { '10.0.0.17': MAC_A });
    await world.startBoth(group);
    expect([pool.network.openSockets, pool.network.openIpv6Sockets]).toEqual([2, 0]);
    const before = pool.network.opened;
    world.record(pool, { '10.0.0.17': MAC_A }, { spec: IPV6 });
    await world.pass(1_000);
    expect(pool.network.openIpv6Sockets).toBe(2);
    await assigned();
    world.record(pool, { '10.0.0.17': MAC_A });
    await world.pass(1_000);
    expect([pool.network.openIpv6Sockets, pool.network.opened - before]).toEqual([0, 0]);
    world.record(pool, { '10.0.0.17': MAC_A }, { spec: { ...IPV6, paused: true } });
    await world.pass(1_000);
    expect([pool.network.openSockets, pool.network.openIpv6Sockets]).toEqual([0, 0]);
  });

  it('a pool whose socket for IPv6 cannot be opened says so, and IPv4 goes on with the same leader', async () => {
    pool.network.ipv6OpenFailure = () => new Error('EPERM');
    const [a] = await world.startBoth(group);
    await world.pass(30_000);
    expect(service(a)).toEqual([false, 'SocketFailed', 'IPv6 is not served: EPERM']);
    expect([a.agent.unready(), world.holders(pool)]).toEqual([[], ['a']]);
    expect(await world.ask(pool, clientPacket('discover', MAC_A))).toEqual(['a: offer']);
    pool.network.ipv6OpenFailure = () => undefined;
    await world.pass(5_000);
    expect([service(a)[0], pool.network.openIpv6Sockets]).toEqual([true, 2]);
  });

  it('an agent that stops sends no advertisement, also none that a host asked for before', async () => {
    const a = world.startPod('a', group, { random: () => 0.5 });
    await world.pass(30_000);
    const sent: string[] = [];
    pool.network.onAdvertisement = ({ owner }) => sent.push(owner);
    pool.network.solicitRouters({ address: 1n, macAddress: MAC_A as never });
    void a.agent.stop();
    await world.pass(5_000);
    expect(sent).toEqual([]);
  });

  it('a declined address is reported', async () => {
    const [a, b] = await world.startBoth(group);
    await assigned();
    const octets = [0, 5, 0, 24, ...(Buffer.from('20010db8004800000000000000000011', 'hex') as Uint8Array), ...new Uint8Array(8)];
    const association = Uint8Array.of(0, 0, 0, 1, ...new Uint8Array(8), ...octets);
    const packet = encodeDhcpv6Message({
      type: Dhcpv6Type.decline,
      transactionId: 8,
      options: [
        [Dhcpv6Option.clientIdentifier, DUID],
        [Dhcpv6Option.serverIdentifier, server],
        [Dhcpv6Option.nonTemporaryAddresses, association],
      ],
    });
    pool.network.sendDhcpv6(packet, { address: 1n, port: 546, macAddress: MAC_A as never });
    await world.pass(50);
    expect(a.observer.events).toContainEqual({
      kind: 'ipv6-address-declined',
      pool: pool.key,
      macAddress: MAC_A,
      address: parseIpv6Address('2001:db8:48::11'),
    });
    const reports = vi.spyOn(a.agent, 'report');
    for (let times = 0; times < 20; times++)
      pool.network.sendDhcpv6(packet, { address: 1n, port: 546, macAddress: MAC_A as never });
    expect(reports.mock.calls.length, 'reports because of a guest that repeats itself').toBe(0);
    const declined = (pod: FakePod) => pod.agent.report().get(pool.key)?.declinedIpv6;
    const one = { address: '2001:db8:48::11', macAddress: MAC_A };
    await world.pass(5_000);
    expect([declined(a), declined(b)], 'the next leader knows it').toEqual([[one], [one]]);
    expect([...a.agent.counters.dhcpv6()].map(({ outcome, count }) => `${outcome} ${count}`)).toEqual([
      'answered 1',
      'assigned 1',
      'declined 21',
    ]);
    void a.agent.stop();
    await world.pass(605_000);
    expect(declined(b), 'forgotten, as the client has not declined it again').toBeUndefined();
  });
});
