/** Claims of other machines, and whether probes confirm them. */
import { describe, expect, it } from 'vitest';
import { encodeClientPacket } from '../probe/client-packet.js';
import { ip, OTHER, octets, SQUATTER, setUp, turn, UNKNOWN } from './open-answers-fixtures.js';

const VICTIM = UNKNOWN;
const INTRUDER = OTHER;

/** A server that probes; the victim has 10.0.0.100 and uses it. */
async function withVictim() {
  const world = setUp({ probes: true });
  expect(await world.join(VICTIM)).toBe('10.0.0.100');
  world.hosts.set('10.0.0.100', VICTIM);
  /** Time passes, and hosts are probed again. */
  const later = async (times = 1) => {
    for (let each = 0; each < times; each++) {
      world.server.expireLeases();
      await turn();
    }
  };
  const validAt = (address: string) => {
    const binding = world.open.bindings.at(ip(address));
    return binding?.isReleased === false && binding.endsAtMs > world.clock.nowMs ? binding.macAddress : undefined;
  };
  return { ...world, later, validAt };
}

describe('a REQUEST of an address that was not offered', () => {
  it('is refused, and probed only just after a start, when the one before may have offered it', async () => {
    const { request, sent, probed, settle, clock } = setUp({ probes: true });
    request(UNKNOWN, '10.0.0.100');
    await turn();
    await settle();
    expect([probed, sent]).toEqual([['10.0.0.100'], ['eth1 ack 10.0.0.100']]);
    clock.nowMs += 30_000;
    expect(request(OTHER, '10.0.0.101')).toBe('nak 0.0.0.0');
  });

  it('gets no ACK if another host uses the address, which is quarantined; then a DHCPNAK', async () => {
    const { request, sent, hosts, disk, settle, ignored } = setUp({ probes: true });
    hosts.set('10.0.0.100', SQUATTER);
    request(UNKNOWN, '10.0.0.100');
    await turn();
    expect(disk.map(({ record }) => record.kind)).toEqual(['quarantine']);
    await settle();
    expect(sent).toEqual([]);
    expect(ignored()).toEqual(['request address-in-use']);
    expect(request(UNKNOWN, '10.0.0.100')).toBe('nak 0.0.0.0');
  });

  it('gets no ACK if the probe fails; the next request is probed', async () => {
    const { request, sent, network, disk, settle, probed } = setUp({ probes: true });
    network.error = new Error('ENETDOWN');
    request(UNKNOWN, '10.0.0.100');
    await turn();
    expect([disk, sent]).toEqual([[], []]);
    delete network.error;
    request(UNKNOWN, '10.0.0.100');
    await turn();
    await settle();
    expect(sent).toEqual(['eth1 ack 10.0.0.100']);
    expect(probed).toHaveLength(2);
  });
});

it('the address that a client was offered is not probed again when it requests it', async () => {
  const { send, request, probed } = setUp({ probes: true });
  send(UNKNOWN, 'discover');
  await turn();
  request(UNKNOWN, '10.0.0.100');
  await turn();
  expect(probed).toEqual(['10.0.0.100']);
});

describe('a RELEASE', () => {
  it.each([
    ['answers', true],
    ['is switched off', false],
  ])('in the name of a host that %s does not end its lease, and causes no probe', async (_title, isThere) => {
    const { release, later, validAt, probed, ignored, lines, hosts, request } = await withVictim();
    if (!isThere) hosts.clear();
    const before = probed.length;
    release(VICTIM, '10.0.0.100');
    await turn();
    await later(5);
    expect(probed.length).toBe(before);
    expect(validAt('10.0.0.100')).toBe(VICTIM);
    expect(request(INTRUDER, '10.0.0.100')).toBe('nak 0.0.0.0');
    expect(ignored().at(-1)).toBe('release lease-stays');
    expect(lines().map(({ event }) => event)).toEqual(['bound', 'refused']);
  });
});

