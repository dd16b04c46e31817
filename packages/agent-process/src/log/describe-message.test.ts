import { readFileSync } from 'node:fs';
import { DhcpOptions, decodeMessage, encodeOption, OPTIONS, parseIpv4Address } from '@vmdhcp/dhcp-allocator';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { describeMessage } from './describe-message.js';

const FIXTURES = new URL('../../../dhcp-allocator/src/wire/fixtures/captured-packets.json', import.meta.url);
const packets = (JSON.parse(readFileSync(FIXTURES, 'utf8')) as { readonly hex: string }[]).map(({ hex }) =>
  Buffer.from(hex, 'hex'),
);
const ip = (text: string): number => parseIpv4Address(text) as number;

const EMPTY = new Uint8Array(0);
const FIELDS = {
  htype: 1,
  hlen: 6,
  hops: 0,
  secs: 0,
  flags: 0,
  ciaddr: 0,
  yiaddr: 0,
  siaddr: 0,
  giaddr: 0,
  sname: EMPTY,
  file: EMPTY,
};

describe('describeMessage', () => {
  it('names every field and option, and shows each value in a suitable form', () => {
    const options = DhcpOptions.of([
      encodeOption('messageType', 5),
      encodeOption('subnetMask', ip('255.255.255.0')),
      encodeOption('routers', [ip('10.0.0.1')]),
      encodeOption('leaseTime', 3600),
      encodeOption('hostName', 'vm-a\x1b[2J'),
      encodeOption('domainSearch', ['lab.example.org']),
      encodeOption('classlessStaticRoutes', [
        { destination: { network: ip('10.9.0.0'), prefixLength: 16 }, gateway: ip('10.0.0.9') },
      ]),
      encodeOption('relayAgentInformation', [{ code: 1, value: Uint8Array.of(0xab, 0xcd) }]),
      encodeOption('clientIdentifier', Uint8Array.of(1, 2, 3)),
      encodeOption('parameterRequestList', [1, 3, 200]),
      [200, Uint8Array.of(9)],
      [51 + 2 ** 7 - 100, EMPTY],
    ]);
    const chaddr = Uint8Array.of(2, 0, 0, 0, 0, 10);
    expect(describeMessage({ ...FIELDS, op: 2, xid: 0xbeef, yiaddr: ip('10.0.0.10'), flags: 0x8000, chaddr, options })).toEqual({
      op: 'BOOTREPLY',
      xid: '0000beef',
      flags: '0x8000',
      yiaddr: '10.0.0.10',
      chaddr: '02:00:00:00:00:0a',
      options: {
        messageType: 'ACK',
        subnetMask: '255.255.255.0',
        routers: ['10.0.0.1'],
        leaseTime: 3600,
        hostName: 'vm-a\\x1b[2J',
        domainSearch: ['lab.example.org'],
        classlessStaticRoutes: ['10.9.0.0/16 via 10.0.0.9'],
        relayAgentInformation: ['1: abcd'],
        clientIdentifier: '010203',
        parameterRequestList: ['subnetMask', 'routers', 200],
        'option 200': '09',
        'option 79': '',
      },
    });
  });

  it('shows an option as octets if they are not of its kind', () => {
    const options = DhcpOptions.of([[OPTIONS.leaseTime.code, Uint8Array.of(1, 2)]]);
    const chaddr = Uint8Array.of(2, 0, 0, 0, 0, 10);
    expect(describeMessage({ ...FIELDS, op: 1, xid: 1, chaddr, options })).toMatchObject({ options: { leaseTime: '0102' } });
  });

  it.each(packets.map((packet, index) => [index, packet] as const))('describes captured packet %i', (_, packet) => {
    const decoded = decodeMessage(packet);
    if (!decoded.ok) throw new Error(decoded.reason);
    const described = describeMessage(decoded.message) as { readonly options: Record<string, unknown> };
    expect(described.options['messageType']).toMatch(/^[A-Z]+$/);
  });

  it('law: whatever was changed in a packet, its description is bounded and printable', () => {
    const changes = fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 40 });
    fc.assert(
      fc.property(fc.constantFrom(...packets), changes, (packet, edits) => {
        const changed = Uint8Array.from(packet);
        for (const [at, octet] of edits) changed[at % changed.length] = octet;
        const decoded = decodeMessage(changed);
        const text = decoded.ok ? JSON.stringify(describeMessage(decoded.message)) : '';
        expect(text).toMatch(/^[\x20-\x7e]*$/);
        expect(text.length).toBeLessThan(20_000);
      }),
    );
  });
});
