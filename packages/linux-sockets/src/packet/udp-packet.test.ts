import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { internetChecksum, UDP_HEADERS_LENGTH, writeUdpHeaders } from './udp-headers.js';
import { parseUdpPacket } from './udp-packet.js';

const address = fc.integer({ min: 0, max: 0xffffffff });
const port = fc.integer({ min: 0, max: 65_535 });

describe('IPv4 and UDP headers', () => {
  it('RFC 1071 §3: the example of the checksum', () => {
    expect(internetChecksum(Uint8Array.of(0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7), 0, 8)).toBe(0xffff - 0xddf2);
  });

  it('law: what is written is read, both checksums are right, and what is torn is nothing', () => {
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
          expect(internetChecksum(frame, 0, 20)).toBe(0);
          const words = [sourceAddress, destinationAddress].reduce(
            (sum, value) => sum + (value >>> 16) + (value & 0xffff),
            17 + 8 + payload.length,
          );
          expect(internetChecksum(frame, 20, frame.length, words)).toBe(0);
          expect(parseUdpPacket(frame.subarray(0, frame.length - 1))).toBeUndefined();
        },
      ),
    );
  });

  it('law: any octets are read or not, never thrown at', () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 100 }), (octets) => void parseUdpPacket(Buffer.from(octets))));
  });
});
