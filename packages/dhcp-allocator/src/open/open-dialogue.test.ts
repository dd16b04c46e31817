import { describe, expect, it } from 'vitest';
import { answerOpenPacket } from './answer-open-packet.js';
import { OpenPool } from './open-pool.js';
import {
  clientPacket,
  type Fields,
  ip,
  mac,
  OpenServer,
  outcomeOf,
  SERVER,
  servedPool,
  shortOutcome,
} from './open-pool-fixtures.js';

describe('RFC 2131 §4.3: we are 10.0.0.1 and lease 10.0.0.10 to .19; client 1 has .10, client 2 had .11, client 3 is offered .12', () => {
  type Message = 'discover' | 'request' | 'decline' | 'release' | 'inform';
  const us = SERVER;
  it.each<[title: string, type: Message, client: number, fields: Fields, expected: string]>([
    ['§4.3.1 "the client\'s current address"', 'discover', 1, {}, 'offer 10.0.0.10 link 10.0.0.10:68'],
    [
      '§4.3.1 current address, before the one it requests',
      'discover',
      1,
      { requested: '10.0.0.15' },
      'offer 10.0.0.10 link 10.0.0.10:68',
    ],
    ['§4.3.1 "the client\'s previous address"', 'discover', 2, {}, 'offer 10.0.0.11 link 10.0.0.11:68'],
    [
      '§4.3.1 previous address, before the one it requests',
      'discover',
      2,
      { requested: '10.0.0.15' },
      'offer 10.0.0.11 link 10.0.0.11:68',
    ],
    [
      '§4.3.1 "the address requested in the Requested IP Address option"',
      'discover',
      4,
      { requested: '10.0.0.15' },
      'offer 10.0.0.15 link 10.0.0.15:68',
    ],
    ['§4.3.1 a requested address that is leased', 'discover', 4, { requested: '10.0.0.10' }, 'offer 10.0.0.13 link 10.0.0.13:68'],
    [
      "§4.3.1 a requested address that was another client's",
      'discover',
      4,
      { requested: '10.0.0.11' },
      'offer 10.0.0.13 link 10.0.0.13:68',
    ],
    [
      '§4.3.1 a requested address that is offered',
      'discover',
      4,
      { requested: '10.0.0.12' },
      'offer 10.0.0.13 link 10.0.0.13:68',
    ],
    [
      '§4.3.1 a requested address that is not dynamic',
      'discover',
      4,
      { requested: '10.0.0.99' },
      'offer 10.0.0.13 link 10.0.0.13:68',
    ],
    [
      '§4.3.1 "a new address allocated from the server\'s pool": the lowest',
      'discover',
      4,
      {},
      'offer 10.0.0.13 link 10.0.0.13:68',
    ],
    ['§4.3.1 the same offer to the same client again', 'discover', 3, {}, 'offer 10.0.0.12 link 10.0.0.12:68'],
    ['§4.3.2 SELECTING us', 'request', 3, { server: us, requested: '10.0.0.12' }, 'ack 10.0.0.12 link 10.0.0.12:68'],
    [
      '§4.3.2 SELECTING us, another free address, as after a restart of the server',
      'request',
      3,
      { server: us, requested: '10.0.0.17' },
      'ack 10.0.0.17 link 10.0.0.17:68',
    ],
    [
      '§4.3.2 SELECTING us, an address offered to another client',
      'request',
      4,
      { server: us, requested: '10.0.0.12' },
      'nak 0.0.0.0 broadcast 255.255.255.255:68 address-not-available',
    ],
    [
      '§4.3.2 SELECTING us, an address of another client',
      'request',
      4,
      { server: us, requested: '10.0.0.10' },
      'nak 0.0.0.0 broadcast 255.255.255.255:68 address-not-available',
    ],
    [
      '§4.3.2 SELECTING us, an address that is not dynamic',
      'request',
      4,
      { server: us, requested: '10.0.0.99' },
      'nak 0.0.0.0 broadcast 255.255.255.255:68 address-not-available',
    ],
    ['§4.3.2 SELECTING another', 'request', 3, { server: '10.0.0.2', requested: '10.0.0.12' }, 'ignored other-server-selected'],
    ['§4.3.2 INIT-REBOOT', 'request', 1, { requested: '10.0.0.10' }, 'ack 10.0.0.10 link 10.0.0.10:68'],
    [
      '§4.3.2 INIT-REBOOT after the lease has ended, the address still free',
      'request',
      2,
      { requested: '10.0.0.11' },
      'ack 10.0.0.11 link 10.0.0.11:68',
    ],
    [
      '§4.3.2 INIT-REBOOT, wrong address',
      'request',
      1,
      { requested: '10.0.0.99' },
      'nak 0.0.0.0 broadcast 255.255.255.255:68 address-not-its-own',
    ],
    [
      '§4.3.2 INIT-REBOOT, wrong network',
      'request',
      1,
      { requested: '192.168.1.5' },
      'nak 0.0.0.0 broadcast 255.255.255.255:68 address-not-its-own',
    ],
    [
      '§4.3.2 INIT-REBOOT, "no record of this client": silence',
      'request',
      4,
      { requested: '10.0.0.15' },
      'ignored unknown-client',
    ],
    ['§4.3.2 RENEWING or REBINDING', 'request', 1, { ciaddr: '10.0.0.10' }, 'ack 10.0.0.10 unicast 10.0.0.10:68'],
    [
      '§4.3.2 RENEWING, another address',
      'request',
      1,
      { ciaddr: '10.0.0.15' },
      'nak 0.0.0.0 broadcast 255.255.255.255:68 address-not-its-own',
    ],
    [
      '§4.3.2 RENEWING of a client that another server knew: silence',
      'request',
      4,
      { ciaddr: '10.0.0.15' },
      'ignored unknown-client',
    ],
    ['§4.3.2 RENEWING the address of another client', 'request', 4, { ciaddr: '10.0.0.10' }, 'ignored unknown-client'],
    ['§4.3.2 REQUEST of no address', 'request', 1, {}, 'ignored address-missing'],
    ['§4.3.2 SELECTING us, no address', 'request', 1, { server: us }, 'ignored address-missing'],
    ['§4.3.3 DECLINE', 'decline', 1, { server: us, requested: '10.0.0.10' }, 'decline 10.0.0.10'],
    ['§4.3.3 DECLINE of what was offered', 'decline', 3, { server: us, requested: '10.0.0.12' }, 'decline 10.0.0.12'],
    ['§4.3.3 DECLINE of another address', 'decline', 1, { server: us, requested: '10.0.0.15' }, 'ignored address-not-its-own'],
    ['§4.3.3 DECLINE of an unknown client', 'decline', 4, { server: us, requested: '10.0.0.10' }, 'ignored unknown-client'],
    [
      '§4.3.3 DECLINE to another server',
      'decline',
      1,
      { server: '10.0.0.2', requested: '10.0.0.10' },
      'ignored other-server-selected',
    ],
    ['§4.3.3 DECLINE without server', 'decline', 1, { requested: '10.0.0.10' }, 'ignored server-identifier-missing'],
    ['§4.3.3 DECLINE without address', 'decline', 1, { server: us }, 'ignored address-missing'],
    ['§4.3.4 RELEASE', 'release', 1, { server: us, ciaddr: '10.0.0.10' }, 'ignored lease-stays'],
    ['§4.3.4 RELEASE of another address', 'release', 1, { server: us, ciaddr: '10.0.0.15' }, 'ignored address-not-its-own'],
    ['§4.3.4 RELEASE of a lease that has ended', 'release', 2, { server: us, ciaddr: '10.0.0.11' }, 'ignored unknown-client'],
    ['§4.3.4 RELEASE without address', 'release', 1, { server: us }, 'ignored address-missing'],
    ['§4.3.4 RELEASE without server', 'release', 1, { ciaddr: '10.0.0.10' }, 'ignored server-identifier-missing'],
    ['§4.3.5 INFORM, no lease needed', 'inform', 4, { ciaddr: '10.0.0.200' }, 'ack 0.0.0.0 unicast 10.0.0.200:68'],
    ['§4.1 relayed DISCOVER', 'discover', 4, { giaddr: '10.0.0.254' }, 'offer 10.0.0.13 unicast 10.0.0.254:67'],
    [
      '§4.1 relayed REQUEST',
      'request',
      3,
      { giaddr: '10.0.0.254', server: us, requested: '10.0.0.12' },
      'ack 10.0.0.12 unicast 10.0.0.254:67',
    ],
    ['a relay that the pool does not allow', 'discover', 4, { giaddr: '192.0.2.1' }, 'dropped no-pool-for-relay'],
  ])('%s', (_title, type, client, fields, expected) => {
    const server = new OpenServer();
    expect([server.join(1), server.join(2)]).toEqual(['10.0.0.10', '10.0.0.11']);
    server.end(ip('10.0.0.11'));
    expect(shortOutcome(server.send('discover', 3))).toBe('offer 10.0.0.12');
    expect(server.send(type, client, fields)).toBe(expected);
  });

  it.each<[string, Fields]>([
    ['INIT-REBOOT', { requested: '10.0.0.15' }],
    ['RENEWING', { ciaddr: '10.0.0.15' }],
  ])('an authoritative pool refuses a client without a binding in %s', (_state, fields) => {
    expect(shortOutcome(new OpenServer({ authoritative: true }).send('request', 4, fields))).toBe(
      'nak 0.0.0.0 not-authorized-here',
    );
  });

  it('RFC 4039 §3: rapid commit records and acknowledges at once, where the pool allows it', () => {
    const server = new OpenServer({ rapidCommit: true });
    expect(shortOutcome(server.send('discover', 1, { rapid: true }))).toBe('ack 10.0.0.10');
    expect(server.stored).toHaveLength(1);
    expect(shortOutcome(new OpenServer().send('discover', 1, { rapid: true }))).toBe('offer 10.0.0.10');
    // RFC 8925: one that may do without IPv4 first decides whether it requests the address.
    const mostly = new OpenServer({ rapidCommit: true, options: { ipv6OnlyWaitSeconds: 300 } });
    expect(shortOutcome(mostly.send('discover', 1, { rapid: true, wishes: [108] }))).toBe('offer 10.0.0.10');
  });

  it('a pool without dynamic addresses answers unknown clients like a pool that is not open', () => {
    const server = new OpenServer({ dynamic: [] });
    expect(server.send('discover', 1)).toBe('ignored unknown-client');
    expect(server.send('request', 1, { requested: '10.0.0.15' })).toBe('ignored unknown-client');
  });
});

