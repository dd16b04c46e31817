/** IPv4 and UDP header of a datagram that is sent without the kernel's routing. Source: RFC 791 §3.1, RFC 768. */

/** Octets of both headers. */
export const UDP_HEADERS_LENGTH = 28;
/** The largest payload of a datagram in one Ethernet frame. */
export const LARGEST_PAYLOAD = 1_500 - UDP_HEADERS_LENGTH;

/** IPv4 addresses as numbers, 0 to 2^32 - 1. */
export interface Endpoints {
  readonly sourceAddress: number;
  readonly sourcePort: number;
  readonly destinationAddress: number;
  readonly destinationPort: number;
}

/**
 * Writes the 28 octets of both headers at the start of `packet`; the payload stands behind them already.
 * @param payloadLength - octets, up to 65507.
 */
export function writeUdpHeaders(packet: Buffer, payloadLength: number, endpoints: Endpoints): void {
  const { sourceAddress, sourcePort, destinationAddress, destinationPort } = endpoints;
  packet.writeUInt16BE(0x4500, 0);
  packet.writeUInt16BE(UDP_HEADERS_LENGTH + payloadLength, 2);
  packet.writeUInt32BE(0x0000_4000, 4);
  packet.writeUInt32BE(0x4011_0000, 8);
  packet.writeUInt32BE(sourceAddress, 12);
  packet.writeUInt32BE(destinationAddress, 16);
  packet.writeUInt16BE(internetChecksum(packet, 0, 20), 10);
  packet.writeUInt16BE(sourcePort, 20);
  packet.writeUInt16BE(destinationPort, 22);
  packet.writeUInt16BE(8 + payloadLength, 24);
  packet.writeUInt16BE(0, 26);
  // Source: RFC 768: a pseudo header of addresses, protocol (17) and length is summed along; a sum of 0 is sent as 0xffff.
  const pseudo = (sourceAddress >>> 16) + (sourceAddress & 0xffff) + (destinationAddress >>> 16) + (destinationAddress & 0xffff);
  const checksum = internetChecksum(packet, 20, UDP_HEADERS_LENGTH + payloadLength, pseudo + 17 + 8 + payloadLength);
  packet.writeUInt16BE(checksum === 0 ? 0xffff : checksum, 26);
}

/** The ones' complement of the ones' complement sum of 16-bit words. Source: RFC 1071 §1. */
// oxlint-disable-next-line max-params -- for every packet: a view of the octets would be garbage each time
export function internetChecksum(bytes: Uint8Array, start: number, end: number, initial = 0): number {
  let sum = initial;
  for (let at = start; at + 1 < end; at += 2) sum += ((bytes[at] as number) << 8) | (bytes[at + 1] as number);
  if ((end - start) % 2 === 1) sum += (bytes[end - 1] as number) << 8;
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >>> 16);
  return ~sum & 0xffff;
}
