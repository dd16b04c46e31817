import type { MacAddress } from '@vmdhcp/dhcp-allocator';
import { readConditions } from '@vmdhcp/kube-runtime';
import { randomFrom } from '@vmdhcp/kube-runtime/testing';
import { describe, expect, it, vi } from 'vitest';
import { LONGEST_WAIT_MS } from './address-wait.js';
import { clusterAgent, ip } from './hosts-fixtures.js';
import { NOTHING_BOUND, type Replica, SELF, World } from './hosts-world-fixtures.js';

async function serving(replicas = 1): Promise<{ readonly world: World; readonly leader: Replica }> {
  const world = new World();
  world.put(clusterAgent());
  for (let count = 0; count < replicas; count++) world.add();
  await world.until('a leader that serves', () => world.replicas.some(({ machine }) => machine.isServing()));
  return { world, leader: world.holders()[0] as Replica };
}

describe('the agent of a ClusterAgent', () => {
  it('waits for what is missing, with every reason, and serves as soon as it exists', async () => {
    const world = new World();
    const replica = world.add();
    replica.kernel.removeLink('net1');
    await world.clock.advance(5_000);
    expect(replica.machine.unready()).toEqual(['ClusterAgent rack does not exist: create it, or correct CLUSTERAGENT_NAME']);
    world.put(clusterAgent({ gateway: 'x' }));
    await world.clock.advance(1_000);
    expect(replica.machine.unready()).toEqual([
      expect.stringContaining('dhcpServerConfig.gateway'),
      expect.stringContaining('interface net1 does not exist here'),
    ]);
    world.put(clusterAgent());
    replica.kernel.addLink('net1');
    await world.until('a server', () => replica.machine.isServing());
    expect(replica.machine.unready()).toEqual([]);
    expect(await world.join(1)).toBe('10.0.0.10');
    expect(replica.lines).toContain('all problems are solved');
  });

  it('sends no ACK before its lease is recorded', async () => {
    const { world } = await serving();
    const { promise, resolve } = Promise.withResolvers<void>();
    world.records.gate = promise;
    expect(await world.join(1)).toBeUndefined();
    expect(world.replies.map(({ type }) => type)).toEqual(['offer']);
    resolve();
    await world.clock.advance(10);
    expect(world.replies.map(({ type }) => type)).toEqual(['offer', 'ack']);
    expect(world.records.records).toHaveLength(1);
  });

  it('is silent until it is known which addresses are bound, and gives none of them to another client', async () => {
    const world = new World();
    world.put(clusterAgent());
    const replica = world.add();
    replica.bound = undefined;
    await world.until('selfIp', () => world.holders().length === 1);
    expect(await world.join(1)).toBeUndefined();
    const bound = { ipAddress: '10.0.0.10', macAddress: '02:00:00:00:00:09', hostStatus: 'rack-10-0-0-10' };
    const fields = { isByAnnotation: true, isActive: false, changedAtMs: 0 };
    replica.bind({ bindings: [{ ...bound, ...fields }], keptOut: ['10.0.0.11'], releases: [], problems: [] });
    expect([await world.join(1), await world.join(9)]).toEqual(['10.0.0.12', '10.0.0.10']);
  });

  it.each([
    ['of its address', '10.0.0.10', '02:00:00:00:00:09'],
    ['of another address', '10.0.0.11', '02:00:00:00:00:01'],
  ])(
    'a client that gets a lease while an object %s appears keeps it: no other client gets the address',
    async (_, ipAddress, macAddress) => {
      const world = new World();
      world.put(clusterAgent({ ipRange: '10.0.0.10-10.0.0.11' }));
      const replica = world.add();
      await world.until('a server', () => replica.machine.isServing());
      const { promise, resolve } = Promise.withResolvers<void>();
      world.records.gate = promise;
      await world.join(1);
      const bound = { ipAddress, macAddress: macAddress as MacAddress, hostStatus: 'of-a-backup', isByAnnotation: false };
      replica.bind({ bindings: [{ ...bound, isActive: false, changedAtMs: 0 }], keptOut: [], releases: [], problems: [] });
      resolve();
      await world.clock.advance(100);
      expect(world.replies.at(-1)).toMatchObject({ type: 'ack', address: ip('10.0.0.10') });
      expect([await world.join(2), await world.join(3)]).toEqual(['10.0.0.11', undefined]);
    },
  );

  it('a change of the ClusterAgent takes effect at once; leases stay; settings that cannot be served change nothing', async () => {
    const { world, leader } = await serving();
    expect(await world.join(1)).toBe('10.0.0.10');
    world.put(clusterAgent({ ipRange: '10.0.0.30-10.0.0.39' }));
    await world.clock.advance(10);
    expect(await world.join(2)).toBe('10.0.0.30');
    world.put(clusterAgent({ subnet: '10.9.0.0/24' }));
    await world.clock.advance(10);
    expect([await world.join(3), leader.machine.unready().length > 0]).toEqual(['10.0.0.31', true]);
    expect(world.network.opened).toBe(1);
  });

  it('an edit that names a missing interface changes nothing either', async () => {
    const { world, leader } = await serving();
    world.put(clusterAgent({ dhcpServerInterface: 'net9', subnet: '10.9.0.0/24' }));
    await world.clock.advance(5_000);
    expect(leader.machine.unready()).toContain(
      'interface net9 does not exist here: correct dhcpServerInterface, or attach the network to the agent',
    );
    expect([await world.join(1), world.network.opened, world.holders()]).toEqual(['10.0.0.10', 1, [leader]]);
    leader.kernel.addLink('net9');
    await world.clock.advance(5_000);
    expect(leader.kernel.has('net9', SELF)).toBe(false);
    expect(await world.join(2)).toBe('10.0.0.11');
  });

  it.each([{ dhcpServerInterface: 'net9', gateway: 'x' }, { subnet: '10.9.0.0/24' }, { dhcpServerInterface: 'net9' }])(
    'replicas that all serve the settings before an edit do not take turns: %j',
    async (edit) => {
      const { world, leader } = await serving(2);
      world.put(clusterAgent(edit));
      await world.clock.advance(120_000);
      expect([world.holders(), leader.kernel.spans().length]).toEqual([[leader], 1]);
      expect(leader.machine.unready()).not.toEqual([]);
      expect(await world.join(1)).toBe('10.0.0.10');
    },
  );

  it('without selfIp, an interface that has no address of the subnet changes nothing', async () => {
    const { world, leader } = await serving();
    world.put(clusterAgent({ dhcpServerInterface: 'net9', selfIp: undefined }));
    await world.clock.advance(5_000);
    expect([await world.join(1), leader.machine.unready().length > 0]).toEqual(['10.0.0.10', true]);
  });

  it('a selfIp that a person adds to the interface, without end, is neither removed nor shortened', async () => {
    const { world, leader } = await serving();
    const removed = vi.spyOn(leader.kernel, 'remove');
    const added = vi.spyOn(leader.kernel, 'add');
    leader.byHand.push(SELF);
    await world.clock.advance(5_000);
    expect([removed.mock.calls.flat(2), added.mock.calls.flatMap(([addresses]) => addresses)]).toEqual([[], []]);
    expect(await world.join(1)).toBe('10.0.0.10');
  });

  it('another selfIp replaces the previous one', async () => {
    const { world, leader } = await serving();
    world.put(clusterAgent({ selfIp: '10.0.0.3/24' }));
    await world.until('the other address', () => leader.kernel.has('net1', ip('10.0.0.3')));
    expect(leader.kernel.has('net1', SELF)).toBe(false);
  });

  it('a selfIp that the pod needs itself is not added, and no client gets an answer', async () => {
    const { world, leader } = await serving();
    world.put(clusterAgent({ selfIp: '10.0.0.9/24' }));
    await world.until('no address', () => !leader.kernel.has('net1', SELF));
    expect([leader.kernel.has('net1', ip('10.0.0.9')), await world.join(1)]).toEqual([false, undefined]);
    expect(leader.machine.unready()).toEqual(['ClusterAgent rack: selfIp is the address of the API server: write another one']);
  });

  it('management controllers are called when selfIp is there, also by the next leader; a replica that cannot have it calls them after a while', async () => {
    const { world, leader } = await serving(2);
    expect(leader.reached).toMatchObject([{ hasSelfIp: true }]);
    leader.process.kill();
    await world.until('another leader that serves', () =>
      world.replicas.some((one) => one !== leader && one.machine.isServing()),
    );
    expect(world.replicas.find((one) => one !== leader)?.reached).toMatchObject([{ hasSelfIp: true }]);
    const taken = new World();
    taken.put(clusterAgent());
    taken.usersOf = (address) => (address === SELF ? ['02:00:00:00:00:77'] : []);
    const replica = taken.add();
    await taken.until('a call', () => replica.reached.length > 0);
    expect(replica.reached).toEqual([{ hasSelfIp: false, afterMs: LONGEST_WAIT_MS }]);
  });

  it('a selfIp that another host uses is not added, and is tried again until it is free', async () => {
    const world = new World();
    world.put(clusterAgent());
    world.usersOf = (address) => (address === SELF ? ['02:00:00:00:00:77'] : []);
    const replica = world.add();
    const inUse = expect.stringContaining('selfIp 10.0.0.2 is in use by another host (02:00:00:00:00:77)');
    const stored = () => world.clusterAgents.objects.get('rack')?.status;
    await world.until('the condition', () => JSON.stringify(stored())?.includes('SelfIpInUse') ?? false);
    expect(readConditions(stored())).toContainEqual(
      expect.objectContaining({ type: 'SelfIpInUse', status: 'True', message: inUse }),
    );
    expect([replica.machine.unready(), replica.machine.isLeader()]).toEqual([[inUse], true]);
    await world.clock.advance(60_000);
    expect(replica.lines.filter((line) => line.includes('is in use by another host'))).toHaveLength(1);
    expect([world.holders(), await world.join(1)]).toEqual([[], undefined]);
    world.usersOf = () => [];
    await world.until('a server', () => replica.machine.isServing());
    expect(await world.join(1)).toBe('10.0.0.10');
    await world.until('the other condition', () => JSON.stringify(stored()).includes('"False"'));
    expect(replica.machine.unready()).toEqual([]);
  });

  it('a host that answers for every address does not prevent selfIp', async () => {
    const world = new World();
    world.put(clusterAgent());
    world.usersOf = () => ['02:00:00:00:00:77'];
    const replica = world.add();
    await world.until('a server', () => replica.machine.isServing());
  });

  it('another DHCP server is reported, and clients are answered nevertheless', async () => {
    const world = new World();
    world.put(clusterAgent());
    world.otherServers = [{ address: '10.0.0.3', macAddress: '02:00:00:00:00:33' }];
    const replica = world.add();
    await world.until('a look', () => replica.machine.otherServers === 1);
    const text = expect.stringMatching(/10\.0\.0\.3 \(02:00:00:00:00:33\)\. If it is a former server/);
    expect(replica.lines).toContainEqual(text);
    const stored = () => readConditions(world.clusterAgents.objects.get('rack')?.status);
    await world.until('the condition', () => stored().some(({ type }) => type === 'RogueServer'));
    expect(stored()).toContainEqual(expect.objectContaining({ type: 'RogueServer', status: 'True', message: text }));
    expect([await world.join(1), replica.machine.unready()]).toEqual(['10.0.0.10', []]);
    world.otherServers = [];
    await world.until('another look', () => replica.machine.otherServers === 0);
    await world.until('the condition', () => stored().every(({ status }) => status === 'False'));
  });

  it('a deleted ClusterAgent is no longer served', async () => {
    const { world, leader } = await serving();
    world.clusterAgents.remove('rack');
    await world.until('no address', () => !leader.kernel.has('net1', SELF));
    expect(await world.join(1)).toBeUndefined();
  });
});

