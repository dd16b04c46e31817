import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { payloadSum, sumOfOctets, UDP_HEADERS_LENGTH, writeUdpHeaders } from './udp-headers.js';
import { parseUdpPacket } from './udp-packet.js';

const address = fc.integer({ min: 0, max: 0xffffffff });
const port = fc.integer({ min: 0, max: 65_535 });

/** From 10.0.0.1:4000 to 10.0.0.2:4001, as a Linux kernel sent it on a veth pair, with an unfinished UDP checksum. */
const OF_KERNEL = Buffer.from('45000021000040004011' + '26ca' + '0a0000010a000002' + '0fa00fa1000d1421' + '68656c6c6f', 'hex');
/** The headers of 300 octets from 0.0.0.0:68 to 255.255.255.255:67 that busybox sent in a frame, with checksums of its own. */
const OF_BUSYBOX = Buffer.concat([
  Buffer.from('450001480000000040117' + '9a600000000ffffffff' + '004400430134434c', 'hex'),
  Buffer.from('01010600cc642623', 'hex'),
  Buffer.alloc(20),
  Buffer.from('020000000001', 'hex'),
  Buffer.alloc(202),
  Buffer.from('638253633501013902024037070103060c0f1c2a3c0c7564686370', 'hex'),
  Buffer.from('20312e33352e303d0701020000000001ff', 'hex'),
  Buffer.alloc(20),
]);

describe('recorded UDP packets', () => {
  it('the packet of a kernel is read, and we write the same IPv4 header', () => {
    const endpoints = { sourceAddress: 0x0a000001, sourcePort: 4000, destinationAddress: 0x0a000002, destinationPort: 4001 };
    expect(parseUdpPacket(OF_KERNEL)).toEqual({ ...endpoints, payload: Buffer.from('hello') });
    const packet = Buffer.concat([Buffer.alloc(UDP_HEADERS_LENGTH), Buffer.from('hello')]);
    writeUdpHeaders(packet, 5, endpoints);
    expect(packet.subarray(0, 26)).toEqual(OF_KERNEL.subarray(0, 26));
  });

  it('the packet of busybox is read, and we write the same UDP checksum', () => {
    const endpoints = { sourceAddress: 0, sourcePort: 68, destinationAddress: 0xffff_ffff, destinationPort: 67 };
    expect(OF_BUSYBOX).toHaveLength(328);
    expect(parseUdpPacket(OF_BUSYBOX)).toEqual({ ...endpoints, payload: OF_BUSYBOX.subarray(28) });
    const packet = Buffer.from(OF_BUSYBOX).fill(0, 0, UDP_HEADERS_LENGTH);
    writeUdpHeaders(packet, 300, endpoints);
    expect(packet.subarray(20, 28)).toEqual(OF_BUSYBOX.subarray(20, 28));
  });

  it.each([
    ['IPv6', 0, '65'],
    ['TCP', 9, '06'],
    ['a first fragment', 6, '2000'],
    ['a later fragment', 6, '0001'],
    ['a header length below 20', 0, '44'],
    ['a header longer than the packet', 0, '4f'],
    ['a UDP length below 8', 24, '0007'],
    ['a UDP length beyond the packet', 24, '000e'],
  ])('%s is refused', (_, at, octets) => {
    const packet = Buffer.from(OF_KERNEL);
    packet.write(octets, at, 'hex');
    expect(parseUdpPacket(packet)).toBeUndefined();
  });

  it('IPv4 options, and padding behind the datagram, are skipped', () => {
    const withOptions = Buffer.concat([Buffer.of(0x46), OF_KERNEL.subarray(1, 20), Buffer.alloc(4), OF_KERNEL.subarray(20)]);
    expect(parseUdpPacket(Buffer.concat([withOptions, Buffer.alloc(9)]))?.payload).toEqual(Buffer.from('hello'));
  });
});

describe('IPv4 and UDP headers', () => {
  it('RFC 1071 §3: the example of the sum, before the carries are added', () => {
    expect(sumOfOctets(Uint8Array.of(0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7), 0, 8)).toBe(0x2ddf0);
  });

  it('RFC 768: a checksum of zero is sent as ones', () => {
    const packet = Buffer.alloc(UDP_HEADERS_LENGTH + 2);
    // 17 (protocol) + 10 + 10 (lengths) + ports + addresses + payload make 0xffff.
    packet.writeUInt16BE(0xffff - 37 - 3, UDP_HEADERS_LENGTH);
    writeUdpHeaders(packet, 2, { sourceAddress: 0, sourcePort: 1, destinationAddress: 0, destinationPort: 2 });
    expect(packet.readUInt16BE(26)).toBe(0xffff);
  });

  it('law: a written packet is read back, both checksums are right, and a torn packet is refused', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 400 }),
        address,
        address,
        port,
        port,
        (payload, ...[sourceAddress, destinationAddress, sourcePort, destinationPort]) => {
          const frame = Buffer.alloc(UDP_HEADERS_LENGTH + payload.length);
          frame.set(payload, UDP_HEADERS_LENGTH);
          const endpoints = { sourceAddress, destinationAddress, sourcePort, destinationPort };
          writeUdpHeaders(frame, payload.length, endpoints);
          const datagram = parseUdpPacket(frame);
          expect(datagram).toEqual({ ...endpoints, payload: frame.subarray(UDP_HEADERS_LENGTH) });
          expect(sumOfOctets(frame, 0, 20) % 0xffff).toBe(0);
          const words = [sourceAddress, destinationAddress].reduce(
            (sum, value) => sum + (value >>> 16) + (value & 0xffff),
            17 + 8 + payload.length,
          );
          expect((sumOfOctets(frame, 20, frame.length) + words) % 0xffff).toBe(0);
          expect(parseUdpPacket(frame.subarray(0, frame.length - 1))).toBeUndefined();
        },
      ),
    );
  });

  it('law: a payload that is summed in words gets the same headers, whatever follows it', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), fc.uint8Array({ maxLength: 9 }), (payload, behind) => {
        const [frame, other] = [new Uint8Array(440), new Uint8Array(440)];
        for (const memory of [frame, other]) {
          memory.set(payload, UDP_HEADERS_LENGTH);
          memory.set(behind, UDP_HEADERS_LENGTH + payload.length);
        }
        const endpoints = { sourceAddress: 0x0a000001, sourcePort: 67, destinationAddress: 0xffff_ffff, destinationPort: 68 };
        const end = UDP_HEADERS_LENGTH + payload.length;
        writeUdpHeaders(frame, payload.length, endpoints);
        writeUdpHeaders(other, payload.length, endpoints, payloadSum(other, new Int32Array(other.buffer), end));
        expect(other.subarray(0, end)).toEqual(frame.subarray(0, end));
      }),
    );
  });

  it('law: reading any octets never throws', () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 100 }), (octets) => void parseUdpPacket(Buffer.from(octets))));
  });
});