describe('RFC 2131 §4.2: the hardware address identifies a client, whatever client identifier it sends', () => {
  const DUID = [255, 0, 0, 0, 1, 0, 4, 9, 9];

  it.each([
    ['on the link', {}],
    ['behind a relay', { giaddr: '10.0.0.254' }],
  ])('hosts that send the same identifier get an address each, %s', (_title, place) => {
    const server = new OpenServer();
    expect([1, 2, 3].map((client) => server.join(client, { ...place, identifier: DUID }))).toEqual([
      ...['10.0.0.10', '10.0.0.11', '10.0.0.12'],
    ]);
    for (const client of [3, 2, 1]) {
      const renewal = { ...place, identifier: DUID, ciaddr: `10.0.0.${9 + client}` };
      expect(shortOutcome(server.send('request', client, renewal))).toBe(`ack 10.0.0.${9 + client}`);
    }
  });

  it('the firmware, the installer and the operating system of a host get the same address', () => {
    const server = new OpenServer();
    const identifiers = [undefined, [1, 2, 0, 0, 0, 0, 1], [0, 1, 2, 3], DUID, [1], Array.from({ length: 255 }, () => 1)];
    for (const identifier of identifiers) expect(server.join(1, identifier && { identifier })).toBe('10.0.0.10');
    expect(server.open.bindings.size).toBe(1);
  });

  it('a valid host name is recorded, and kept when the client later sends none', () => {
    const server = new OpenServer();
    server.join(1, { hostname: 'node-1' });
    server.send('request', 1, { ciaddr: '10.0.0.10' });
    server.join(2, { hostname: 'no name\n' });
    expect([...server.open.bindings.bindings()].map(({ hostname }) => hostname)).toEqual(['node-1', undefined]);
  });
});