describe('replicas', () => {
  it('the leader is killed: another one has selfIp when it is gone from the first, and the leases', async () => {
    const { world, leader } = await serving(2);
    expect(await world.join(1)).toBe('10.0.0.10');
    leader.process.kill();
    const other = world.replicas.find((one) => one !== leader) as Replica;
    await world.until('another leader', () => other.machine.isServing());
    const spans = world.replicas.flatMap(({ kernel }) => kernel.spans()).toSorted((one, next) => one.fromMs - next.fromMs);
    expect(spans).toHaveLength(2);
    expect(spans[1]?.fromMs).toBeGreaterThanOrEqual(spans[0]?.untilMs ?? 0);
    expect([await world.join(1), await world.join(2)]).toEqual(['10.0.0.10', '10.0.0.11']);
  });

  it('a lease whose record survives after leadership has ended is not acknowledged', async () => {
    const { world, leader } = await serving(2);
    const { promise, resolve } = Promise.withResolvers<void>();
    world.records.gate = promise;
    expect(await world.join(1)).toBeUndefined();
    leader.process.freeze(4_000);
    const wakesAtMs = world.clock.nowMs() + 4_000;
    const other = world.replicas.find((one) => one !== leader) as Replica;
    await world.until('another leader', () => other.machine.isLeader() && world.clock.nowMs() > wakesAtMs);
    resolve();
    await world.clock.advance(100);
    expect(world.records.records).toHaveLength(1);
    expect(world.replies.map(({ type }) => type)).toEqual(['offer']);
  });

  it('a leader that stops ends its work, then removes selfIp, and then releases the Lease', async () => {
    const { world, leader } = await serving(2);
    const stopped = leader.machine.stop();
    await world.clock.advance(100);
    await stopped;
    expect(leader.steps).toEqual(['hosts followed no more', 'leases closed']);
    expect(leader.kernel.has('net1', SELF)).toBe(false);
    expect(world.lease.stored?.stored.record.holder).not.toBe('pod-0');
    const other = world.replicas.find((one) => one !== leader) as Replica;
    await world.until('another leader', () => other.machine.isServing());
  });

  it('a leader whose interface is down lets another replica become leader', async () => {
    const { world, leader } = await serving(2);
    leader.isUp = false;
    const other = world.replicas.find((one) => one !== leader) as Replica;
    await world.until('another leader', () => other.machine.isServing());
    expect(world.holders()).toEqual([other]);
    expect(leader.machine.unready()).toEqual(['interface net1 is down: set it up (ip link set net1 up)']);
  });

  it('a leader that cannot record leases lets another replica become leader', async () => {
    const { world, leader } = await serving(2);
    leader.recordingProblem = 'another replica has taken the leases over';
    const other = world.replicas.find((one) => one !== leader) as Replica;
    await world.until('another leader', () => other.machine.isServing());
    expect(await world.join(1)).toBe('10.0.0.10');
  });

  it('law: whatever freezes, at most one interface has selfIp', async () => {
    let handovers = 0;
    for (let seed = 1; seed <= 20; seed++) {
      const { world } = await serving(3);
      const random = randomFrom(seed);
      for (let round = 0; round < 12; round++) {
        const one = world.replicas[random(3)] as Replica;
        one.process.freeze(random(6_000));
        await world.clock.advance(random(4_000));
      }
      const spans = world.replicas.flatMap(({ kernel }) => kernel.spans()).toSorted((one, next) => one.fromMs - next.fromMs);
      for (const [index, { fromMs }] of spans.entries())
        if (index > 0) expect(fromMs).toBeGreaterThanOrEqual(spans[index - 1]?.untilMs ?? 0);
      handovers += spans.length - 1;
    }
    expect(handovers).toBeGreaterThan(20);
  });

  it('a new leader answers no client while the leases are open elsewhere', async () => {
    const world = new World();
    world.put(clusterAgent());
    const elsewhere = world.add();
    elsewhere.process.freeze(0);
    world.records.openedBy = elsewhere;
    await world.until('selfIp', () => world.holders().length === 1);
    expect(await world.join(1)).toBeUndefined();
    expect(elsewhere.machine.unready()).toEqual([expect.stringContaining('leases cannot be opened: another agent uses it')]);
    world.records.openedBy = undefined;
    await world.until('a server', () => elsewhere.machine.isServing());
    expect(await world.join(1)).toBe('10.0.0.10');
  });
});

