import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatIpv4Address, parseIpv4Address } from '../address/ipv4-address.js';
import { macAddressBytes } from '../address/mac-address.js';
import { LeaseTable } from '../lease/lease-table.js';
import { decodeText } from '../options/text.js';
import type { PoolDefinition } from '../pool/pool-definition.js';
import { validatePool } from '../pool/validate-pool.js';
import { toBytes } from '../wire/big-endian.js';
import { decodeMessage } from '../wire/decode-message.js';
import type { DhcpMessage } from '../wire/dhcp-message.js';
import { DhcpOptions } from '../wire/dhcp-options.js';
import { encodeMessage } from '../wire/encode-message.js';
import { type MessageType, MessageTypeCode, messageTypeOf, OptionCode } from '../wire/layout.js';
import { type Answer, answerPacket } from './answer-packet.js';
import { ServedPool } from './served-pool.js';

const VM_A = '02:00:00:00:00:0a';
const UNKNOWN = '02:00:00:00:00:ff';
const ip = (text: string): number => parseIpv4Address(text) as number;

interface Fields {
  readonly mac?: string;
  readonly ciaddr?: string;
  readonly requested?: string;
  readonly server?: string;
  readonly giaddr?: string;
  readonly flags?: number;
  readonly hlen?: number;
  readonly op?: number;
  readonly wishes?: readonly number[];
  readonly more?: readonly (readonly [number, Uint8Array])[];
}

/** A client's message; what is left out is as a client that knows nothing sends it. */
function packet(type: MessageType, fields: Fields = {}): Uint8Array {
  const options: (readonly [number, Uint8Array])[] = [[OptionCode.messageType, Uint8Array.of(MessageTypeCode[type])]];
  if (fields.requested !== undefined) options.push([OptionCode.requestedAddress, toBytes(ip(fields.requested), 4)]);
  if (fields.server !== undefined) options.push([OptionCode.serverIdentifier, toBytes(ip(fields.server), 4)]);
  if (fields.wishes !== undefined) options.push([OptionCode.parameterRequestList, Uint8Array.from(fields.wishes)]);
  const message: DhcpMessage = {
    op: fields.op ?? 1,
    htype: 1,
    hlen: fields.hlen ?? 6,
    hops: 0,
    xid: 0x1234_5678,
    secs: 3,
    flags: fields.flags ?? 0,
    ciaddr: fields.ciaddr === undefined ? 0 : ip(fields.ciaddr),
    yiaddr: 0,
    siaddr: 0,
    giaddr: fields.giaddr === undefined ? 0 : ip(fields.giaddr),
    chaddr: macAddressBytes(fields.mac ?? VM_A),
    sname: new Uint8Array(0),
    file: new Uint8Array(0),
    options: DhcpOptions.of([...options, ...(fields.more ?? [])]),
  };
  return encodeMessage(message).bytes;
}

/** We are 10.0.0.1; vm-a leases 10.0.0.10. */
function server(definition: Partial<PoolDefinition> = {}): (bytes: Uint8Array) => Answer {
  const checked = validatePool({
    name: 'net',
    cidr: '10.0.0.0/24',
    serverAddress: '10.0.0.1',
    leaseTimeSeconds: 3600,
    ...definition,
  });
  if (!checked.ok) throw new Error(JSON.stringify(checked.problems));
  const leases = new LeaseTable();
  leases.replacePool('net', [{ macAddress: VM_A, address: ip('10.0.0.10'), hostname: 'vm-a' }]);
  const pools = [new ServedPool(checked.value)];
  return (bytes) => answerPacket(bytes, { pools, leaseOf: (pool, mac) => leases.lookup(pool, mac) });
}

/** The answer in one line: what, to whom, or why not. */
function outcome(answer: Answer): string {
  if (answer.kind === 'dropped' || answer.kind === 'ignored') return `${answer.kind} ${answer.reason}`;
  if (answer.kind === 'noted') return answer.decision.kind;
  const reply = decoded(answer.bytes);
  const type = messageTypeOf(reply.options.uint8(OptionCode.messageType) ?? 0);
  const { kind, address, port } = answer.destination;
  return `${type} ${formatIpv4Address(reply.yiaddr)} ${kind} ${formatIpv4Address(address)}:${port}`;
}