describe('a host that missed the probe when a person ended its lease', () => {
  async function released() {
    const world = await withVictim();
    world.hosts.clear();
    const ended = world.server.endLease('net', ip('10.0.0.100'), 'eth1');
    await world.settle();
    await ended;
    expect(world.validAt('10.0.0.100')).toBeUndefined();
    world.hosts.set('10.0.0.100', VICTIM);
    return world;
  }

  it('gets it back when it would be offered to another one, and renews its lease', async () => {
    const { join, validAt, settle, send, request, open, clock, lines, sent } = await released();
    expect(request(INTRUDER, '10.0.0.100')).toBe('nak 0.0.0.0');
    expect(await join(INTRUDER)).toBe('10.0.0.101');
    send(SQUATTER, 'discover');
    await turn();
    await settle();
    expect(validAt('10.0.0.100')).toBe(VICTIM);
    expect(open.counts(clock.nowMs).quarantined).toBe(0);
    expect(lines().at(-1)).toMatchObject({ event: 'bound', mac: VICTIM, isInUse: true });
    send(VICTIM, 'request', { clientAddress: ip('10.0.0.100') });
    await turn();
    await settle();
    expect(sent.at(-1)).toBe('eth1 ack 10.0.0.100');
    expect(await join(SQUATTER)).toBe('no offer');
  });
});

describe('the client that an address is bound to, while another one has its lease', () => {
  const NEW_BOARD = OTHER;

  async function boardReplaced() {
    const world = await withVictim();
    const bound = [{ address: ip('10.0.0.100'), macAddress: NEW_BOARD, isLeasedHere: true }];
    world.open.declare(bound, world.clock.nowMs);
    return world;
  }

  it('gets the address when it asks again, if that one is switched off', async () => {
    const { hosts, send, settle, join, validAt, ignored } = await boardReplaced();
    hosts.clear();
    expect(send(NEW_BOARD, 'discover')).toBeUndefined();
    await turn();
    await settle();
    expect(ignored()).toContain('discover address-being-probed');
    expect(validAt('10.0.0.100')).toBeUndefined();
    expect(await join(NEW_BOARD)).toBe('10.0.0.100');
  });

  it('gets another address while that one is there, and moves within minutes after it is switched off', async () => {
    const { hosts, send, settle, join, clock, request } = await boardReplaced();
    send(NEW_BOARD, 'discover');
    await turn();
    expect(await join(NEW_BOARD)).toBe('10.0.0.101');
    hosts.clear();
    const renew = async () => {
      clock.nowMs += 150_000;
      const reply = send(NEW_BOARD, 'request', { clientAddress: ip('10.0.0.101') });
      await turn();
      await settle();
      await turn();
      await settle();
      return reply;
    };
    expect(await renew()).toBeUndefined();
    expect(await renew()).toBe('nak 0.0.0.0');
    expect(await join(NEW_BOARD)).toBe('10.0.0.100');
    expect(request(UNKNOWN, '10.0.0.100')).toBe('nak 0.0.0.0');
  });
});

describe('a lease that a person ends', () => {
  it('ends if its host does not answer', async () => {
    const { server, hosts, validAt, settle, lines } = await withVictim();
    hosts.clear();
    const ended = server.endLease('net', ip('10.0.0.100'), 'eth1');
    await turn();
    await settle();
    expect(await ended).toEqual({ kind: 'ended', macAddress: VICTIM });
    expect(validAt('10.0.0.100')).toBeUndefined();
    expect(lines().at(-1)).toMatchObject({ event: 'released', mac: VICTIM });
  });

  it('stays if it does, and the result says so', async () => {
    const { server, validAt } = await withVictim();
    const reason = 'in-use-by-client';
    expect(await server.endLease('net', ip('10.0.0.100'), 'eth1')).toEqual({ kind: 'kept', macAddress: VICTIM, reason });
    expect(validAt('10.0.0.100')).toBe(VICTIM);
  });

  it('does not exist if no unknown client has the address, and has not ended if that could not be recorded', async () => {
    const { server, hosts, settle } = await withVictim();
    expect(await server.endLease('net', ip('10.0.0.101'), 'eth1')).toEqual({ kind: 'no-lease' });
    expect(await server.endLease('other', ip('10.0.0.100'), 'eth1')).toEqual({ kind: 'no-lease' });
    hosts.clear();
    const ended = server.endLease('net', ip('10.0.0.100'), 'eth1');
    await turn();
    await settle(false);
    expect(await ended).toEqual({ kind: 'not-recorded' });
  });
});