describe('open pools that share an interface: 10.0.0.0/24 and 10.9.0.0/24', () => {
  const served = [
    servedPool(),
    servedPool({ name: 'second', cidr: '10.9.0.0/24', serverAddress: '10.9.0.1', dynamic: ['10.9.0.10-10.9.0.19'] }),
  ];
  const pools = new Map(served.map((each) => [each.pool.name, new OpenPool(each, [], 0)]));
  const send = (type: 'discover' | 'request', client: number, fields: Fields = {}, closed?: string): string => {
    const openPoolOf = (name: string) => (name === closed ? undefined : pools.get(name));
    const answer = answerOpenPacket(clientPacket(type, mac(client), fields), {
      pools: served,
      leaseOf: () => undefined,
      openPoolOf,
      nowMs: 0,
    });
    if (answer.kind === 'record') pools.get(answer.pool.name)?.recorded(answer.record, 0);
    return shortOutcome(outcomeOf(answer));
  };

  it('a new client gets the first pool, a client that is known in the second gets that; a relay and a named server decide', () => {
    expect(send('discover', 1)).toBe('offer 10.0.0.10');
    expect(send('discover', 2, { requested: '10.9.0.15' })).toBe('offer 10.9.0.15');
    expect(send('discover', 2)).toBe('offer 10.9.0.15');
    expect(send('request', 2, { server: '10.9.0.1', requested: '10.9.0.15' })).toBe('ack 10.9.0.15');
    expect(send('request', 2, { ciaddr: '10.9.0.15' })).toBe('ack 10.9.0.15');
    expect(send('request', 2, { requested: '10.0.0.15' })).toBe('nak 0.0.0.0 address-not-its-own');
    expect(send('discover', 3, { giaddr: '10.9.0.254' })).toBe('offer 10.9.0.10');
    expect(send('discover', 4, {}, 'net')).toBe('offer 10.9.0.11');
    expect(send('discover', 5, { giaddr: '10.0.0.254' }, 'net')).toBe('ignored unknown-client');
  });
});
