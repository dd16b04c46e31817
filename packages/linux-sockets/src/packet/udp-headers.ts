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
 * Writes the 28 octets of both headers at the start of `packet`; the payload is already there.
 * @param payloadLength - octets, up to 65507.
 * @param sum - of the payload, if `payloadSum` has already computed it.
 */
// oxlint-disable-next-line max-params -- for every packet: an object would be garbage each time
export function writeUdpHeaders(
  packet: Uint8Array,
  payloadLength: number,
  endpoints: Endpoints,
  sum = sumOfOctets(packet, UDP_HEADERS_LENGTH, UDP_HEADERS_LENGTH + payloadLength),
): void {
  const { sourceAddress, sourcePort, destinationAddress, destinationPort } = endpoints;
  const udpLength = 8 + payloadLength;
  writeUint16(packet, 0, 0x4500);
  writeUint16(packet, 2, 20 + udpLength);
  writeUint16(packet, 4, 0);
  writeUint16(packet, 6, 0x4000);
  writeUint16(packet, 8, 0x4011);
  writeUint32(packet, 12, sourceAddress);
  writeUint32(packet, 16, destinationAddress);
  const addresses =
    (sourceAddress >>> 16) + (sourceAddress & 0xffff) + (destinationAddress >>> 16) + (destinationAddress & 0xffff);
  writeUint16(packet, 10, checksumOf(0x4500 + 20 + udpLength + 0x4000 + 0x4011 + addresses));
  writeUint16(packet, 20, sourcePort);
  writeUint16(packet, 22, destinationPort);
  writeUint16(packet, 24, udpLength);
  // Source: RFC 768: a pseudo header of addresses, protocol (17) and length is summed along; a sum of 0 is sent as 0xffff.
  const checksum = checksumOf(addresses + 17 + udpLength + sourcePort + destinationPort + udpLength + sum);
  writeUint16(packet, 26, checksum === 0 ? 0xffff : checksum);
}

/**
 * The sum of a payload from `UDP_HEADERS_LENGTH` to `end`, for `writeUdpHeaders`, a third of the time of summing octets.
 * @param packet - up to three octets behind the end are overwritten, to the next multiple of four.
 * @param words - the same memory.
 */
export function payloadSum(packet: Uint8Array, words: Int32Array, end: number): number {
  let lastWord = end >> 2;
  if (end % 4 !== 0) {
    lastWord++;
    for (let at = end; at < 4 * lastWord; at++) packet[at] = 0;
  }
  let sum = 0;
  for (let at = UDP_HEADERS_LENGTH >> 2; at < lastWord; at++) {
    const word = words[at] as number;
    sum += (word & 0xffff) + (word >>> 16);
  }
  // The words are little-endian: a sum of swapped halves is the swapped sum. Source: RFC 1071 §2 (B).
  const folded = fold(sum);
  return ((folded & 0xff) << 8) | (folded >>> 8);
}

/** The sum of 16-bit words in the order of the network, not folded. Source: RFC 1071 §1. */
export function sumOfOctets(octets: Uint8Array, start: number, end: number): number {
  let sum = 0;
  for (let at = start; at + 1 < end; at += 2) sum += ((octets[at] as number) << 8) | (octets[at + 1] as number);
  if ((end - start) % 2 === 1) sum += (octets[end - 1] as number) << 8;
  return sum;
}

/** The ones' complement of a sum that is folded into 16 bits. */
function checksumOf(sum: number): number {
  return ~fold(sum) & 0xffff;
}

function fold(sum: number): number {
  let folded = sum;
  while (folded > 0xffff) folded = (folded & 0xffff) + (folded >>> 16);
  return folded;
}

/** Stores of single octets: on the packet path they are much quicker than methods of Buffer. */
function writeUint16(into: Uint8Array, at: number, value: number): void {
  into[at] = value >>> 8;
  into[at + 1] = value;
}

function writeUint32(into: Uint8Array, at: number, value: number): void {
  into[at] = value >>> 24;
  into[at + 1] = value >>> 16;
  into[at + 2] = value >>> 8;
  into[at + 3] = value;
}
