/** Rebuilds the IPv4 and UDP headers of a datagram as they were on the wire, because a UDP socket shows only the payload. */
import type { Ipv4Address } from '@vmdhcp/dhcp-allocator';

const IP_HEADER = 20;
const UDP_HEADER = 8;
/** Octets of the IPv4 and UDP headers before a DHCP message. */
export const RAW_HEADERS = IP_HEADER + UDP_HEADER;
const VERSION_AND_LENGTH = 0x45;
const TIME_TO_LIVE = 64;
const UDP = 17;

export interface DatagramAddresses {
  readonly source: Ipv4Address;
  readonly sourcePort: number;
  readonly destination: Ipv4Address;
  readonly destinationPort: number;
}

/** The packet from its IPv4 header on. It has no UDP checksum, which IPv4 allows. Source: RFC 791 §3.1, RFC 768. */
export function encodeRawIpPacket(payload: Uint8Array, addresses: DatagramAddresses): Uint8Array {
  const { source, sourcePort, destination, destinationPort } = addresses;
  const packet = new Uint8Array(RAW_HEADERS + payload.length);
  const view = new DataView(packet.buffer);
  packet[0] = VERSION_AND_LENGTH;
  view.setUint16(2, packet.length);
  packet[8] = TIME_TO_LIVE;
  packet[9] = UDP;
  view.setUint32(12, source);
  view.setUint32(16, destination);
  view.setUint16(10, headerChecksum(view));
  view.setUint16(IP_HEADER, sourcePort);
  view.setUint16(IP_HEADER + 2, destinationPort);
  view.setUint16(IP_HEADER + 4, UDP_HEADER + payload.length);
  packet.set(payload, RAW_HEADERS);
  return packet;
}

/** Source: RFC 1071 §1. */
function headerChecksum(view: DataView): number {
  let sum = 0;
  for (let at = 0; at < IP_HEADER; at += 2) sum += view.getUint16(at);
  sum = (sum & 0xffff) + (sum >>> 16);
  return ~((sum & 0xffff) + (sum >>> 16)) & 0xffff;
}
