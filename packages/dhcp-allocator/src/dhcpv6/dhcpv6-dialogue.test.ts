/** What clients read, message by message. Sections are of RFC 8415. */
import { describe, expect, it } from 'vitest';
import {
  ADDRESS_A,
  ADDRESS_B,
  ask,
  association,
  clientIdentifier,
  DUID_OF_IMAGE,
  ip,
  MAC_A,
  MAC_B,
  MAC_UNKNOWN,
  POOL,
  packet,
  prefixAssociation,
  RELAY_ADDRESS,
  relay,
  relayed,
  requesting,
  SERVER,
  serverIdentifier,
  serving,
  whyNot,
} from './dhcpv6-fixtures.js';
import { serverIdentifierOf } from './dhcpv6-pool.js';
import { Dhcpv6Option, Dhcpv6Status, Dhcpv6Type } from './layout.js';

const OF_A = [[ADDRESS_A, 3_600, 7_200]] as const;
const ELSEWHERE = ip('2001:db8:9::5');
const RAPID = [Dhcpv6Option.rapidCommit, new Uint8Array(0)] as const;

describe('SOLICIT (§18.3.1, §18.3.9)', () => {
  const solicit = packet('solicit', clientIdentifier(), association(1));

  it('an ADVERTISE has the address of the MAC address, both identifiers and the highest preference', () => {
    const reply = ask(MAC_A, solicit);
    expect(reply).toMatchObject({ type: Dhcpv6Type.advertise, transactionId: 0xabcdef, port: 546, event: undefined });
    expect([reply.client, reply.server]).toEqual([DUID_OF_IMAGE, SERVER]);
    expect(reply.option(Dhcpv6Option.preference)).toEqual(Uint8Array.of(255));
    expect(reply.associations).toEqual([{ iaid: 1, t1: 1_800, t2: 2_880, addresses: OF_A, status: undefined }]);
  });

  it('an unknown client gets no reply: another server may know it', () => {
    expect(whyNot(MAC_UNKNOWN, solicit)).toBe('unknown-client');
  });

  it('rapid commit is answered by a REPLY where the pool allows it', () => {
    const rapid = packet('solicit', clientIdentifier(), RAPID, association(1));
    expect(ask(MAC_A, rapid)).toMatchObject({ type: Dhcpv6Type.advertise, event: undefined });
    const reply = ask(MAC_A, rapid, { server: serving({ ...POOL, rapidCommit: true }) });
    expect(reply).toMatchObject({ type: Dhcpv6Type.reply, event: 'assigned', address: ADDRESS_A });
    expect(reply.codes).toContain(Dhcpv6Option.rapidCommit);
    expect(reply.codes).not.toContain(Dhcpv6Option.preference);
    expect(ask(MAC_A, solicit, { server: serving({ ...POOL, rapidCommit: true }) })).toMatchObject({
      type: Dhcpv6Type.advertise,
    });
  });

  it('the association that names the address has it, else the first one', () => {
    const [first, second] = ask(MAC_A, packet('solicit', clientIdentifier(), association(1), association(2))).associations;
    expect([first?.addresses, second?.addresses]).toEqual([OF_A, []]);
    expect([first?.status, second?.status]).toEqual([undefined, Dhcpv6Status.noAddressesAvailable]);
    const named = packet('solicit', clientIdentifier(), association(1, ADDRESS_B), association(2, ADDRESS_A));
    expect(ask(MAC_A, named).associations.map(({ addresses }) => addresses)).toEqual([[], OF_A]);
  });

  it('a client that wants a prefix learns that there is none; one that wants nothing gets no reply', () => {
    const reply = ask(MAC_A, packet('solicit', clientIdentifier(), association(1), prefixAssociation(9)));
    const value = reply.option(Dhcpv6Option.delegatedPrefixes);
    expect(value?.subarray(0, 4)).toEqual(Uint8Array.of(0, 0, 0, 9));
    expect(value?.subarray(12)).toEqual(Uint8Array.of(0, 13, 0, 2, 0, Dhcpv6Status.noPrefixAvailable));
    expect(whyNot(MAC_A, packet('solicit', clientIdentifier()))).toBe('nothing-requested');
  });
});

