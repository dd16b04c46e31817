import { describe, expect, it } from 'vitest';
import { DECLARED, ip, OTHER, octets, SQUATTER, setUp, turn, UNKNOWN } from './open-answers-fixtures.js';

describe('an unknown client', () => {
  it('has its ACK when the record is on the disk, and one line with what remains', async () => {
    const { send, request, settle, sent, disk, lines } = setUp();
    expect(send(UNKNOWN, 'discover')).toBe('offer 10.0.0.100');
    expect(request(UNKNOWN, '10.0.0.100')).toBeUndefined();
    await turn();
    expect([disk.length, sent]).toEqual([1, []]);
    await settle();
    expect(sent).toEqual(['eth1 ack 10.0.0.100']);
    expect(lines()).toEqual([{ event: 'bound', mac: UNKNOWN, interface: 'eth1', total: 2, remaining: 1 }]);
  });

  it('gets no ACK when the record may be lost, which is counted; declared clients are answered as before', async () => {
    const { send, request, settle, sent, server } = setUp();
    send(UNKNOWN, 'discover');
    request(UNKNOWN, '10.0.0.100');
    expect(request(DECLARED, '10.0.0.10')).toBe('ack 10.0.0.10');
    await settle(false);
    expect(sent).toEqual([]);
    expect([...server.counters.messages()]).toContainEqual({
      ...{ type: 'request', outcome: 'ignored', reason: 'not-recorded', count: 1 },
    });
  });

  it('whose lease a person ends: the address is free when that is recorded, and one line reports it', async () => {
    const { send, request, settle, lines, open, clock, server } = setUp();
    send(UNKNOWN, 'discover');
    request(UNKNOWN, '10.0.0.100');
    await settle();
    const ended = server.endLease('net', ip('10.0.0.100'), 'eth1');
    await turn();
    expect(open.counts(clock.nowMs).free).toBe(1);
    await settle();
    await ended;
    expect(lines().at(-1)).toEqual({ event: 'released', mac: UNKNOWN, interface: 'eth1', total: 2, remaining: 2 });
  });

  it('is noted when its lease ends without a RELEASE', async () => {
    const { server, send, request, settle, lines, clock } = setUp();
    send(UNKNOWN, 'discover');
    request(UNKNOWN, '10.0.0.100');
    await settle();
    clock.nowMs += 40_000_000_000;
    server.expireLeases();
    expect(lines().at(-1)).toEqual({ event: 'expired', mac: UNKNOWN, total: 2, remaining: 2 });
  });
});

describe('an address that is given for the first time', () => {
  it('is offered after a probe, and a second time without one', async () => {
    const { send, sent, probed } = setUp({ probes: true });
    expect(send(UNKNOWN, 'discover')).toBeUndefined();
    await turn();
    expect([sent, probed]).toEqual([['eth1 offer 10.0.0.100'], ['10.0.0.100']]);
    expect(send(UNKNOWN, 'discover')).toBe('offer 10.0.0.100');
    expect(probed).toHaveLength(1);
  });

  it('that other hosts use is quarantined, and the client gets the first free one without asking again, as after a backup was restored', async () => {
    const { send, hosts, sent, probed } = setUp({ probes: true, dynamic: '10.0.0.100-10.0.0.199', asksAgain: true });
    for (let last = 100; last < 106; last++) hosts.set(`10.0.0.${last}`, SQUATTER);
    expect(send(UNKNOWN, 'discover')).toBeUndefined();
    for (let probe = 0; probe < 10; probe++) await turn();
    expect(sent).toEqual(['eth1 offer 10.0.0.106']);
    expect(probed).toHaveLength(7);
  });

  it('is looked for eight times at most: a host that answers for all of them costs no more', async () => {
    const { send, network, sent, probed } = setUp({ probes: true, dynamic: '10.0.0.100-10.0.0.199', asksAgain: true });
    network.use = { byClient: false, others: [SQUATTER] };
    send(UNKNOWN, 'discover');
    for (let probe = 0; probe < 20; probe++) await turn();
    expect([sent, probed.length]).toEqual([[], 8]);
    send(UNKNOWN, 'discover');
    for (let probe = 0; probe < 20; probe++) await turn();
    expect(probed).toHaveLength(16);
  });

  it('is quarantined if another host uses it, and the client gets the next one', async () => {
    const { send, sent, network, settle, disk } = setUp({ probes: true });
    network.use = { byClient: false, others: [SQUATTER] };
    send(UNKNOWN, 'discover');
    await turn();
    expect(disk.map(({ record }) => record.kind)).toEqual(['quarantine']);
    await settle();
    delete network.use;
    send(UNKNOWN, 'discover');
    await turn();
    expect(sent).toEqual(['eth1 offer 10.0.0.101']);
  });
});

