/** What clients read, message by message. Sections are of RFC 8415. */
import { describe, expect, it } from 'vitest';
import { formatIpv6Address } from '../address/ipv6-address.js';
import { ipv6AddressBeside, serverIdentifierOf } from '../pool/dhcpv6-pool.js';
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
import { Dhcpv6Option, Dhcpv6Status, Dhcpv6Type } from './layout.js';

const OF_A = [[ADDRESS_A, 3_600, 7_200]] as const;
const ELSEWHERE = ip('2001:db8:9::5');
/** The status in an IA_PD; undefined if there is no IA_PD. */
function prefixStatusOf({ option }: ReturnType<typeof ask>): number | undefined {
  const value = option(Dhcpv6Option.delegatedPrefixes);
  if (value === undefined) return undefined;
  expect([...value.subarray(12, 16)]).toEqual([0, Dhcpv6Option.statusCode, 0, 2]);
  return value[17];
}

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

  it('a client that wants prefixes, too, is not bound at once: it may choose a server that delegates them', () => {
    const rapid = packet('solicit', clientIdentifier(), RAPID, association(1), prefixAssociation(9));
    expect(ask(MAC_A, rapid, { server: serving({ ...POOL, rapidCommit: true }) })).toMatchObject({ type: Dhcpv6Type.advertise });
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

  it('a client that wants a prefix, too, learns that there is none here, and waits for other servers', () => {
    const reply = ask(MAC_A, packet('solicit', clientIdentifier(), association(1), prefixAssociation(9)));
    expect(prefixStatusOf(reply)).toBe(Dhcpv6Status.noPrefixAvailable);
    expect(reply.option(Dhcpv6Option.delegatedPrefixes)?.subarray(0, 4)).toEqual(Uint8Array.of(0, 0, 0, 9));
    expect(reply.codes).not.toContain(Dhcpv6Option.preference);
  });

  it.each([
    ['a prefix alone', [prefixAssociation(9)]],
    ['nothing', []],
  ])('a client that wants %s gets no reply', (_, wanted) => {
    expect(whyNot(MAC_A, packet('solicit', clientIdentifier(), ...wanted))).toBe('nothing-requested');
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

describe('an answer that assigns an address and ends none', () => {
  const [server, one, two] = [serverIdentifier(), association(1), association(2)];

  it.each<[string, boolean, string, Uint8Array]>([
    ['an ADVERTISE', true, MAC_A, packet('solicit', clientIdentifier(), one)],
    ['with a second association that gets none', true, MAC_A, packet('solicit', clientIdentifier(), one, two)],
    ['a REPLY', true, MAC_A, packet('request', clientIdentifier(), server, one)],
    ['the address is extended', true, MAC_A, packet('renew', clientIdentifier(), server, association(1, ADDRESS_A))],
    ['another address is withdrawn', false, MAC_A, packet('renew', clientIdentifier(), server, association(1, ADDRESS_B))],
    ['NoAddrsAvail', false, MAC_UNKNOWN, packet('request', clientIdentifier(), server, one)],
    ['NotOnLink beside it', false, MAC_A, packet('request', clientIdentifier(), server, association(1, ELSEWHERE), two)],
    ['NoBinding', false, MAC_UNKNOWN, packet('renew', clientIdentifier(), server, one)],
    ['a RELEASE', false, MAC_A, packet('release', clientIdentifier(), server, association(1, ADDRESS_A))],
    ['a CONFIRM', false, MAC_A, packet('confirm', clientIdentifier(), association(1, ADDRESS_A))],
    ['options alone', false, MAC_A, packet('informationRequest', clientIdentifier())],
  ])('%s: %s', (_, isAssignment, macAddress, bytes) => {
    expect(ask(macAddress, bytes).isAssignment).toBe(isAssignment);
  });
});

describe('prefixes, which this server does not delegate', () => {
  it.each([
    ['request', [serverIdentifier()], Dhcpv6Status.noPrefixAvailable],
    ['renew', [serverIdentifier()], Dhcpv6Status.noBinding],
    ['release', [serverIdentifier()], Dhcpv6Status.noBinding],
    ['decline', [serverIdentifier()], Dhcpv6Status.noBinding],
    // All servers receive these: another one may have delegated it.
    ['rebind', [], undefined],
    ['confirm', [], undefined],
  ] as const)('%s: the status of an IA_PD', (type, identifiers, status) => {
    const bytes = packet(type, clientIdentifier(), ...identifiers, association(1, ADDRESS_A), prefixAssociation(9));
    expect(prefixStatusOf(ask(MAC_A, bytes))).toBe(status);
  });

  it('a REBIND for a prefix alone gets no reply', () => {
    expect(whyNot(MAC_A, packet('rebind', clientIdentifier(), prefixAssociation(9)))).toBe('nothing-requested');
  });
});

describe('CONFIRM (§18.3.3)', () => {
  const confirm = (...addresses: readonly bigint[]) => packet('confirm', clientIdentifier(), association(1, ...addresses));

  it.each([
    ['a CONFIRM of addresses of the link, one of which another server assigned', [ADDRESS_A, ADDRESS_B], Dhcpv6Status.success],
    ['a CONFIRM of an address that is another client’s now', [ADDRESS_B], Dhcpv6Status.notOnLink],
    ['a CONFIRM of an address of another link', [ADDRESS_A, ELSEWHERE], Dhcpv6Status.notOnLink],
  ])('%s', (_, addresses, status) => {
    const reply = ask(MAC_A, confirm(...addresses));
    expect(reply).toMatchObject({ type: Dhcpv6Type.reply, status, associations: [], event: undefined });
  });

  it('a CONFIRM of an unknown client gets no reply: another server may know it, and its prefix', () => {
    for (const address of [ADDRESS_A, ELSEWHERE]) expect(whyNot(MAC_UNKNOWN, confirm(address))).toBe('unknown-client');
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
  it('a client, with and without an identifier, gets options and a refresh time; an unknown one does not', () => {
    expect(whyNot(MAC_UNKNOWN, packet('informationRequest', clientIdentifier()))).toBe('unknown-client');
    const reply = ask(MAC_A, packet('informationRequest', requesting(Dhcpv6Option.dnsServers)));
    expect(reply.codes).toEqual([Dhcpv6Option.serverIdentifier, Dhcpv6Option.informationRefreshTime, Dhcpv6Option.dnsServers]);
    expect(reply.option(Dhcpv6Option.informationRefreshTime)).toEqual(Uint8Array.of(0, 1, 0x51, 0x80));
    expect(ask(MAC_A, packet('informationRequest', clientIdentifier())).client).toEqual(DUID_OF_IMAGE);
    expect(ask(MAC_A, packet('informationRequest', serverIdentifier())).server).toEqual(SERVER);
  });
});

describe('ADDR-REG-INFORM (RFC 9686)', () => {
  const own = ip('2001:db8::abcd');
  /** IA Address. @param lifetime - the last octet of the valid lifetime. */
  const option = (address: bigint, lifetime = 9): readonly [number, Uint8Array] => {
    const value = association(1, address)[1].slice(16);
    value[23] = lifetime;
    return [Dhcpv6Option.address, value];
  };

  it.each([
    [9, 'registered'],
    [0, 'unregistered'],
  ])('the same option comes back, and there is an event: valid lifetime %i, %s', (lifetime, event) => {
    const bytes = packet('addressRegistrationInform', clientIdentifier(), option(own, lifetime));
    const reply = ask(MAC_A, bytes, { address: own });
    expect(reply).toMatchObject({ type: Dhcpv6Type.addressRegistrationReply, event, address: own });
    expect(reply.option(Dhcpv6Option.address)).toEqual(option(own, lifetime)[1]);
  });

  it('clients learn whether they may register addresses, if they ask', () => {
    const asking = packet('informationRequest', requesting(Dhcpv6Option.addressRegistration));
    expect(ask(MAC_A, asking).option(Dhcpv6Option.addressRegistration)).toEqual(new Uint8Array(0));
    const server = serving({ ...POOL, addressRegistration: false });
    expect(ask(MAC_A, asking, { server }).codes).not.toContain(Dhcpv6Option.addressRegistration);
    const inform = packet('addressRegistrationInform', clientIdentifier(), option(own));
    expect(whyNot(MAC_A, inform, { server, address: own })).toBe('registration-not-enabled');
  });

  it.each([
    ['from another address', [option(own)], ip('fe80::a'), 'source-address-other'],
    ['of another link', [option(ELSEWHERE)], ELSEWHERE, 'address-not-on-link'],
    ['without an address', [], ELSEWHERE, 'address-missing'],
    ['with two addresses', [option(own), option(own)], own, 'address-missing'],
    ['with a short address', [[Dhcpv6Option.address, new Uint8Array(23)] as const], own, 'address-missing'],
    ['to a server', [option(own), serverIdentifier()], own, 'server-identifier-unexpected'],
    ['with a request for options', [option(own), requesting(23)], own, 'requested-options-unexpected'],
  ])('%s: no reply', (_, options, address, reason) => {
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

  it('RFC 5908 §4: each NTP server is an option of its own', () => {
    const options = { ...POOL.options, ntpServers: [ip('2001:db8::123'), ip('2001:db8::124')] };
    const reply = ask(MAC_A, packet('solicit', clientIdentifier(), association(1), requesting(56)), {
      server: serving({ ...POOL, options }),
    });
    expect(reply.codes.filter((code) => code === 56)).toHaveLength(2);
    expect(Buffer.from(reply.option(56) ?? []).toString('hex')).toBe('0001001020010db8000000000000000000000123');
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
  const SECOND_RELAY = ip('2001:db8:f::2');
  const fromRelay = { address: RELAY_ADDRESS, port: 1_547 };

  it('the MAC address that the relay names is the client; interface identifiers come back, and the reply goes to port 547', () => {
    const outer = relay(undefined, { hopCount: 1, linkAddress: 0n, peerAddress: SECOND_RELAY });
    const reply = ask(MAC_UNKNOWN, relayed(solicit, outer, relay(MAC_B)), fromRelay);
    expect(reply.associations[0]?.addresses[0]?.[0]).toBe(ADDRESS_B);
    expect(reply.relays.map(({ hopCount, linkAddress, peerAddress }) => [hopCount, linkAddress, peerAddress])).toEqual([
      [1, 0n, SECOND_RELAY],
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
      relayed(solicit, relay(MAC_A, { peerAddress: SECOND_RELAY }), relay(undefined)),
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

  it('a relay that names no link gets no reply', () => {
    expect(whyNot(MAC_A, relayed(solicit, relay(MAC_A, { linkAddress: 0n })), fromRelay)).toBe('link-not-served');
  });

  it('a guest behind a relay that plays another relay gets no reply: it could name any MAC address', () => {
    const forged = relay(MAC_A, { peerAddress: ip('fe80::a') });
    const genuine = relay(MAC_UNKNOWN, { hopCount: 1, peerAddress: ip('fe80::66') });
    expect(whyNot(MAC_UNKNOWN, relayed(solicit, genuine, forged), fromRelay)).toBe('relay-not-allowed');
  });

  it.each([
    ['a RELAY-REPL', [{ ...relay(MAC_A), type: Dhcpv6Type.relayReply }]],
    [
      'a RELAY-REPL in a RELAY-FORW',
      [relay(MAC_A, { peerAddress: SECOND_RELAY }), { ...relay(MAC_A), type: Dhcpv6Type.relayReply }],
    ],
  ])('%s gets no reply', (_, relays) => {
    expect(whyNot(MAC_A, relayed(solicit, ...relays), fromRelay)).toBe('message-type-unexpected');
  });

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
    [
      'INFORMATION-REQUEST with an IA_TA',
      packet('informationRequest', [4, new Uint8Array(4)]),
      'identity-association-unexpected',
    ],
    ['more than 8,192 octets', packet('solicit', clientIdentifier(), [99, new Uint8Array(8_192)]), 'message-too-long'],
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

describe('messages at the limits', () => {
  it.each([
    ['a DUID of 130 octets', packet('solicit', clientIdentifier(new Uint8Array(130)), association(1))],
    ['a DUID of three octets', packet('solicit', clientIdentifier(new Uint8Array(3)), association(1))],
    ['eight associations', packet('solicit', clientIdentifier(), ...Array.from({ length: 8 }, (_, one) => association(one)))],
    [
      'eight prefix associations and addresses',
      packet('solicit', clientIdentifier(), association(1), ...Array.from({ length: 7 }, (_, one) => prefixAssociation(one))),
    ],
  ])('%s: the client has its address', (_, bytes) => {
    expect(ask(MAC_A, bytes).associations[0]?.addresses).toEqual(OF_A);
  });

  it('nine associations of both kinds are too many', () => {
    const bytes = packet(
      'solicit',
      clientIdentifier(),
      association(1),
      ...Array.from({ length: 8 }, (_, one) => prefixAssociation(one)),
    );
    expect(whyNot(MAC_A, bytes)).toBe('too-many-identity-associations');
  });
});

describe('an address that corresponds to an IPv4 address', () => {
  const [subnet, prefix] = [
    { network: 0xc0a83000, prefixLength: 24 },
    { network: ip('2001:db8:48::'), prefixLength: 64 },
  ];
  it.each([
    ['192.168.48.17 is as far from the start of its subnet', 0xc0a83011, '2001:db8:48::11'],
    ['the last one too', 0xc0a830fe, '2001:db8:48::fe'],
    ['one outside of the subnet has none', 0xc0a83101, undefined],
  ])('%s', (_, address, expected) => {
    const found = ipv6AddressBeside({ cidr: subnet, dhcpv6: { prefix } }, address);
    expect(found && formatIpv6Address(found)).toBe(expected);
  });
});

describe('the server identifier', () => {
  it('RFC 6355 §4: it is the UUID of the pool', () => {
    expect(Buffer.from(SERVER).toString('hex')).toBe('00048e3ad0f26c1e4c2b9a550d6a3b1f7c10');
  });

  it.each([
    ['', '00046c62272e07bb014262b821756295c58d'],
    ['a', '0004d228cb696f1a8caf78912b704e4a8964'],
    ['foobar', '0004343e1662793c64bf6f0d3597ba446f18'],
  ])('is a hash of a text that is not a UUID: the test vectors of FNV-1a, %j', (text, identifier) => {
    expect(Buffer.from(serverIdentifierOf(text)).toString('hex')).toBe(identifier);
  });

  it('two machines with one DUID have their own addresses', () => {
    const request = packet('request', clientIdentifier(), serverIdentifier(), association(1));
    expect([MAC_A, MAC_B].map((mac) => ask(mac, request).associations[0]?.addresses[0]?.[0])).toEqual([ADDRESS_A, ADDRESS_B]);
  });
});
