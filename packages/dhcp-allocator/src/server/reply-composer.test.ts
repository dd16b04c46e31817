/** One composer, many clients in turn: what it remembers of one client must never reach another. */
import { describe, expect, it } from 'vitest';
import { formatIpv4Address, parseIpv4Address } from '../address/ipv4-address.js';
import { macAddressBytes } from '../address/mac-address.js';
import type { PoolDefinition } from '../pool/pool-definition.js';
import { validatePool } from '../pool/validate-pool.js';
import { decodeMessage } from '../wire/decode-message.js';
import { encodeMessage, type OutgoingMessage } from '../wire/encode-message.js';
import { type ClientMessage, toClientMessage } from './client-message.js';
import type { Decision } from './decision.js';
import { readLinkSelection } from './relay-agent-information.js';
import { type Reply, ReplyComposer } from './reply-composer.js';
import { replyDestination } from './reply-destination.js';
import { shortenLease } from './shorten-lease.js';

const ip = (text: string): number => parseIpv4Address(text) as number;
const VM_A = '02:00:00:00:00:0a';
const LEASE = { poolName: 'net', macAddress: VM_A, address: ip('10.0.0.10') };
const OFFER: Reply = { kind: 'offer', lease: LEASE };
const ACK: Reply = { kind: 'ack', lease: LEASE };

interface Fields {
  readonly options?: readonly (readonly [code: number, value: readonly number[]])[];
  readonly ciaddr?: string;
  readonly giaddr?: string;
  readonly flags?: number;
}

function clientWith({ options = [], ciaddr = '0.0.0.0', giaddr = '0.0.0.0', flags = 0 }: Fields = {}): ClientMessage {
  const { bytes } = encodeMessage({
    ...{
      op: 1,
      htype: 1,
      hlen: 6,
      hops: 0,
      xid: 7,
      secs: 0,
      flags,
      ciaddr: ip(ciaddr),
      yiaddr: 0,
      siaddr: 0,
      giaddr: ip(giaddr),
    },
    chaddr: macAddressBytes(VM_A),
    sname: new Uint8Array(0),
    file: new Uint8Array(0),
    options: [[53, Uint8Array.of(1)], ...options.map(([code, value]) => [code, Uint8Array.from(value)] as const)],
  });
  const decoded = decodeMessage(bytes);
  if (!decoded.ok) throw new Error(decoded.reason);
  const read = toClientMessage(decoded.message);
  if (!read.ok) throw new Error(read.reason);
  return read.client;
}

function composer(definition: Partial<PoolDefinition> = {}): ReplyComposer {
  const checked = validatePool({ name: 'net', cidr: '10.0.0.0/24', serverAddress: '10.0.0.1', ...definition });
  if (!checked.ok) throw new Error(JSON.stringify(checked.problems));
  return new ReplyComposer(checked.value);
}

const asking = (...codes: number[]): ClientMessage => clientWith({ options: [[55, codes]] });
const runningOn = (...octets: number[]): ClientMessage => clientWith({ options: [[93, octets]] });
const codesOf = ({ options }: OutgoingMessage): number[] => [...options].map(([code]) => code);
const optionOf = ({ options }: OutgoingMessage, wanted: number): number[] | undefined => {
  const found = [...options].find(([code]) => code === wanted);
  return found && [...found[1]];
};