describe('REQUEST (§18.3.2)', () => {
  const request = (...options: Parameters<typeof association>[]) =>
    packet('request', clientIdentifier(), serverIdentifier(), ...options.map((one) => association(...one)));

  it('the client gets its own address, whatever address of the link it asks for', () => {
    for (const hints of [[], [ADDRESS_A], [ADDRESS_B]]) {
      const reply = ask(MAC_A, request([1, ...hints]));
      expect(reply).toMatchObject({ type: Dhcpv6Type.reply, event: 'assigned', address: ADDRESS_A });
      expect(reply.associations[0]?.addresses).toEqual(OF_A);
    }
  });

  it('an address of another link gets NotOnLink in its association', () => {
    const reply = ask(MAC_A, request([1, ELSEWHERE]));
    expect(reply.associations).toEqual([{ iaid: 1, t1: 0, t2: 0, addresses: [], status: Dhcpv6Status.notOnLink }]);
    expect(reply.event).toBeUndefined();
    const [one, other] = ask(MAC_A, request([1, ELSEWHERE], [2])).associations;
    expect([one?.status, other?.addresses]).toEqual([Dhcpv6Status.notOnLink, OF_A]);
  });

  it('a client that is not declared any more gets NoAddrsAvail', () => {
    const reply = ask(MAC_UNKNOWN, request([1], [2]));
    expect(reply.associations.map(({ status }) => status)).toEqual([2, 2]);
    expect(reply.event).toBeUndefined();
  });

  it('a REQUEST to another server gets no reply', () => {
    const other = serverIdentifierOf('00000000-0000-0000-0000-000000000001');
    expect(whyNot(MAC_A, packet('request', clientIdentifier(), serverIdentifier(other), association(1)))).toBe(
      'other-server-selected',
    );
  });
});

describe('CONFIRM (§18.3.3)', () => {
  const confirm = (...addresses: readonly bigint[]) => packet('confirm', clientIdentifier(), association(1, ...addresses));

  it.each([
    ['a CONFIRM of addresses of the link, whoever has them', [ADDRESS_A, ADDRESS_B], Dhcpv6Status.success],
    ['a CONFIRM of an address of another link', [ADDRESS_A, ELSEWHERE], Dhcpv6Status.notOnLink],
  ])('%s', (_, addresses, status) => {
    const reply = ask(MAC_UNKNOWN, confirm(...addresses));
    expect(reply).toMatchObject({ type: Dhcpv6Type.reply, status, associations: [], event: undefined });
  });

  it('a CONFIRM without an address gets no reply', () => expect(whyNot(MAC_A, confirm())).toBe('nothing-to-confirm'));
});

describe.each(['renew', 'rebind'] as const)('%s (§18.3.4, §18.3.5)', (type) => {
  const extend = (...associations: Parameters<typeof association>[]) =>
    packet(
      type,
      clientIdentifier(),
      ...(type === 'renew' ? [serverIdentifier()] : []),
      ...associations.map((one) => association(...one)),
    );

  it('the lease is extended', () => {
    const reply = ask(MAC_A, extend([1, ADDRESS_A]));
    expect(reply).toMatchObject({ type: Dhcpv6Type.reply, event: 'assigned' });
    expect(reply.associations).toEqual([{ iaid: 1, t1: 1_800, t2: 2_880, addresses: OF_A, status: undefined }]);
  });

  it('a former address has lifetimes of 0 in the answer, and the new one is beside it', () => {
    for (const former of [ADDRESS_B, ELSEWHERE])
      expect(ask(MAC_A, extend([1, former])).associations[0]?.addresses).toEqual([...OF_A, [former, 0, 0]]);
  });

  it('an address in a second association is withdrawn', () => {
    const [one, other] = ask(MAC_A, extend([1, ADDRESS_A], [2, ADDRESS_B])).associations;
    expect([one?.addresses, other?.addresses]).toEqual([OF_A, [[ADDRESS_B, 0, 0]]]);
    expect(ask(MAC_A, extend([1, ADDRESS_A], [2])).associations[1]?.status).toBe(Dhcpv6Status.noBinding);
  });

  it('an unknown client gets NoBinding to a RENEW, and no reply to a REBIND, which all servers receive', () => {
    if (type === 'rebind') expect(whyNot(MAC_UNKNOWN, extend([1, ADDRESS_A]))).toBe('unknown-client');
    else expect(ask(MAC_UNKNOWN, extend([1, ADDRESS_A])).associations[0]?.status).toBe(Dhcpv6Status.noBinding);
  });
});

