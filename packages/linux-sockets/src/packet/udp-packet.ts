import type { Endpoints } from './udp-headers.js';

/** A UDP datagram with its addresses. */
export interface UdpDatagram extends Endpoints {
  readonly payload: Uint8Array;
}

const PROTOCOL_UDP = 17;

/**
 * The UDP datagram in an IPv4 packet, or undefined for anything else, a fragment or a torn one. Checksums are not
 * verified: on virtual interfaces the kernel often leaves them to be filled in. Source: RFC 791 §3.1, RFC 768.
 */
export function parseUdpPacket(packet: Buffer): UdpDatagram | undefined {
  if (packet.length < 28 || packet.readUInt8(0) >>> 4 !== 4 || packet.readUInt8(9) !== PROTOCOL_UDP) return undefined;
  const headerLength = (packet.readUInt8(0) & 0x0f) * 4;
  const isFragment = (packet.readUInt16BE(6) & 0x3fff) !== 0;
  if (isFragment || headerLength < 20 || packet.length < headerLength + 8) return undefined;
  const udpLength = packet.readUInt16BE(headerLength + 4);
  if (udpLength < 8 || headerLength + udpLength > packet.length) return undefined;
  return {
    sourceAddress: packet.readUInt32BE(12),
    destinationAddress: packet.readUInt32BE(16),
    sourcePort: packet.readUInt16BE(headerLength),
    destinationPort: packet.readUInt16BE(headerLength + 2),
    payload: packet.subarray(headerLength + 8, headerLength + udpLength),
  };
}