describe('a host that is gone', () => {
  const MAC = (client: number) => `02:00:00:00:00:0${client}` as MacAddress;

  /** Client 1 has 10.0.0.10. */
  async function withHost() {
    const world = new World();
    world.records.probes = true;
    world.put(clusterAgent());
    const replica = world.add();
    await world.until('a server', () => replica.machine.isServing());
    expect(await world.join(1)).toBe('10.0.0.10');
    const released = (beforeMs: number) =>
      replica.bind({ ...NOTHING_BOUND, releases: [{ ipAddress: '10.0.0.10', hostStatus: 'rack-10-0-0-10', beforeMs }] });
    return { world, replica, released };
  }

  const wallTimeOf = (world: World) => world.clock.nowMs() + 1_700_000_000_000;

  it('loses its lease when a person releases it: the next client may have the address', async () => {
    const { world, replica, released } = await withHost();
    released(wallTimeOf(world));
    await world.clock.advance(100);
    expect(replica.machine.dhcp.counts()).toMatchObject({ valid: 0, free: 10 });
    expect(world.events).toEqual([]);
  });

  it('keeps its lease if it answers, which is an Event', async () => {
    const { world, replica, released } = await withHost();
    world.usersOf = () => [MAC(1)];
    released(wallTimeOf(world));
    await world.clock.advance(100);
    expect(replica.machine.dhcp.counts()).toMatchObject({ valid: 1 });
    expect(world.events).toEqual(['LeaseKept on HostStatus rack-10-0-0-10']);
  });

  it('keeps its lease if the annotation is a day ahead, which is one Event', async () => {
    const { world, replica, released } = await withHost();
    const tomorrow = wallTimeOf(world) + 86_400_000;
    for (let count = 0; count < 3; count++) {
      released(tomorrow);
      await world.clock.advance(100);
    }
    expect(replica.machine.dhcp.counts()).toMatchObject({ valid: 1 });
    expect(world.events).toEqual(['LeaseKept on HostStatus rack-10-0-0-10']);
  });

  it('gives its address to the board that replaces it, when that board sends its second request', async () => {
    const { world, replica } = await withHost();
    const binding = { ipAddress: '10.0.0.10', macAddress: MAC(9), hostStatus: 'rack-10-0-0-10' };
    replica.bind({ ...NOTHING_BOUND, bindings: [{ ...binding, isByAnnotation: true, isActive: true, changedAtMs: 0 }] });
    expect(await world.join(9)).toBeUndefined();
    await world.clock.advance(100);
    expect(await world.join(9)).toBe('10.0.0.10');
  });

  it('keeps its address while it answers: the new board has another one meanwhile', async () => {
    const { world, replica } = await withHost();
    world.usersOf = (address) => (address === ip('10.0.0.10') ? [MAC(1)] : []);
    const binding = { ipAddress: '10.0.0.10', macAddress: MAC(9), hostStatus: 'rack-10-0-0-10' };
    replica.bind({ ...NOTHING_BOUND, bindings: [{ ...binding, isByAnnotation: true, isActive: true, changedAtMs: 0 }] });
    expect(await world.join(9)).toBeUndefined();
    await world.clock.advance(100);
    expect(await world.join(9)).toBe('10.0.0.11');
  });
});
