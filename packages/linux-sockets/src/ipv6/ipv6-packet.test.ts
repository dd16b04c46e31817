import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runFilter } from '../libc/packet-filter-fixtures.js';
import {
  encodeIpv6Packet,
  encodeUdpPayload,
  groupHardwareAddressOf,
  linkLocalAddressBeside,
  NextHeader,
  readIpv6Packet,
  readUdpPayload,
} from './ipv6-packet.js';
import { encodeIpv6Filter } from './ipv6-packet-socket.js';

const MAC = Uint8Array.of(2, 0, 0, 0, 0, 10);
const hex = (text: string) => Uint8Array.from(Buffer.from(text, 'hex'));
const SOURCE = hex('fe80000000000000000000fffe00000a');
const GROUP = hex('ff020000000000000000000000010002');
/** Nine octets of a SOLICIT; an ICMPv6 router solicitation. The checksums are those of another program. */
const SOLICIT = hex(
  '6000000000111101fe80000000000000000000fffe00000aff020000000000000000000000010002022202230011efdd010a0b0c0001000203',
);
const ROUTER_SOLICITATION = hex(
  '6000000000103afffe80000000000000000000fffe00000aff02000000000000000000000001000285007123000000000101020000000a00',
);

const octets = (most: number) => fc.uint8Array({ maxLength: most });
const address = fc.uint8Array({ minLength: 16, maxLength: 16 });

describe('IPv6 packets', () => {
  it('a UDP datagram is read, and written with the same octets', () => {
    const packet = readIpv6Packet(SOLICIT);
    expect(packet).toMatchObject({ source: SOURCE, destination: GROUP, nextHeader: NextHeader.udp, hopLimit: 1 });
    const datagram = readUdpPayload(packet?.payload ?? new Uint8Array(0));
    expect(datagram).toEqual({ sourcePort: 546, destinationPort: 547, data: hex('010a0b0c0001000203') });
    if (packet === undefined || datagram === undefined) throw new Error('not read');
    expect(encodeIpv6Packet({ ...packet, payload: encodeUdpPayload(datagram) })).toEqual(SOLICIT);
  });

  it('a message of ICMPv6 is read, and written with the same octets', () => {
    const packet = readIpv6Packet(ROUTER_SOLICITATION);
    expect(packet).toMatchObject({ source: SOURCE, nextHeader: NextHeader.icmpv6, hopLimit: 255 });
    expect(packet && encodeIpv6Packet(packet)).toEqual(ROUTER_SOLICITATION);
  });

  it('RFC 8200 §8.1: a checksum of zero is sent as 0xffff', () => {
    const datagram = { sourcePort: 546, destinationPort: 547, data: Uint8Array.of(0, 0) };
    const header = { source: SOURCE, destination: GROUP, nextHeader: NextHeader.udp, hopLimit: 1 };
    const before = encodeIpv6Packet({ ...header, payload: encodeUdpPayload(datagram) });
    // The data that makes the sum 0xffff is the checksum that zeros have.
    const data = before.slice(46, 48);
    expect([...encodeIpv6Packet({ ...header, payload: encodeUdpPayload({ ...datagram, data }) }).slice(46, 48)]).toEqual([
      255, 255,
    ]);
  });

  it('law: decoding what was encoded gives the packet, and the sum over it and its pseudo header is 0xffff', () => {
    fc.assert(
      fc.property(address, address, octets(300), fc.nat(255), (source, destination, data, hopLimit) => {
        const payload = encodeUdpPayload({ sourcePort: 547, destinationPort: 546, data });
        const bytes = encodeIpv6Packet({ source, destination, nextHeader: NextHeader.udp, hopLimit, payload });
        const packet = readIpv6Packet(bytes);
        expect(packet).toMatchObject({ source, destination, hopLimit });
        expect(readUdpPayload(packet?.payload ?? bytes)?.data).toEqual(data);
        const padded = bytes.length % 2 === 0 ? bytes : Uint8Array.of(...bytes, 0);
        let sum = payload.length + NextHeader.udp;
        for (let at = 8; at < padded.length; at += 2) sum += ((padded[at] as number) << 8) | (padded[at + 1] as number);
        while (sum > 0xffff) sum = (sum & 0xffff) + (sum >>> 16);
        expect(sum).toBe(0xffff);
      }),
    );
  });

  it('law: reading any octets never throws, and torn packets are not read', () => {
    fc.assert(
      fc.property(octets(200), (bytes) => {
        const packet = readIpv6Packet(bytes);
        if (packet !== undefined) readUdpPayload(packet.payload);
      }),
    );
    for (let length = 0; length < SOLICIT.length; length++) expect(readIpv6Packet(SOLICIT.subarray(0, length))).toBeUndefined();
    const { payload } = readIpv6Packet(SOLICIT) ?? { payload: SOLICIT };
    for (let length = 0; length < payload.length; length++) expect(readUdpPayload(payload.subarray(0, length))).toBeUndefined();
    expect(readUdpPayload(hex('02220223000700000000'))).toBeUndefined();
    expect(readIpv6Packet(Uint8Array.from([0x45, ...SOLICIT.slice(1)])), 'IPv4').toBeUndefined();
  });

  it('a protocol without a known checksum is not written', () => {
    const packet = { source: SOURCE, destination: GROUP, nextHeader: 6, hopLimit: 1, payload: new Uint8Array(20) };
    expect(() => encodeIpv6Packet(packet)).toThrow('no checksum is known for protocol 6');
  });

  it('RFC 2464 §7: the MAC address of a group; and a link-local address that the host itself does not have', () => {
    expect(linkLocalAddressBeside(MAC)).toEqual(hex('fe80000000000000020000fffd00000a'));
    expect(groupHardwareAddressOf(GROUP)).toEqual(hex('333300010002'));
  });
});

describe('the filter in the kernel', () => {
  const program = encodeIpv6Filter({ udpPort: 547, icmpv6Types: [133, 134] });
  const changed = (packet: Uint8Array, at: number, octet: number) =>
    Buffer.from([...packet.slice(0, at), octet, ...packet.slice(at + 1)]);

  it.each<[string, Buffer, boolean]>([
    ['a datagram to the port', Buffer.from(SOLICIT), true],
    ['a message of a type', Buffer.from(ROUTER_SOLICITATION), true],
    ['a message of the other type', changed(ROUTER_SOLICITATION, 40, 134), true],
    ['a datagram to another port', changed(SOLICIT, 43, 0x24), false],
    ['another message of ICMPv6', changed(ROUTER_SOLICITATION, 40, 135), false],
    ['TCP', changed(SOLICIT, 6, 6), false],
  ])('accepts what is for the server: %s', (_, packet, isAccepted) => {
    expect(runFilter(program, packet)).toBe(isAccepted ? 0xffff : 0);
    expect(runFilter(program, packet, 3), 'a frame to another host, or of a VLAN that the interface does not have').toBe(0);
  });
});