it('a pool on two interfaces: a host on one of them keeps its address, whatever another machine sends on the other', async () => {
  const { join, hosts, network, server, settle, sent } = setUp({ probes: true, interfaces: ['eth1', 'eth2'] });
  expect(await join(UNKNOWN)).toBe('10.0.0.100');
  hosts.set('10.0.0.100', UNKNOWN);
  network.hostsAreOn = 'eth1';
  const second = server.handler('eth2', () => server.poolsNamed(['net']));
  const into = Buffer.alloc(1_472);
  const serverIdentifier = [54, octets('10.0.0.1')] as const;
  second(
    encodeClientPacket({
      type: 'release',
      macAddress: UNKNOWN,
      xid: 1,
      clientAddress: ip('10.0.0.100'),
      options: [serverIdentifier],
    }),
    into,
  );
  await settle();
  const wanted = [50, octets('10.0.0.100')] as const;
  second(encodeClientPacket({ type: 'request', macAddress: OTHER, xid: 2, options: [wanted, serverIdentifier] }), into);
  await settle();
  expect(sent).not.toContain('eth2 ack 10.0.0.100');
});

it('a lease that a person ends while its client is getting another address: that one stays', async () => {
  const { join, open, clock, send, request, server, settle, sent } = setUp({ probes: true });
  expect(await join(UNKNOWN)).toBe('10.0.0.100');
  open.declare([{ address: ip('10.0.0.100'), macAddress: OTHER, isLeasedHere: true }], clock.nowMs);
  expect(send(UNKNOWN, 'request', { clientAddress: ip('10.0.0.100') })).toBe('nak 0.0.0.0');
  send(UNKNOWN, 'discover');
  await turn();
  request(UNKNOWN, '10.0.0.101');
  await turn();
  const end = server.endLease('net', ip('10.0.0.100'), 'eth1');
  await settle();
  await settle();
  await end;
  expect(sent.at(-1)).toBe('eth1 ack 10.0.0.101');
  expect(open.bindings.at(ip('10.0.0.101'))).toMatchObject({ macAddress: UNKNOWN, isReleased: false });
});

it('a board that replaces another one gets its address even if no other is free', async () => {
  const { join, open, clock, hosts, send, settle } = setUp({ probes: true });
  expect(await join(UNKNOWN)).toBe('10.0.0.100');
  expect(await join(SQUATTER)).toBe('10.0.0.101');
  open.declare([{ address: ip('10.0.0.100'), macAddress: OTHER, isLeasedHere: true }], clock.nowMs);
  hosts.set('10.0.0.101', SQUATTER);
  expect(await join(OTHER)).toBe('no offer');
  await settle();
  expect(await join(OTHER)).toBe('10.0.0.100');
  expect(send(SQUATTER, 'discover')).toBe('offer 10.0.0.101');
});

it('if another host uses a bound address outside the range, its client can still get another address', async () => {
  const { join, open, clock, hosts } = setUp({ probes: true });
  open.declare([{ address: ip('10.0.0.200'), macAddress: UNKNOWN, isLeasedHere: true }], clock.nowMs);
  hosts.set('10.0.0.200', SQUATTER);
  expect(await join(UNKNOWN)).toBe('no offer');
  expect(await join(UNKNOWN)).toBe('10.0.0.100');
  hosts.delete('10.0.0.200');
  clock.nowMs += 2 * 3_600_000;
  expect(await join(UNKNOWN)).toBe('10.0.0.200');
});