describe('the parameter request list, RFC 2132 §9.8', () => {
  it('clients with other lists get their own options, in turn and again', () => {
    const one = composer({ options: { router: '10.0.0.254', dnsServers: ['10.0.0.53'], mtu: 1400 } });
    const lists = [[3, 6], [6, 3], [26], [6], [3, 6], [26]];
    const got = lists.map((codes) => codesOf(one.compose(asking(...codes), OFFER)).slice(5));
    expect(got).toEqual([
      [1, 3, 6],
      [6, 1, 3],
      [26, 1],
      [6, 1],
      [1, 3, 6],
      [26, 1],
    ]);
  });

  it('a kind of reply that was remembered is not sent for another kind', () => {
    const one = composer();
    const types = [OFFER, ACK, OFFER, ACK].map((reply) => optionOf(one.compose(asking(1), reply), 53));
    expect(types).toEqual([[2], [5], [2], [5]]);
  });

  it('the subnet mask is sent to a client that asks for other options only, and stands before the router', () => {
    const one = composer({ options: { router: '10.0.0.254', mtu: 1400 } });
    expect(codesOf(one.compose(asking(26), OFFER)).slice(5)).toEqual([26, 1]);
    expect(codesOf(one.compose(asking(26, 3), OFFER)).slice(5)).toEqual([26, 1, 3]);
  });

  it('an option that the pool does not have, or that is asked for twice, adds nothing', () => {
    expect(codesOf(composer().compose(asking(1, 42, 1, 200), OFFER)).slice(5)).toEqual([1]);
  });

  it('an empty list is like no list: every option', () => {
    const one = composer({ options: { mtu: 1400 } });
    expect(codesOf(one.compose(clientWith({ options: [[55, []]] }), OFFER))).toEqual(codesOf(one.compose(clientWith(), OFFER)));
    expect(codesOf(one.compose(clientWith(), OFFER))).toContain(26);
  });

  it('RFC 8925 §3.3: only clients that request option 108 are told to do without IPv4', () => {
    const one = composer({ options: { ipv6OnlyWaitSeconds: 1_800 } });
    expect(codesOf(one.compose(asking(1, 108), { kind: 'inform', clientAddress: ip('10.0.0.10') }))).not.toContain(108);
    for (const reply of [OFFER, ACK]) expect(optionOf(one.compose(asking(1, 108), reply), 108)).toEqual([0, 0, 7, 8]);
    for (const client of [asking(1), clientWith(), clientWith({ options: [[55, []]] })])
      expect(codesOf(one.compose(client, ACK))).not.toContain(108);
    expect(codesOf(composer().compose(asking(1, 108), ACK))).not.toContain(108);
  });

  it('128 lists are remembered as they were composed; further lists are composed each time', () => {
    const one = composer({ options: { mtu: 1400, dnsServers: ['10.0.0.53'] } });
    const maskOf = (codes: number[]) => [...one.compose(asking(...codes), OFFER).options].find(([code]) => code === 1);
    const listAt = (index: number) => [1, 128 + (index >> 4), 224 + (index & 15)];
    for (let index = 0; index < 128; index++) maskOf(listAt(index));
    expect(maskOf(listAt(0))).toBe(maskOf(listAt(0)));
    expect(maskOf(listAt(127))).toBe(maskOf(listAt(127)));
    expect(maskOf([1, 6, 26, 99])).not.toBe(maskOf([1, 6, 26, 99]));
    expect(maskOf([1, 6, 26, 99])).toEqual(maskOf([1, 6, 26, 99]));
  });
});

describe('the boot file by architecture, RFC 4578 §2.1', () => {
  const options = {
    nextServer: '10.0.0.69',
    bootFile: 'general',
    bootByArchitecture: [
      { architecture: 7, bootFile: 'efi' },
      { architecture: 256, bootFile: 'high' },
      { architecture: 0, bootFile: 'bios' },
    ],
  };
  const text = new TextDecoder();

  it.each<[string, ClientMessage, string]>([
    ['one that the pool names', runningOn(0, 7), 'efi'],
    ['the high octet counts', runningOn(1, 0), 'high'],
    ['zero is an architecture', runningOn(0, 0), 'bios'],
    ['the first of several types counts', runningOn(0, 7, 0, 0), 'efi'],
    ['one that the pool does not name', runningOn(0, 9), 'general'],
    ['half a type does not count', runningOn(7), 'general'],
    ['no option 93', clientWith(), 'general'],
  ])('%s', (_name, client, file) => {
    const reply = composer({ options }).compose(client, OFFER);
    expect(text.decode(reply.file)).toBe(file);
    expect(text.decode(Uint8Array.from(optionOf(reply, 67) ?? []))).toBe(file);
    expect(formatIpv4Address(reply.siaddr)).toBe('10.0.0.69');
  });

  it('clients of two architectures get their own files from one composer, again and again', () => {
    const one = composer({ options });
    const files = [runningOn(0, 7), runningOn(0, 0), clientWith(), runningOn(0, 7), clientWith()].map((client) =>
      text.decode(Uint8Array.from(optionOf(one.compose(client, OFFER), 67) ?? [])),
    );
    expect(files).toEqual(['efi', 'bios', 'general', 'efi', 'general']);
  });

  it('a pool without a boot server leaves siaddr and file empty', () => {
    for (const reply of [OFFER, ACK]) {
      const { siaddr, file } = composer().compose(clientWith(), reply);
      expect([siaddr, file.length]).toEqual([0, 0]);
    }
  });
});