describe('a DECLINE of an unknown client', () => {
  it.each([
    { others: [SQUATTER], quarantined: 1, what: 'is quarantined when a host answers for the address' },
    { others: [], quarantined: 0, what: 'changes nothing if no host answers' },
  ])('$what', async ({ others, quarantined }) => {
    const { send, request, settle, network, open, clock } = setUp();
    send(OTHER, 'discover');
    request(OTHER, '10.0.0.100');
    await settle();
    network.use = { byClient: false, others };
    send(OTHER, 'decline', {
      options: [
        [50, octets('10.0.0.100')],
        [54, octets('10.0.0.1')],
      ],
    });
    await turn();
    await settle();
    expect(open.counts(clock.nowMs).quarantined).toBe(quarantined);
  });
});

it('a flood of made-up clients is answered from a budget, and a client that has a lease, had one, or was offered an address does not notice', async () => {
  const { send, request, settle, join, server, clock, sent } = setUp();
  expect(await join(UNKNOWN)).toBe('10.0.0.100');
  expect(send(OTHER, 'discover')).toBe('offer 10.0.0.101');
  const madeUp = (each: number) =>
    `02:00:01:00:${(each >> 8).toString(16).padStart(2, '0')}:${(each & 255).toString(16).padStart(2, '0')}`;
  const dropped = () => server.counters.dropped().get('too-many-new-clients') ?? 0;
  for (let each = 0; each < 6_000; each++) send(madeUp(each), 'discover');
  expect(dropped()).toBe(6_000 - (4_000 - 2));
  send(UNKNOWN, 'request', { clientAddress: ip('10.0.0.100') });
  await settle();
  expect(sent.at(-1)).toBe('eth1 ack 10.0.0.100');
  request(OTHER, '10.0.0.101');
  await settle();
  expect(sent.at(-1)).toBe('eth1 ack 10.0.0.101');
  clock.nowMs += 301_000;
  for (let each = 0; each < 6_000; each++) send(madeUp(each), 'discover');
  expect(send(UNKNOWN, 'discover')).toBe('offer 10.0.0.100');
});

it('a client that renews its first lease is reported once: it is real', async () => {
  const { join, send, settle, clock, observer } = setUp();
  expect(await join(UNKNOWN)).toBe('10.0.0.100');
  const renew = async () => {
    clock.nowMs += 150_000;
    send(UNKNOWN, 'request', { clientAddress: ip('10.0.0.100') });
    await settle();
  };
  const proven = () => observer.of('client-proven');
  expect(proven()).toEqual([]);
  await renew();
  await renew();
  expect(proven()).toEqual([{ kind: 'client-proven', pool: 'net', macAddress: UNKNOWN }]);
});

it('a client that was offered an address gets it, whatever another client with an offer requests', async () => {
  const world = setUp();
  expect(world.send(UNKNOWN, 'discover')).toBe('offer 10.0.0.100');
  expect(world.send(SQUATTER, 'discover')).toBe('offer 10.0.0.101');
  // Like INIT-REBOOT, without a server identifier.
  for (let each = 0; each < 4_100; each++) world.send(SQUATTER, 'request', { options: [[50, octets('10.0.0.101')]] });
  world.request(UNKNOWN, '10.0.0.100');
  await turn();
  await world.settle();
  expect(world.sent.at(-1)).toBe('eth1 ack 10.0.0.100');
});
