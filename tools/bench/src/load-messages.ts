/** The messages of clients as templates, and what is read of replies: a few octets each. */
import { encodeMessage } from '@vmdhcp/dhcp-allocator';
import { writeUdpHeaders } from '@vmdhcp/linux-sockets';

/** Where messages have what changes from one to the next, and where their options begin. */
export const XID_AT = 4;
export const CHADDR_AT = 28;
export const OPTIONS_AT = 240;
/** Where the template of a REQUEST has the values of options 50 and 54. */
export const REQUESTED_AT = OPTIONS_AT + 5;
export const SERVER_AT = OPTIONS_AT + 11;
const ASKED_FOR = [1, 28, 3, 15, 6, 12];

interface TemplateFields {
  readonly giaddr: number;
  readonly flags: number;
  /** Octets of IP and UDP header before the message. */
  readonly headers: number;
}

/** A message of a client, after the headers of a frame if it is one. */
export function messageTemplate(
  { giaddr, flags, headers }: TemplateFields,
  options: readonly (readonly [number, readonly number[]])[],
): Buffer {
  const { bytes } = encodeMessage({
    ...{ op: 1, htype: 1, hlen: 6, hops: giaddr === 0 ? 0 : 1, xid: 0, secs: 0, flags, ciaddr: 0, yiaddr: 0, siaddr: 0, giaddr },
    chaddr: Uint8Array.of(0x00, 0x0c, 0x01, 0x02, 0x00, 0x00),
    sname: new Uint8Array(0),
    file: new Uint8Array(0),
    options: [...options.map(([code, value]) => [code, Uint8Array.from(value)] as const), [55, Uint8Array.from(ASKED_FOR)]],
  });
  const packet = Buffer.alloc(headers + bytes.length);
  packet.set(bytes, headers);
  if (headers > 0) {
    writeUdpHeaders(packet, bytes.length, {
      sourceAddress: 0,
      sourcePort: 68,
      destinationAddress: 0xffff_ffff,
      destinationPort: 67,
    });
    // 0: no checksum, as the octets after it change. Source: RFC 768.
    packet.writeUInt16BE(0, 26);
  }
  return packet;
}

export interface ReplyFields {
  type: number;
  /** Where the value of its option 54 stands. */
  serverAt: number;
}

/** One object for all replies: they come by the hundred thousand. */
export function readReply(
  packet: Buffer,
  into: ReplyFields,
  { start, end }: { readonly start: number; readonly end: number },
): void {
  into.type = 0;
  into.serverAt = 0;
  for (let at = start; at + 1 < end && packet[at] !== 255; ) {
    const code = packet[at] as number;
    if (code === 0) {
      at++;
      continue;
    }
    if (code === 53) into.type = packet[at + 2] as number;
    if (code === 54) into.serverAt = at + 2;
    if (into.type !== 0 && into.serverAt !== 0) break;
    at += 2 + (packet[at + 1] as number);
  }
}

/** @param headers - octets of IP and UDP header before the message. */
export function isReply(packet: Buffer, headers: number): boolean {
  return packet[headers] === 2 && (headers === 0 || packet[9] === 17);
}

/** Stores of octets are much quicker than methods of Buffer. */
export function writeUint32(into: Uint8Array, at: number, value: number): void {
  into[at] = value >>> 24;
  into[at + 1] = value >>> 16;
  into[at + 2] = value >>> 8;
  into[at + 3] = value;
}
