/** Attributes of messages to and from the kernel's routing socket. Source: netlink(7); numbers are little-endian here. */

export type NetlinkAttribute = readonly [type: number, value: Buffer];

const HEADER_LENGTH = 4;
/** Flags of an attribute: it contains others; it is in network byte order. */
const TYPE_MASK = 0x3fff;

/** Encodes attributes one after the other, each padded to four octets; also the value of an attribute that contains others. */
export function encodeAttributes(attributes: readonly NetlinkAttribute[]): Buffer {
  const parts = attributes.map(([type, value]) => {
    const part = Buffer.alloc(padded(HEADER_LENGTH + value.length));
    part.writeUInt16LE(HEADER_LENGTH + value.length, 0);
    part.writeUInt16LE(type, 2);
    value.copy(part, HEADER_LENGTH);
    return part;
  });
  return Buffer.concat(parts);
}

/** The values by type. An attribute that is cut off, or shorter than its length field, ends the list. */
export function decodeAttributes(octets: Buffer): Map<number, Buffer> {
  const values = new Map<number, Buffer>();
  let at = 0;
  while (at + HEADER_LENGTH <= octets.length) {
    const length = octets.readUInt16LE(at);
    if (length < HEADER_LENGTH || at + length > octets.length) break;
    values.set(octets.readUInt16LE(at + 2) & TYPE_MASK, octets.subarray(at + HEADER_LENGTH, at + length));
    at += padded(length);
  }
  return values;
}

/** A number as the value of an attribute. */
export function encodeUint32(value: number): Buffer {
  const octets = Buffer.alloc(4);
  octets.writeUInt32LE(value);
  return octets;
}

/** A name as the value of an attribute: it ends with a zero. */
export function encodeName(value: string): Buffer {
  return Buffer.from(`${value}\0`);
}

/** An IPv4 address as the value of an attribute. */
export function ipv4(address: number): Buffer {
  const octets = Buffer.alloc(4);
  octets.writeUInt32BE(address);
  return octets;
}

function padded(length: number): number {
  return (length + 3) & ~3;
}
