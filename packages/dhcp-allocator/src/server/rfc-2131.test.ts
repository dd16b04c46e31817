/** What RFC 2131 requires of every reply, field by field and option by option. `dialogue.test.ts` tests who is answered at all. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseIpv4Address } from '../address/ipv4-address.js';
import { macAddressBytes } from '../address/mac-address.js';
import type { PoolDefinition } from '../pool/pool-definition.js';
import { validatePool } from '../pool/validate-pool.js';
import { decodeMessage } from '../wire/decode-message.js';
import type { DhcpMessage } from '../wire/dhcp-message.js';
import { encodeMessage } from '../wire/encode-message.js';
import { answerPacket } from './answer-packet.js';
import { ServedPool } from './served-pool.js';

const VM_A = '02:00:00:00:00:0a';
const ip = (text: string): number => parseIpv4Address(text) as number;
const US = [54, [10, 0, 0, 1]] as const;
const OURS = [50, [10, 0, 0, 10]] as const;
const WRONG = [50, [10, 0, 0, 99]] as const;
const MESSAGES = { discover: 1, request: 3, inform: 8 } as const;

type Option = readonly [code: number, value: readonly number[]];

interface Fields {
  readonly options?: readonly Option[];
  readonly flags?: number;
  readonly ciaddr?: string;
  readonly giaddr?: string;
}

function packet(
  type: keyof typeof MESSAGES,
  { options = [], flags = 0, ciaddr = '0.0.0.0', giaddr = '0.0.0.0' }: Fields = {},
): Uint8Array {
  return encodeMessage({
    op: 1,
    htype: 1,
    hlen: 6,
    hops: 3,
    xid: 0xcafe_babe,
    secs: 77,
    flags,
    ciaddr: ip(ciaddr),
    yiaddr: 0,
    siaddr: 0,
    giaddr: ip(giaddr),
    chaddr: macAddressBytes(VM_A),
    sname: new Uint8Array(0),
    file: new Uint8Array(0),
    options: [[53, Uint8Array.of(MESSAGES[type])], ...options.map(([code, value]) => [code, Uint8Array.from(value)] as const)],
  }).bytes;
}

const FULL: Partial<PoolDefinition> = {
  leaseTimeSeconds: 3600,
  options: {
    router: '10.0.0.254',
    dnsServers: ['10.0.0.53'],
    domainName: 'lab.example',
    domainSearch: ['lab.example'],
    ntpServers: ['10.0.0.123'],
    mtu: 1400,
    staticRoutes: [{ destination: '10.5.0.0/16', gateway: '10.0.0.7' }],
    nextServer: '10.0.0.69',
    bootFile: 'boot.efi',
  },
};

function replyTo(
  bytes: Uint8Array,
  definition: Partial<PoolDefinition> = FULL,
): { readonly message: DhcpMessage; readonly bytes: Uint8Array } {
  const checked = validatePool({ name: 'net', cidr: '10.0.0.0/24', serverAddress: '10.0.0.1', ...definition });
  if (!checked.ok) throw new Error(JSON.stringify(checked.problems));
  const lease = { poolName: 'net', macAddress: VM_A, address: ip('10.0.0.10') };
  const answer = answerPacket(bytes, { pools: [new ServedPool(checked.value)], leaseOf: () => lease });
  if (answer.kind !== 'reply') throw new Error(`no reply but ${answer.kind}`);
  const decoded = decodeMessage(answer.bytes);
  if (!decoded.ok) throw new Error(decoded.reason);
  return { message: decoded.message, bytes: answer.bytes };
}

const codesOf = (message: DhcpMessage): number[] => [...message.options].map(([code]) => code);

const REPLIES: readonly [name: string, bytes: Uint8Array][] = [
  ['OFFER', packet('discover')],
  ['ACK of SELECTING', packet('request', { options: [US, OURS] })],
  ['ACK of RENEWING', packet('request', { ciaddr: '10.0.0.10' })],
  ['ACK of INFORM', packet('inform', { ciaddr: '10.0.0.200' })],
  ['NAK', packet('request', { options: [WRONG] })],
];

describe('table 3: every reply', () => {
  it.each(REPLIES)('%s: op 2, hops 0, secs 0, and xid, htype, hlen, giaddr, chaddr as in the request', (_name, bytes) => {
    const { op, hops, secs, xid, htype, hlen, giaddr, chaddr } = replyTo(bytes).message;
    expect({ op, hops, secs, xid, htype, hlen, giaddr }).toEqual({
      op: 2,
      hops: 0,
      secs: 0,
      xid: 0xcafe_babe,
      htype: 1,
      hlen: 6,
      giaddr: 0,
    });
    expect(chaddr.subarray(0, 6)).toEqual(macAddressBytes(VM_A));
  });

  it.each(REPLIES)('%s: message type first, then the server identifier; never 50, 55 and 57', (_name, bytes) => {
    const codes = codesOf(replyTo(bytes).message);
    expect(codes.slice(0, 2)).toEqual([53, 54]);
    for (const code of [50, 55, 57]) expect(codes).not.toContain(code);
  });

  it.each(REPLIES)('§4.1 %s: at least 300 octets, the end option last and nothing after it but padding', (_name, bytes) => {
    const reply = replyTo(bytes).bytes;
    expect(reply.length).toBeGreaterThanOrEqual(300);
    expect(reply.slice(reply.lastIndexOf(255) + 1).every((octet) => octet === 0)).toBe(true);
  });

  it('ciaddr and yiaddr are as required for each kind of reply', () => {
    const fields = REPLIES.map(([name, bytes]) => {
      const { ciaddr, yiaddr } = replyTo(bytes).message;
      return [name, ciaddr, yiaddr];
    });
    expect(fields).toEqual([
      ['OFFER', 0, ip('10.0.0.10')],
      ['ACK of SELECTING', 0, ip('10.0.0.10')],
      ['ACK of RENEWING', ip('10.0.0.10'), ip('10.0.0.10')],
      ['ACK of INFORM', ip('10.0.0.200'), 0],
      ['NAK', 0, 0],
    ]);
  });

  it('a NAK contains the type, the server, the reason, and options 61 and 82 of the request: nothing else', () => {
    const more: readonly Option[] = [
      [61, [1, 2, 3]],
      [82, [1, 1, 9]],
    ];
    const { message } = replyTo(packet('request', { options: [WRONG, ...more] }));
    expect(codesOf(message)).toEqual([53, 54, 56, 61, 82]);
    expect([message.siaddr, message.file.length, message.sname.length]).toEqual([0, 0, 0]);
  });

  it('a NAK does not use file and sname, however long it is', () => {
    const long: readonly Option[] = [
      [61, Array(200).fill(7)],
      [82, [1, 200, ...Array(200).fill(9)]],
    ];
    const { message } = replyTo(packet('request', { options: [WRONG, ...long] }));
    expect([message.options.has(52), message.file.length, message.sname.length]).toEqual([false, 0, 0]);
    expect(message.options.has(82)).toBe(true);
  });

  it('§2 the flags come back as they came', () => {
    expect(replyTo(packet('discover', { flags: 0x8000 })).message.flags).toBe(0x8000);
    expect(replyTo(packet('discover')).message.flags).toBe(0);
  });
});

describe('§4.3.1: which parameters', () => {
  const asking = (...list: readonly number[]): Fields => ({ options: [[55, list]] });

  it('each requested option once, however often it was requested', () => {
    expect(codesOf(replyTo(packet('discover', asking(3, 3, 6, 3, 0, 255, 6))).message)).toEqual([53, 54, 51, 58, 59, 1, 3, 6]);
  });

  it('no option that the pool does not have, and never an empty one', () => {
    const { message } = replyTo(packet('discover', asking(3, 6, 15, 42, 119, 121, 26, 66, 67, 43, 108, 114)), {
      leaseTimeSeconds: 60,
    });
    expect(codesOf(message)).toEqual([53, 54, 51, 58, 59, 1]);
  });

  it('an ACK has the same options as the OFFER before it', () => {
    const wishes = asking(1, 3, 6, 15, 26, 42, 119, 121).options ?? [];
    const offer = replyTo(packet('discover', { options: wishes })).message;
    const ack = replyTo(packet('request', { options: [US, OURS, ...wishes] })).message;
    const without53 = (message: DhcpMessage) => [...message.options].filter(([code]) => code !== 53);
    expect(without53(ack)).toEqual(without53(offer));
  });

  it('the pool decides how long the lease is, whatever the client would like', () => {
    expect(replyTo(packet('discover', { options: [[51, [0, 0, 0, 5]]] })).message.options.uint32(51)).toBe(3600);
  });

  it('§4.3.5 INFORM: no lease time, no T1 and T2, also if the client asks for them', () => {
    const codes = codesOf(replyTo(packet('inform', { ciaddr: '10.0.0.200', ...asking(51, 58, 59, 3) })).message);
    expect(codes).toEqual([53, 54, 1, 3]);
  });

  it('§4.4.5 T1 is before T2, and T2 before the end of the lease, for a lease of any length', () => {
    fc.assert(
      fc.property(fc.oneof(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 0xffff_fffe })), (leaseTimeSeconds) => {
        const { options } = replyTo(packet('discover'), { leaseTimeSeconds }).message;
        const [renewal, rebinding] = [options.uint32(58), options.uint32(59)];
        if (renewal === undefined || rebinding === undefined) {
          expect([renewal, rebinding]).toEqual([undefined, undefined]);
          expect(leaseTimeSeconds).toBeLessThan(4);
          return;
        }
        expect(renewal).toBeGreaterThan(0);
        expect(renewal).toBeLessThan(rebinding);
        expect(rebinding).toBeLessThan(leaseTimeSeconds);
      }),
    );
  });
});

describe('RFC 2132 §9.10: a client limits the size of the reply', () => {
  const many: Partial<PoolDefinition> = {
    ...FULL,
    options: { ...FULL.options, domainSearch: Array.from({ length: 30 }, (_, index) => `domain-${index}.of-the-lab.example`) },
  };
  const taking = (octets: number): Uint8Array => packet('discover', { options: [[57, [octets >> 8, octets & 255]]] });

  it.each([
    ['no option 57: 548 octets', packet('discover'), 548],
    ['576, the least allowed', taking(576), 548],
    ['less than allowed is read as 576', taking(0), 548],
    ['more', taking(800), 772],
    ['more than a frame holds', taking(65_535), 1472],
  ])('%s', (_name, bytes, most) => {
    expect(replyTo(bytes, many).bytes.length).toBeLessThanOrEqual(most);
  });

  it('§4.1 options that do not fit the options field go to file and sname, and option 52 announces it', () => {
    const options = {
      dnsServers: Array.from({ length: 60 }, (_, index) => `10.0.1.${index + 1}`),
      domainSearch: ['a.of-the-lab.example', 'b.example'],
    };
    const { message, bytes } = replyTo(packet('discover'), { leaseTimeSeconds: 3600, options });
    expect([message.options.get(6)?.length, message.options.has(119)]).toEqual([240, true]);
    expect(bytes.length).toBeLessThanOrEqual(548);
    const used = [bytes[108], bytes[44]].map((octet) => octet !== 0);
    expect(used).toContain(true);
    const overload = [...bytes.subarray(240)].join().match(/,52,1,([123]),255/)?.[1];
    expect(Number(overload)).toBe((used[0] ? 1 : 0) + (used[1] ? 2 : 0));
  });

  it('RFC 6842 §3: the client identifier comes back, however little room there is', () => {
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 40 }), fc.nat(40), fc.nat(60), (identifier, domains, boot) => {
        const options = {
          ...FULL.options,
          bootFile: 'x'.repeat(boot + 1),
          domainSearch: Array.from({ length: domains }, (_, index) => `d${index}.example`),
        };
        const bytes = packet('discover', { options: [[61, Array.from({ length: identifier }, (_, index) => index)]] });
        expect(replyTo(bytes, { ...FULL, options }).message.options.get(61)).toHaveLength(identifier);
      }),
    );
  });

  it('options from a one-time iterator are all sent', () => {
    const options = new Map<number, Uint8Array>(Array.from({ length: 40 }, (_, index) => [index + 100, new Uint8Array(12)]));
    const message = replyTo(packet('discover')).message;
    const { bytes, omittedOptions } = encodeMessage({ ...fieldsOf(message), options: options.entries() });
    const decoded = decodeMessage(bytes);
    expect((decoded.ok ? decoded.message.options.size : 0) + omittedOptions.length).toBe(40);
  });
});

function fieldsOf({ op, htype, hlen, hops, xid, secs, flags, ciaddr, yiaddr, siaddr, giaddr, chaddr }: DhcpMessage) {
  const sname = new Uint8Array(0);
  return { op, htype, hlen, hops, xid, secs, flags, ciaddr, yiaddr, siaddr, giaddr, chaddr, sname, file: sname };
}