describe('lease times, RFC 2131 §4.4.5: T1 < T2, as options 58 and 59', () => {
  const timesOf = (leaseTimeSeconds: number) => {
    const reply = composer({ leaseTimeSeconds }).compose(clientWith(), OFFER);
    return [51, 58, 59].map((code) => {
      const value = optionOf(reply, code);
      return value && new DataView(Uint8Array.from(value).buffer).getUint32(0);
    });
  };
  it.each<[number, (number | undefined)[]]>([
    [3600, [3600, 1800, 3150]],
    [0xffffffff, [0xffffffff, undefined, undefined]],
    [4, [4, 2, 3]],
    [3, [3, 1, 2]],
    [2, [2, undefined, undefined]],
    [1, [1, undefined, undefined]],
  ])('a lease of %i s', (seconds, times) => {
    expect(timesOf(seconds)).toEqual(times);
  });
});

describe('fields and options of single replies', () => {
  it('ciaddr is copied into an ACK only, RFC 2131 table 3', () => {
    const client = clientWith({ ciaddr: '10.0.0.10' });
    const inform: Reply = { kind: 'inform', clientAddress: ip('10.0.0.10') } as Reply;
    expect([OFFER, ACK, inform].map((reply) => composer().compose(client, reply).ciaddr)).toEqual([
      0,
      ip('10.0.0.10'),
      ip('10.0.0.10'),
    ]);
    expect(composer().compose(client, { kind: 'nak', reason: 'address-not-its-own' }).ciaddr).toBe(0);
  });

  it('rapid commit is sent in a rapid ACK only, RFC 4039 §4', () => {
    const has80 = (reply: Reply) => codesOf(composer().compose(clientWith(), reply)).includes(80);
    expect([OFFER, ACK, { ...ACK, rapid: true } as Reply].map(has80)).toEqual([false, false, true]);
  });

  it('the host name goes to a client that asks for it or for nothing in particular', () => {
    const named: Reply = { kind: 'offer', lease: { ...LEASE, hostname: 'vm-a' } };
    const hostNameOf = (client: ClientMessage, reply: Reply) => optionOf(composer().compose(client, reply), 12)?.length;
    expect(hostNameOf(asking(1, 12), named)).toBe(4);
    expect(hostNameOf(clientWith(), named)).toBe(4);
    expect(hostNameOf(asking(1), named)).toBeUndefined();
    expect(hostNameOf(asking(1, 12), OFFER)).toBeUndefined();
  });

  it('only a NAK through a relay sets the broadcast bit that the client did not set, RFC 2131 §4.3.2', () => {
    const nak: Reply = { kind: 'nak', reason: 'address-not-its-own' };
    const flagsOf = (fields: Fields, reply: Reply) => composer().compose(clientWith(fields), reply).flags;
    expect(flagsOf({ giaddr: '10.0.0.254' }, nak)).toBe(0x8000);
    expect(flagsOf({}, nak)).toBe(0);
    expect(flagsOf({ giaddr: '10.0.0.254' }, OFFER)).toBe(0);
    expect(flagsOf({ flags: 0x8000 }, OFFER)).toBe(0x8000);
  });
});