function decoded(bytes: Uint8Array): DhcpMessage {
  const result = decodeMessage(bytes);
  if (!result.ok) throw new Error(result.reason);
  return result.message;
}

function replyOf(answer: Answer): DhcpMessage {
  if (answer.kind !== 'reply') throw new Error(outcome(answer));
  return decoded(answer.bytes);
}

describe('RFC 2131 §4.3: we are 10.0.0.1, vm-a leases 10.0.0.10', () => {
  const us = '10.0.0.1';
  const ours = '10.0.0.10';
  it.each<[string, Uint8Array, string]>([
    ['§4.3.1 DISCOVER', packet('discover'), 'offer 10.0.0.10 link 10.0.0.10:68'],
    [
      '§4.3.1 DISCOVER, wishing for another address',
      packet('discover', { requested: '10.0.0.77' }),
      'offer 10.0.0.10 link 10.0.0.10:68',
    ],
    ['§4.1 DISCOVER, broadcast flag', packet('discover', { flags: 0x8000 }), 'offer 10.0.0.10 broadcast 255.255.255.255:68'],
    [
      'a DISCOVER with a foreign address in ciaddr',
      packet('discover', { ciaddr: '8.8.8.8' }),
      'offer 10.0.0.10 link 10.0.0.10:68',
    ],
    ['§4.3.1 DISCOVER of an unknown client', packet('discover', { mac: UNKNOWN }), 'ignored unknown-client'],
    ['§4.3.2 SELECTING us', packet('request', { server: us, requested: ours }), 'ack 10.0.0.10 link 10.0.0.10:68'],
    ['§4.3.2 SELECTING another', packet('request', { server: '10.0.0.2', requested: ours }), 'ignored other-server-selected'],
    [
      '§3.1 SELECTING us, wrong address',
      packet('request', { server: us, requested: '10.0.0.11' }),
      'nak 0.0.0.0 broadcast 255.255.255.255:68',
    ],
    [
      '§3.1 SELECTING us, no lease',
      packet('request', { mac: UNKNOWN, server: us, requested: ours }),
      'nak 0.0.0.0 broadcast 255.255.255.255:68',
    ],
    ['§4.3.2 INIT-REBOOT', packet('request', { requested: ours }), 'ack 10.0.0.10 link 10.0.0.10:68'],
    ['§4.3.2 INIT-REBOOT, stale', packet('request', { requested: '10.0.0.99' }), 'nak 0.0.0.0 broadcast 255.255.255.255:68'],
    [
      '§4.3.2 INIT-REBOOT, wrong network',
      packet('request', { requested: '192.168.1.5' }),
      'nak 0.0.0.0 broadcast 255.255.255.255:68',
    ],
    ['§4.3.2 INIT-REBOOT of an unknown client', packet('request', { mac: UNKNOWN, requested: ours }), 'ignored unknown-client'],
    ['§4.3.2 RENEWING or REBINDING', packet('request', { ciaddr: ours }), 'ack 10.0.0.10 unicast 10.0.0.10:68'],
    ['§4.3.2 RENEWING, wrong address', packet('request', { ciaddr: '10.0.0.12' }), 'nak 0.0.0.0 broadcast 255.255.255.255:68'],
    ['§4.3.2 REBINDING of an unknown client', packet('request', { mac: UNKNOWN, ciaddr: ours }), 'ignored unknown-client'],
    ['§4.3.2 REQUEST of no address', packet('request'), 'ignored address-missing'],
    ['§4.3.3 DECLINE', packet('decline', { server: us, requested: ours }), 'decline'],
    [
      '§4.3.3 DECLINE of another address',
      packet('decline', { server: us, requested: '10.0.0.9' }),
      'ignored address-not-its-own',
    ],
    [
      '§4.3.3 DECLINE to another server',
      packet('decline', { server: '10.0.0.2', requested: ours }),
      'ignored other-server-selected',
    ],
    [
      '§4.3.3 DECLINE of an unknown client',
      packet('decline', { mac: UNKNOWN, server: us, requested: ours }),
      'ignored unknown-client',
    ],
    ['§4.3.4 RELEASE', packet('release', { server: us, ciaddr: ours }), 'release'],
    ['§4.3.4 RELEASE of another address', packet('release', { server: us, ciaddr: '10.0.0.9' }), 'ignored address-not-its-own'],
    ['§4.3.4 RELEASE without server', packet('release', { ciaddr: ours }), 'ignored server-identifier-missing'],
    [
      '§4.3.5 INFORM, no lease needed',
      packet('inform', { mac: UNKNOWN, ciaddr: '10.0.0.200' }),
      'ack 0.0.0.0 unicast 10.0.0.200:68',
    ],
    [
      '§4.3.5 INFORM from the broadcast address',
      packet('inform', { ciaddr: '10.0.0.255' }),
      'ignored client-not-on-this-network',
    ],
    ['§4.3.5 INFORM in our name', packet('inform', { ciaddr: us }), 'ignored client-not-on-this-network'],
    ['§4.3.5 INFORM from elsewhere', packet('inform', { ciaddr: '10.9.0.200' }), 'ignored client-not-on-this-network'],
    ['§4.1 relayed DISCOVER', packet('discover', { giaddr: '10.0.0.254' }), 'offer 10.0.0.10 unicast 10.0.0.254:67'],
    [
      'RFC 3527: the link names the subnet, but does not decide where the reply may go',
      packet('discover', { giaddr: '192.0.2.1', more: [[82, Uint8Array.of(5, 4, 10, 0, 0, 0)]] }),
      'dropped relay-not-allowed',
    ],
    [
      'RFC 3527: a link of 0.0.0.0 names none',
      packet('discover', { giaddr: '192.0.2.1', more: [[82, Uint8Array.of(5, 4, 0, 0, 0, 0)]] }),
      'dropped no-pool-for-relay',
    ],
    ['§4.1 relay of no pool', packet('discover', { giaddr: '10.7.0.1' }), 'dropped no-pool-for-relay'],
    ['a reply sent to a server', packet('discover', { op: 2 }), 'dropped not-a-request'],
    ['an OFFER sent to a server', packet('offer'), 'dropped message-type-of-a-server'],
    ['hlen 0', packet('discover', { hlen: 0 }), 'dropped hardware-unsupported'],
    ['hlen 16', packet('discover', { hlen: 16 }), 'dropped hardware-unsupported'],
    ['hlen 255', packet('discover', { hlen: 255 }), 'dropped hardware-length-invalid'],
    ['option 82 malformed', packet('discover', { more: [[82, Uint8Array.of(1, 9, 1)]] }), 'dropped relay-information-malformed'],
    ['option 53 twice', packet('discover', { more: [[53, Uint8Array.of(3)]] }), 'dropped message-type-invalid'],
    ['option 50 of three octets', packet('request', { more: [[50, Uint8Array.of(1, 2, 3)]] }), 'dropped option-length-invalid'],
  ])('%s', (_name, bytes, expected) => {
    const answer = server();
    expect(outcome(answer(bytes))).toBe(expected);
    expect(outcome(answer(packet('discover')))).toBe('offer 10.0.0.10 link 10.0.0.10:68');
  });

  it('RFC 3527: the link names the subnet, and the reply goes to a relay that the pool allows', () => {
    const relayed = packet('discover', { giaddr: '192.0.2.1', more: [[82, Uint8Array.of(5, 4, 10, 0, 0, 0)]] });
    expect(outcome(server({ relays: ['192.0.2.0/24'] })(relayed))).toBe('offer 10.0.0.10 unicast 192.0.2.1:67');
  });

  it('an authoritative pool refuses unknown clients with a NAK', () => {
    const answer = server({ authoritative: true });
    expect(outcome(answer(packet('request', { mac: UNKNOWN, requested: ours })))).toBe(
      'nak 0.0.0.0 broadcast 255.255.255.255:68',
    );
    expect(outcome(answer(packet('discover', { mac: UNKNOWN })))).toBe('ignored unknown-client');
    expect(outcome(answer(packet('request', { mac: UNKNOWN, server: '10.0.0.2', requested: ours })))).toBe(
      'ignored other-server-selected',
    );
  });

  it('§4.3.2 a NAK through a relay has the broadcast bit set', () => {
    const reply = replyOf(server()(packet('request', { giaddr: '10.0.0.254', requested: '10.0.0.99' })));
    expect(reply.flags & 0x8000).toBe(0x8000);
    expect(decodeText(reply.options.get(OptionCode.message) ?? new Uint8Array(0))).toBe(
      'the claimed address is not assigned to this client',
    );
    expect(reply.options.has(OptionCode.leaseTime)).toBe(false);
  });
});