it('hosts with the same client identifier get an address each, and neither is locked out when the other misses a probe', async () => {
  const { send, settle, sent } = setUp({ probes: true });
  const identifier = [61, Uint8Array.of(255, 1, 2, 3, 4, 5)] as const;
  const join = async (macAddress: string, address: string) => {
    send(macAddress, 'discover', { options: [identifier] });
    await turn();
    send(macAddress, 'request', { options: [[50, octets(address)], [54, octets('10.0.0.1')], identifier] });
    await settle();
    return sent.at(-1);
  };
  expect(await join(UNKNOWN, '10.0.0.100')).toBe('eth1 ack 10.0.0.100');
  expect(await join(OTHER, '10.0.0.101')).toBe('eth1 ack 10.0.0.101');
  for (const [macAddress, address] of [
    [UNKNOWN, '10.0.0.100'],
    [OTHER, '10.0.0.101'],
  ] as const) {
    send(macAddress, 'request', { clientAddress: ip(address), options: [identifier] });
    await settle();
    expect(sent.at(-1)).toBe(`eth1 ack ${address}`);
  }
});

describe('a quarantine that a person ends', () => {
  async function quarantined() {
    const world = setUp({ probes: true });
    world.hosts.set('10.0.0.100', SQUATTER);
    world.send(UNKNOWN, 'discover');
    await turn();
    await world.settle();
    expect(world.open.counts(world.clock.nowMs).quarantined).toBe(1);
    return world;
  }

  it('ends if no host answers for the address, which is leased again', async () => {
    const { server, hosts, settle, join } = await quarantined();
    hosts.clear();
    const ended = server.endLease('net', ip('10.0.0.100'), 'eth1');
    await settle();
    expect(await ended).toEqual({ kind: 'quarantine-ended' });
    expect(await join(UNKNOWN)).toBe('10.0.0.100');
  });

  it('stays if one does', async () => {
    const { server, open, clock } = await quarantined();
    const kept = { kind: 'kept', macAddress: SQUATTER, reason: 'in-use-by-another-host' };
    expect(await server.endLease('net', ip('10.0.0.100'), 'eth1')).toEqual(kept);
    expect(open.counts(clock.nowMs).quarantined).toBe(1);
  });
});

it('a lease that was recorded while the clock was ahead lasts for its normal time once the clock is right, not for years', async () => {
  const { join, open, clock, server, settle, disk, send, hosts } = setUp({ probes: true });
  const years = 10 * 365 * 86_400_000;
  clock.nowMs += years;
  expect(await join(UNKNOWN)).toBe('10.0.0.100');
  hosts.set('10.0.0.101', SQUATTER);
  send(OTHER, 'discover');
  await turn();
  await settle();
  clock.nowMs -= years;
  const pass = async (ms: number) => {
    clock.nowMs += ms;
    server.expireLeases();
    await settle();
    const { valid, quarantined } = open.counts(clock.nowMs);
    return [valid, quarantined];
  };
  expect(await pass(0)).toEqual([1, 1]);
  expect(await pass(299_999)).toEqual([1, 1]);
  expect(await pass(1)).toEqual([0, 1]);
  expect(await pass(3_300_000 - 1)).toEqual([0, 1]);
  expect(await pass(1)).toEqual([0, 0]);
  server.expireLeases();
  expect(disk).toEqual([]);
});

it('a clock that is behind for a while does not end leases', async () => {
  const { join, open, clock, server, settle, request } = setUp({ probes: true });
  expect(await join(UNKNOWN)).toBe('10.0.0.100');
  clock.nowMs -= 900_000;
  for (let each = 0; each < 5; each++) {
    clock.nowMs += 2_000;
    server.expireLeases();
    await settle();
  }
  clock.nowMs += 900_000;
  server.expireLeases();
  await settle();
  expect(open.bindings.at(ip('10.0.0.100'))).toMatchObject({ macAddress: UNKNOWN, endsAtMs: 1_300_000 });
  expect(request(OTHER, '10.0.0.100')).toBe('nak 0.0.0.0');
});