describe.each([
  ['release', 'released'],
  ['decline', 'declined'],
] as const)('%s (§18.3.7, §18.3.8)', (type, event) => {
  const giveBack = (...addresses: readonly bigint[]) =>
    packet(type, clientIdentifier(), serverIdentifier(), association(1, ...addresses));

  it('the own address is Success, and an event', () => {
    expect(ask(MAC_A, giveBack(ADDRESS_A))).toMatchObject({ status: 0, associations: [], event, address: ADDRESS_A });
  });

  it('an address of another client is NoBinding in the association, Success in the message, and no event', () => {
    const reply = ask(MAC_A, giveBack(ADDRESS_B));
    expect(reply).toMatchObject({ type: Dhcpv6Type.reply, status: 0, event: undefined });
    expect(reply.associations).toEqual([{ iaid: 1, t1: 0, t2: 0, addresses: [], status: Dhcpv6Status.noBinding }]);
    expect(ask(MAC_UNKNOWN, giveBack(ADDRESS_A)).event).toBeUndefined();
  });
});

describe('INFORMATION-REQUEST (§18.3.6)', () => {
  it('any client, with and without an identifier, gets options and a refresh time', () => {
    const reply = ask(MAC_UNKNOWN, packet('informationRequest', requesting(Dhcpv6Option.dnsServers)));
    expect(reply.codes).toEqual([Dhcpv6Option.serverIdentifier, Dhcpv6Option.informationRefreshTime, Dhcpv6Option.dnsServers]);
    expect(reply.option(Dhcpv6Option.informationRefreshTime)).toEqual(Uint8Array.of(0, 1, 0x51, 0x80));
    expect(ask(MAC_UNKNOWN, packet('informationRequest', clientIdentifier())).client).toEqual(DUID_OF_IMAGE);
    expect(ask(MAC_UNKNOWN, packet('informationRequest', serverIdentifier())).server).toEqual(SERVER);
  });
});

describe('ADDR-REG-INFORM (RFC 9686)', () => {
  const [, withAddress] = association(1, ELSEWHERE);
  const option = (address: bigint): readonly [number, Uint8Array] => {
    const [, value] = association(1, address);
    return [Dhcpv6Option.address, value.subarray(16)];
  };

  it('the same option comes back, and there is an event', () => {
    const own = ip('2001:db8::abcd');
    const reply = ask(MAC_A, packet('addressRegistrationInform', clientIdentifier(), option(own)), { address: own });
    expect(reply).toMatchObject({ type: Dhcpv6Type.addressRegistrationReply, event: 'registered', address: own });
    expect(reply.option(Dhcpv6Option.address)).toEqual(option(own)[1]);
  });

  it.each([
    ['from another address', [option(ip('2001:db8::abcd'))], ip('fe80::a'), 'source-address-other'],
    ['of another link', [option(ELSEWHERE)], ELSEWHERE, 'address-not-on-link'],
    ['without an address', [], ELSEWHERE, 'address-missing'],
    ['with two addresses', [option(ELSEWHERE), option(ELSEWHERE)], ELSEWHERE, 'address-missing'],
    ['with a short address', [[Dhcpv6Option.address, withAddress.subarray(0, 20)] as const], ELSEWHERE, 'address-missing'],
  ])('%s is ignored', (_, options, address, reason) => {
    const bytes = packet('addressRegistrationInform', clientIdentifier(), ...options);
    expect(whyNot(MAC_A, bytes, { address })).toBe(reason);
  });
});

describe('options of the pool', () => {
  it('clients that request options get them', () => {
    const codes = [23, 24, 31, 56, 59, 99];
    const reply = ask(MAC_A, packet('solicit', clientIdentifier(), association(1), requesting(...codes)));
    expect(reply.codes.filter((code) => codes.includes(code))).toEqual([23, 24, 31, 56, 59]);
    expect(reply.option(23)).toHaveLength(32);
    // RFC 8415 §10: names are not compressed.
    expect(Buffer.from(reply.option(24) ?? []).toString('latin1')).toBe(
      '\u0007example\u0003org\0\u0003lab\u0007example\u0003org\0',
    );
    expect(Buffer.from(reply.option(56) ?? []).toString('hex')).toBe('0001001020010db8000000000000000000000123');
    expect(Buffer.from(reply.option(59) ?? []).toString()).toBe('http://[2001:db8::80]/boot.efi');
  });

  it('options that the pool does not have are never sent empty', () => {
    const options = { dnsServers: [], domainSearch: [], ntpServers: [], bootFileUrl: undefined };
    const reply = ask(MAC_A, packet('solicit', clientIdentifier(), association(1), requesting(23, 24, 31, 56, 59)), {
      server: serving({ ...POOL, options }),
    });
    expect(reply.codes).toEqual([1, 2, 3, 7]);
  });
});