describe('two pools on one network: we are 10.0.0.1 and 10.9.0.1', () => {
  const second = validatePool({ name: 'second', cidr: '10.9.0.0/24', serverAddress: '10.9.0.1' });
  const first = validatePool({ name: 'first', cidr: '10.0.0.0/24', serverAddress: '10.0.0.1' });
  if (!first.ok || !second.ok) throw new Error('no pools');
  const leases = new LeaseTable();
  leases.replacePool('first', [{ macAddress: VM_A, address: ip('10.0.0.10') }]);
  leases.replacePool('second', [
    { macAddress: VM_A, address: ip('10.9.0.10') },
    { macAddress: UNKNOWN, address: ip('10.9.0.11') },
  ]);
  const pools = [new ServedPool(first.value), new ServedPool(second.value)];
  const answer = (bytes: Uint8Array) => answerPacket(bytes, { pools, leaseOf: (pool, mac) => leases.lookup(pool, mac) });

  it.each<[string, Uint8Array, string]>([
    ['a client with a lease in both gets the first', packet('discover'), 'offer 10.0.0.10 link 10.0.0.10:68'],
    ['renews the second if it has that', packet('request', { ciaddr: '10.9.0.10' }), 'ack 10.9.0.10 unicast 10.9.0.10:68'],
    ['also after a restart', packet('request', { requested: '10.9.0.10' }), 'ack 10.9.0.10 link 10.9.0.10:68'],
    [
      'a client with a lease in the second alone gets that',
      packet('discover', { mac: UNKNOWN }),
      'offer 10.9.0.11 link 10.9.0.11:68',
    ],
    [
      'INFORM is answered by the pool of its address',
      packet('inform', { ciaddr: '10.9.0.200' }),
      'ack 0.0.0.0 unicast 10.9.0.200:68',
    ],
    ['a relay names the network', packet('discover', { giaddr: '10.9.0.254' }), 'offer 10.9.0.10 unicast 10.9.0.254:67'],
    [
      'RFC 2131 §4.3.2: a client that moved between subnets',
      packet('request', { giaddr: '10.9.0.254', requested: '10.0.0.10' }),
      'nak 0.0.0.0 unicast 10.9.0.254:67',
    ],
    [
      'SELECTING the second server, whose lease is another',
      packet('request', { server: '10.9.0.1', requested: '10.9.0.50' }),
      'nak 0.0.0.0 broadcast 255.255.255.255:68',
    ],
    [
      'SELECTING the first server, which has no lease for it',
      packet('request', { mac: UNKNOWN, server: '10.0.0.1', requested: '10.0.0.10' }),
      'nak 0.0.0.0 broadcast 255.255.255.255:68',
    ],
  ])('%s', (_name, bytes, expected) => expect(outcome(answer(bytes))).toBe(expected));

  it('an unknown client belongs to the pool whose address it claims', () => {
    const authoritative = (name: string, prefix: string, is: boolean) => {
      const checked = validatePool({ name, cidr: `${prefix}.0/24`, serverAddress: `${prefix}.1`, authoritative: is });
      if (!checked.ok) throw new Error('no pool');
      return new ServedPool(checked.value);
    };
    const claim = packet('request', { mac: '02:00:00:00:00:cc', requested: '10.9.0.50' });
    const answerOf = (first: boolean, other: boolean) =>
      outcome(
        answerPacket(claim, {
          pools: [authoritative('first', '10.0.0', first), authoritative('second', '10.9.0', other)],
          leaseOf: () => undefined,
        }),
      );
    expect(answerOf(true, false)).toBe('ignored unknown-client');
    expect(answerOf(false, true)).toMatch(/^nak/);
  });
});