describe('where a reply goes, RFC 2131 §4.1', () => {
  const nak: Decision = { kind: 'nak', reason: 'address-not-its-own' };
  const ack: Decision = { kind: 'ack', lease: LEASE };
  it.each<[string, Fields, Decision, string]>([
    ['a NAK to a client that uses its address', { ciaddr: '10.0.0.10' }, nak, 'broadcast 255.255.255.255:68'],
    ['a NAK through a relay', { giaddr: '10.0.0.254' }, nak, 'unicast 10.0.0.254:67'],
    ['an ACK to the address that the client uses', { ciaddr: '10.0.0.10' }, ack, 'unicast 10.0.0.10:68'],
    ['an ACK to a client that uses another address', { ciaddr: '10.0.0.99' }, ack, 'link 10.0.0.10:68'],
    ['an ACK to a client that wants a broadcast', { flags: 0x8000 }, ack, 'broadcast 255.255.255.255:68'],
    [
      'an ACK to a client that uses its address and wants a broadcast',
      { ciaddr: '10.0.0.10', flags: 0x8000 },
      ack,
      'unicast 10.0.0.10:68',
    ],
    ['an ACK to a new client', {}, ack, 'link 10.0.0.10:68'],
    [
      'an ACK through a relay, to a client that wants a broadcast',
      { giaddr: '10.0.0.254', flags: 0x8000 },
      ack,
      'unicast 10.0.0.254:67',
    ],
  ])('%s', (_name, fields, decision, expected) => {
    const { kind, address, port } = replyDestination(clientWith(fields), decision);
    expect(`${kind} ${formatIpv4Address(address)}:${port}`).toBe(expected);
  });
});

describe('link selection, RFC 3527 §3, inside option 82, RFC 3046 §2.0', () => {
  it.each<[string, number[], string | undefined]>([
    ['an empty option', [], undefined],
    ['the sub-option alone', [5, 4, 10, 0, 0, 7], '10.0.0.7'],
    ['after another sub-option', [1, 2, 9, 9, 5, 4, 10, 0, 0, 7], '10.0.0.7'],
    ['before another sub-option', [5, 4, 10, 0, 0, 7, 1, 2, 9, 9], '10.0.0.7'],
    ['the last of two counts', [5, 4, 10, 0, 0, 7, 5, 4, 10, 0, 0, 8], '10.0.0.8'],
    ['a sub-option without octets', [1, 0], undefined],
    ['a sub-option that fills the option exactly', [1, 1, 5], undefined],
    ['three octets', [5, 3, 10, 0, 0], 'malformed'],
    ['five octets', [5, 5, 10, 0, 0, 7, 1], 'malformed'],
    ['a code without a length', [5], 'malformed'],
    ['a code without a length, after another', [1, 0, 5], 'malformed'],
    ['one octet less than the length names', [1, 2, 9], 'malformed'],
    ['one octet less in the link selection', [5, 4, 10, 0, 0], 'malformed'],
  ])('%s', (_name, octets, expected) => {
    const links = [
      readLinkSelection(Uint8Array.from(octets)),
      readLinkSelection(Uint8Array.of(5, 4, ...octets, 5, 4), 2, 2 + octets.length),
    ];
    expect(links.map((link) => (typeof link === 'number' ? formatIpv4Address(link) : link))).toEqual([expected, expected]);
  });
});

describe('a lease that is shortened', () => {
  it.each([
    ['300 s, after 180 s', 300, 180, 120, [120, 60, 105]],
    ['300 s, at once', 300, 0, 300, [300, 150, 262]],
    ['300 s, after as long', 300, 300, 0, [0, 0, 0]],
    ['300 s, after longer', 300, 500, 0, [0, 0, 0]],
    ['an endless lease', 0xffffffff, 180, 0xffffffff, [0xffffffff, undefined, undefined]],
  ])('has what is left of %s, with T1 and T2; nothing else of the reply changes', (_, leaseTimeSeconds, by, left, times) => {
    const reply = encodeMessage(composer({ leaseTimeSeconds }).compose(clientWith(), OFFER)).bytes;
    const before = reply.slice();
    const { bytes, leaseSeconds } = shortenLease(reply, by);
    expect([leaseSeconds, reply]).toEqual([left, before]);
    const decoded = decodeMessage(bytes);
    if (!decoded.ok) throw new Error('no message');
    const { options } = decoded.message;
    expect([51, 58, 59].map((code) => options.uint32(code))).toEqual(times);
    expect([options.uint8(53), options.get(1)]).toEqual([2, Uint8Array.of(255, 255, 255, 0)]);
  });
});