describe('relays (§18.4, §19)', () => {
  const solicit = packet('solicit', clientIdentifier(), association(1));
  const fromRelay = { address: RELAY_ADDRESS, port: 1_547 };

  it('the MAC address that the relay names is the client; interface identifiers come back, and the reply goes to port 547', () => {
    const outer = relay(undefined, { hopCount: 1, linkAddress: 0n, peerAddress: ip('2001:db8::1') });
    const reply = ask(MAC_UNKNOWN, relayed(solicit, outer, relay(MAC_B)), fromRelay);
    expect(reply.associations[0]?.addresses[0]?.[0]).toBe(ADDRESS_B);
    expect(reply.relays.map(({ hopCount, linkAddress, peerAddress }) => [hopCount, linkAddress, peerAddress])).toEqual([
      [1, 0n, ip('2001:db8::1')],
      [0, ip('2001:db8::1'), ip('fe80::a')],
    ]);
    for (const { options } of reply.relays) expect(options).toEqual([[Dhcpv6Option.interfaceIdentifier, Uint8Array.of(7, 7)]]);
    expect(reply.port).toBe(547);
  });

  it('RFC 8357: a relay that asks for it is answered at its own port', () => {
    const own: readonly [number, Uint8Array] = [Dhcpv6Option.relaySourcePort, Uint8Array.of(0, 0)];
    const asking = { ...relay(MAC_A), options: [...relay(MAC_A).options, own] };
    const reply = ask(MAC_UNKNOWN, relayed(solicit, asking), fromRelay);
    expect([reply.port, reply.relays[0]?.options.map(([code]) => code)]).toEqual([1_547, [18, 135]]);
  });

  it.each([
    ['RFC 6939: without the MAC address of the client', relayed(solicit, relay(undefined)), 'link-layer-address-missing'],
    [
      'the MAC address that another relay than the nearest names',
      relayed(solicit, relay(MAC_A), relay(undefined)),
      'link-layer-address-missing',
    ],
    ['of a link that is not served', relayed(solicit, relay(MAC_A, { linkAddress: ELSEWHERE })), 'link-not-served'],
    [
      'another hardware than Ethernet',
      relayed(solicit, relay(MAC_A, { options: [[79, Uint8Array.of(0, 6, 2, 0, 0, 0, 0, 10)]] })),
      'link-layer-address-missing',
    ],
    ['a group address', relayed(solicit, relay('03:00:00:00:00:0a')), 'link-layer-address-missing'],
  ])('%s: no reply', (_, bytes, reason) => expect(whyNot(MAC_A, bytes, fromRelay)).toBe(reason));

  it('a guest that plays a relay gets no reply', () => {
    expect(whyNot(MAC_UNKNOWN, relayed(solicit, relay(MAC_A)))).toBe('relay-not-allowed');
  });
});