describe('what replies carry', () => {
  const full: Partial<PoolDefinition> = {
    options: {
      router: '10.0.0.254',
      dnsServers: ['10.0.0.53', '10.0.1.53'],
      domainName: 'lab.example.org',
      domainSearch: ['lab.example.org', 'example.org'],
      mtu: 1450,
      nextServer: '10.0.0.69',
      bootFile: 'pxelinux.0',
      bootByArchitecture: [{ architecture: 7, bootFile: 'grub.efi' }],
    },
  };
  const codes = (message: DhcpMessage): number[] => [...message.options].map(([code]) => code);

  it('RFC 2132 §9.8: the order of the parameter request list, and nothing the pool does not have', () => {
    const reply = replyOf(server(full)(packet('discover', { wishes: [6, 3, 42, 15, 26] })));
    expect(codes(reply)).toEqual([53, 54, 51, 58, 59, 6, 1, 3, 15, 26]);
    expect(reply.options.uint32(OptionCode.renewalTime)).toBe(1800);
    expect(reply.options.uint32(OptionCode.rebindingTime)).toBe(3150);
  });

  it('a client without wishes gets everything, and its host name', () => {
    expect(codes(replyOf(server(full)(packet('discover'))))).toEqual([
      53, 54, 51, 58, 59, 1, 3, 6, 15, 119, 26, 28, 66, 150, 67, 12,
    ]);
  });

  it('a pool without a router sends no option 3', () => {
    expect(replyOf(server()(packet('discover', { wishes: [1, 3, 6] }))).options.has(3)).toBe(false);
  });

  it('RFC 6842 §3, RFC 3046 §2.2: 61 and 82 come back as they were, 82 last', () => {
    const more = [
      [82, Uint8Array.of(1, 2, 7, 7)],
      [61, Uint8Array.of(255, 0, 1, 2)],
    ] as const;
    for (const bytes of [packet('discover', { more }), packet('request', { requested: '10.0.0.99', more })]) {
      const reply = replyOf(server()(bytes));
      expect(codes(reply).slice(-2)).toEqual([61, 82]);
      expect(reply.options.get(61)).toEqual(more[1][1]);
      expect(reply.options.get(82)).toEqual(more[0][1]);
    }
  });

  it('RFC 4578: boot settings by client architecture, general ones for the rest', () => {
    const answer = server(full);
    const efi = replyOf(answer(packet('discover', { more: [[93, Uint8Array.of(0, 7)]] })));
    expect([decodeText(efi.file), formatIpv4Address(efi.siaddr)]).toEqual(['grub.efi', '10.0.0.69']);
    const both = replyOf(answer(packet('discover', { more: [[93, Uint8Array.of(0, 7, 0, 16)]] })));
    expect(decodeText(both.file)).toBe('grub.efi');
    // A client that names no architecture never gets the options remembered for one, in whatever order they come.
    const order = server(full);
    const wishes = [66, 67];
    replyOf(order(packet('discover', { wishes, more: [[93, Uint8Array.of(0, 7, 0, 0)]] })));
    expect(decodeText(replyOf(order(packet('discover', { wishes }))).options.get(67) ?? new Uint8Array(0))).toBe('pxelinux.0');
    const bios = replyOf(answer(packet('discover', { more: [[93, Uint8Array.of(0, 0)]] })));
    expect(decodeText(bios.file)).toBe('pxelinux.0');
  });

  it('§4.3.5: an answer to INFORM has no lease time and no address', () => {
    const reply = replyOf(server(full)(packet('inform', { ciaddr: '10.0.0.200' })));
    expect(codes(reply)).toEqual([53, 54, 1, 3, 6, 15, 119, 26, 28, 66, 150, 67]);
    expect([reply.yiaddr, reply.ciaddr]).toEqual([0, ip('10.0.0.200')]);
  });

  it('RFC 4039 §3: rapid commit only where the pool allows it', () => {
    const hurried = packet('discover', { more: [[80, new Uint8Array(0)]] });
    expect(outcome(server()(hurried))).toMatch(/^offer/);
    const reply = replyOf(server({ rapidCommit: true })(hurried));
    expect([reply.options.uint8(53), reply.options.has(80)]).toEqual([MessageTypeCode.ack, true]);
  });

  it('RFC 8925: a client that may do without IPv4 gets an offer, not an address at once', () => {
    const answer = server({ rapidCommit: true, options: { ipv6OnlyWaitSeconds: 300 } });
    const hurried = (wishes: readonly number[]) => packet('discover', { wishes, more: [[80, new Uint8Array(0)]] });
    expect([[1, 108], [1]].map((wishes) => replyOf(answer(hurried(wishes))).options.uint8(53))).toEqual([
      MessageTypeCode.offer,
      MessageTypeCode.ack,
    ]);
  });

  it('RFC 2131 §3.3: an infinite lease has no renewal times', () => {
    const reply = replyOf(server({ leaseTimeSeconds: 0xffffffff })(packet('discover')));
    expect(reply.options.uint32(51)).toBe(0xffffffff);
    expect(reply.options.has(58) || reply.options.has(59)).toBe(false);
  });
});

