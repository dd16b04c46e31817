import { encodeMessage, parseIpv4Address } from '@vmdhcp/dhcp-allocator';
import { UDP_HEADERS_LENGTH, writeUdpHeaders } from '@vmdhcp/linux-sockets';
import { FIRST_CLIENT } from './load-generator.js';
import { FIRST_ADDRESS, SERVER_ADDRESS } from './served-network.js';

const OFFER = 2;
const ACK = 5;

/** Replies of the length that the agent's have, without what comes from the request, behind IPv4 and UDP headers. */
export interface EchoTemplates {
  readonly offer: Uint8Array;
  readonly ack: Uint8Array;
}

/**
 * The checksum of the IPv4 header is the sum of the header without its destination; that of UDP is 0, none, as the octets after it change.
 * Source: RFC 768.
 */
export function echoTemplates(): EchoTemplates {
  return { offer: template(OFFER), ack: template(ACK) };
}

/** The address of the client whose MAC address stands there: the first one has the first address. */
export function addressForEcho(request: Buffer, at: number): number {
  return FIRST_ADDRESS + request.readUInt32BE(at + 2) - (FIRST_CLIENT % 0x1_0000_0000);
}

function template(type: number): Uint8Array {
  const server = octets(parseIpv4Address(SERVER_ADDRESS) ?? 0);
  const router = octets(parseIpv4Address('10.77.0.2') ?? 0);
  const { bytes } = encodeMessage({
    ...{ op: 2, htype: 1, hlen: 6, hops: 0, xid: 0, secs: 0, flags: 0, ciaddr: 0, yiaddr: 0, siaddr: 0, giaddr: 0 },
    chaddr: new Uint8Array(6),
    sname: new Uint8Array(0),
    file: new Uint8Array(0),
    options: [
      [53, Uint8Array.of(type)],
      [54, server],
      [51, octets(3600)],
      [1, Uint8Array.of(255, 255, 0, 0)],
      [3, router],
      [6, router],
    ],
  });
  const packet = Buffer.alloc(UDP_HEADERS_LENGTH + bytes.length);
  packet.set(bytes, UDP_HEADERS_LENGTH);
  const sourceAddress = parseIpv4Address(SERVER_ADDRESS) ?? 0;
  writeUdpHeaders(packet, bytes.length, { sourceAddress, sourcePort: 67, destinationAddress: 0, destinationPort: 68 });
  packet.writeUInt16BE(~packet.readUInt16BE(10) & 0xffff, 10);
  packet.writeUInt16BE(0, 26);
  return packet;
}

function octets(value: number): Uint8Array {
  const memory = Buffer.alloc(4);
  memory.writeUInt32BE(value);
  return memory;
}