describe('messages that no server answers (§16)', () => {
  const other = serverIdentifier();
  it.each([
    ['SOLICIT without a client identifier', packet('solicit', association(1)), 'client-identifier-missing'],
    ['SOLICIT to a server', packet('solicit', clientIdentifier(), other, association(1)), 'server-identifier-unexpected'],
    [
      'CONFIRM to a server',
      packet('confirm', clientIdentifier(), other, association(1, ADDRESS_A)),
      'server-identifier-unexpected',
    ],
    ['REBIND to a server', packet('rebind', clientIdentifier(), other, association(1)), 'server-identifier-unexpected'],
    ['REQUEST to nobody', packet('request', clientIdentifier(), association(1)), 'server-identifier-missing'],
    ['RENEW to nobody', packet('renew', clientIdentifier(), association(1)), 'server-identifier-missing'],
    ['RELEASE to nobody', packet('release', clientIdentifier(), association(1)), 'server-identifier-missing'],
    ['DECLINE to nobody', packet('decline', clientIdentifier(), association(1)), 'server-identifier-missing'],
    [
      'INFORMATION-REQUEST with an association',
      packet('informationRequest', clientIdentifier(), association(1)),
      'identity-association-unexpected',
    ],
    ['an empty DUID', packet('solicit', clientIdentifier(new Uint8Array(0)), association(1)), 'client-identifier-invalid'],
    [
      'a DUID of 131 octets',
      packet('solicit', clientIdentifier(new Uint8Array(131)), association(1)),
      'client-identifier-invalid',
    ],
    [
      'nine associations',
      packet('solicit', clientIdentifier(), ...Array.from({ length: 9 }, (_, one) => association(one))),
      'too-many-identity-associations',
    ],
    ['a short association', packet('solicit', clientIdentifier(), [3, new Uint8Array(11)]), 'identity-association-invalid'],
    [
      'a short prefix association',
      packet('solicit', clientIdentifier(), [25, new Uint8Array(11)]),
      'identity-association-invalid',
    ],
    [
      'an association in an association',
      packet('solicit', clientIdentifier(), [3, Uint8Array.of(...new Uint8Array(12), 0, 3, 0, 12, ...new Uint8Array(12))]),
      'identity-association-invalid',
    ],
    [
      'a short address in an association',
      packet('solicit', clientIdentifier(), [3, Uint8Array.of(...new Uint8Array(12), 0, 5, 0, 1, 0)]),
      'identity-association-invalid',
    ],
    [
      'an option that ends behind its association',
      packet('solicit', clientIdentifier(), [3, Uint8Array.of(...new Uint8Array(12), 0, 5, 0, 24, 0)]),
      'identity-association-invalid',
    ],
    ['ADVERTISE', packet('advertise', clientIdentifier(), other), 'message-type-unexpected'],
    ['REPLY', packet('reply', clientIdentifier(), other), 'message-type-unexpected'],
    ['RECONFIGURE', packet(10, clientIdentifier(), other), 'message-type-unexpected'],
    ['a type that is not defined', packet(200, clientIdentifier()), 'message-type-unexpected'],
    ['nothing', new Uint8Array(0), 'message-too-short'],
    ['a header of three octets', Uint8Array.of(1, 2, 3), 'message-too-short'],
    ['an option that is longer than the message', Uint8Array.of(1, 0, 0, 1, 0, 1, 0, 9, 0), 'option-truncated'],
    ['half of an option header', Uint8Array.of(1, 0, 0, 1, 0, 1), 'option-truncated'],
    ['a relay header of 33 octets', Uint8Array.of(12, ...new Uint8Array(32)), 'message-too-short'],
    ['a relay without a message', Uint8Array.of(12, ...new Uint8Array(33)), 'relay-message-missing'],
    ['a relay with half an option', Uint8Array.of(12, ...new Uint8Array(33), 0, 9, 0, 2, 1), 'option-truncated'],
    [
      'nine relays',
      relayed(packet('solicit', clientIdentifier(), association(1)), ...Array.from({ length: 9 }, () => relay(MAC_A))),
      'too-many-relays',
    ],
  ])('%s', (_, bytes, reason) => {
    expect(whyNot(MAC_A, bytes)).toBe(reason);
    // Each is followed by a normal exchange.
    expect(ask(MAC_A, packet('solicit', clientIdentifier(), association(1))).associations[0]?.addresses).toEqual(OF_A);
  });
});

describe('the server identifier', () => {
  it('RFC 6355 §4: it is the UUID of the pool', () => {
    expect(Buffer.from(SERVER).toString('hex')).toBe('00048e3ad0f26c1e4c2b9a550d6a3b1f7c10');
    expect(() => serverIdentifierOf('no-uuid')).toThrow("'no-uuid' is not a UUID");
  });

  it('two machines with one DUID have their own addresses', () => {
    const request = packet('request', clientIdentifier(), serverIdentifier(), association(1));
    expect([MAC_A, MAC_B].map((mac) => ask(mac, request).associations[0]?.addresses[0]?.[0])).toEqual([ADDRESS_A, ADDRESS_B]);
  });
});