interface Captured {
  readonly name: string;
  readonly messageType: string;
  readonly hex: string;
}
const captured: Captured[] = JSON.parse(readFileSync(new URL('../wire/fixtures/captured-packets.json', import.meta.url), 'utf8'));

describe('packets captured from real clients and servers', () => {
  it.each(captured)('$name is read as $messageType and survives a round trip', ({ hex, messageType }) => {
    const message = decoded(Uint8Array.from(Buffer.from(hex, 'hex')));
    expect(messageTypeOf(message.options.uint8(OptionCode.messageType) ?? 0)).toBe(messageType.toLowerCase());
    const again = decoded(encodeMessage(message, { maximumLength: 1472 }).bytes);
    expect([...again.options]).toEqual([...message.options]);
    expect([again.xid, again.ciaddr, again.yiaddr, again.giaddr, again.flags]).toEqual([
      message.xid,
      message.ciaddr,
      message.yiaddr,
      message.giaddr,
      message.flags,
    ]);
  });
});

describe('laws', () => {
  const option = fc.tuple(fc.integer({ min: 1, max: 254 }), fc.uint8Array({ maxLength: 300 }));
  const FIELDS = {
    ...{ op: 1, htype: 1, hlen: 6, hops: 0, xid: 7, secs: 1, flags: 0, ciaddr: 1, yiaddr: 2, siaddr: 3, giaddr: 4 },
    chaddr: new Uint8Array(16),
    sname: new Uint8Array(0),
    file: new Uint8Array(0),
  };
  const seed = captured.map(({ hex }) => Uint8Array.from(Buffer.from(hex, 'hex')));

  it('decode(encode(m)) = m, options longer than 255 octets and unknown ones included', () => {
    fc.assert(
      fc.property(fc.array(option, { maxLength: 6 }), fc.uint8Array({ minLength: 16, maxLength: 16 }), (entries, chaddr) => {
        const options = DhcpOptions.of(entries.filter(([code]) => code !== OptionCode.overload));
        const message = { ...FIELDS, chaddr, options };
        const { bytes, omittedOptions } = encodeMessage(message, { maximumLength: 4000 });
        expect(omittedOptions).toEqual([]);
        expect([...decoded(bytes).options]).toEqual([...options]);
        expect(decoded(bytes).chaddr).toEqual(chaddr);
      }),
    );
  });

  it('RFC 2131 §4.1: options that fit in overloaded fields are read back, the rest is named; the limit is kept', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.integer({ min: 1, max: 254 }), fc.uint8Array({ maxLength: 90 })), { maxLength: 12 }),
        (entries) => {
          const options = DhcpOptions.of(entries.filter(([code]) => code !== OptionCode.overload));
          const message = { ...FIELDS, options };
          const { bytes, omittedOptions } = encodeMessage(message, { maximumLength: 548 });
          expect(bytes.length).toBeLessThanOrEqual(548);
          const read = decoded(bytes).options;
          for (const [code, value] of options) {
            if (omittedOptions.includes(code)) expect(read.has(code)).toBe(false);
            else expect(read.get(code)).toEqual(value);
          }
        },
      ),
    );
  });

  it('decoding any octets never throws, and the server then answers the next client', () => {
    const mutated = fc.tuple(
      fc.constantFrom(...seed),
      fc.array(fc.tuple(fc.nat(600), fc.nat(255)), { maxLength: 12 }),
      fc.nat(600),
    );
    fc.assert(
      fc.property(mutated, ([packetBytes, changes, length]) => {
        const bytes = packetBytes.slice(0, length);
        for (const [at, value] of changes) if (at < bytes.length) bytes[at] = value;
        const answer = server();
        answer(bytes);
        expect(outcome(answer(packet('discover')))).toMatch(/^offer 10.0.0.10/);
      }),
      { numRuns: 1000 },
    );
  });
});
