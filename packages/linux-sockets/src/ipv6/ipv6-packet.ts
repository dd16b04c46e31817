/** IPv6 packets without extension headers, whose payload has a checksum. Source: RFC 8200 §3, §8.1. */
import { sumOfOctets } from '../packet/udp-headers.js';

const HEADER_LENGTH = 40;
const ADDRESS_LENGTH = 16;
const SOURCE_AT = 8;
const DESTINATION_AT = 24;
/** Source: RFC 8200 §4; IANA, Protocol Numbers. */
export const NextHeader = { udp: 17, icmpv6: 58 } as const;
/** Where each protocol has its checksum. Source: RFC 768, RFC 4443 §2.1. */
const CHECKSUM_AT: Readonly<Record<number, number>> = { [NextHeader.udp]: 6, [NextHeader.icmpv6]: 2 };

/** An IPv6 packet. */
export interface Ipv6Packet {
  /** Sixteen octets. */
  readonly source: Uint8Array;
  /** Sixteen octets. */
  readonly destination: Uint8Array;
  /** One of `NextHeader`, if it is to be written. */
  readonly nextHeader: number;
  /** 0 to 255. */
  readonly hopLimit: number;
  readonly payload: Uint8Array;
}

/** The packet in these octets, or undefined for anything else and a torn one. Checksums are not verified: on virtual interfaces the kernel often leaves them to be filled in. */
export function readIpv6Packet(octets: Uint8Array): Ipv6Packet | undefined {
  if (octets.length < HEADER_LENGTH || (octets[0] as number) >>> 4 !== 6) return undefined;
  const end = HEADER_LENGTH + (((octets[4] as number) << 8) | (octets[5] as number));
  if (end > octets.length) return undefined;
  return {
    source: octets.slice(SOURCE_AT, SOURCE_AT + ADDRESS_LENGTH),
    destination: octets.slice(DESTINATION_AT, DESTINATION_AT + ADDRESS_LENGTH),
    nextHeader: octets[6] as number,
    hopLimit: octets[7] as number,
    payload: octets.subarray(HEADER_LENGTH, end),
  };
}

/** The octets of a packet, with the checksum of its payload. @throws RangeError for a protocol that is not in `NextHeader`. */
export function encodeIpv6Packet({ source, destination, nextHeader, hopLimit, payload }: Ipv6Packet): Uint8Array {
  const checksumAt = CHECKSUM_AT[nextHeader];
  if (checksumAt === undefined) throw new RangeError(`no checksum is known for protocol ${nextHeader}`);
  const octets = new Uint8Array(HEADER_LENGTH + payload.length);
  octets.set([0x60, 0, 0, 0, payload.length >>> 8, payload.length & 0xff, nextHeader, hopLimit]);
  octets.set(source, SOURCE_AT);
  octets.set(destination, DESTINATION_AT);
  octets.set(payload, HEADER_LENGTH);
  octets.set([0, 0], HEADER_LENGTH + checksumAt);
  // The addresses, the length and the protocol are summed along.
  let sum = sumOfOctets(octets, SOURCE_AT, octets.length) + payload.length + nextHeader;
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >>> 16);
  // "if that computation yields a result of zero, it must be changed to hex FFFF"
  const checksum = ~sum & 0xffff || 0xffff;
  octets.set([checksum >>> 8, checksum & 0xff], HEADER_LENGTH + checksumAt);
  return octets;
}

const UDP_HEADER_LENGTH = 8;

/** A UDP datagram without addresses. */
export interface UdpPayload {
  readonly sourcePort: number;
  readonly destinationPort: number;
  readonly data: Uint8Array;
}

/** The datagram in the payload of a packet; undefined if it is torn. Source: RFC 768. */
export function readUdpPayload(payload: Uint8Array): UdpPayload | undefined {
  const uint16 = (at: number) => ((payload[at] as number) << 8) | (payload[at + 1] as number);
  if (payload.length < UDP_HEADER_LENGTH) return undefined;
  const length = uint16(4);
  if (length < UDP_HEADER_LENGTH || length > payload.length) return undefined;
  return { sourcePort: uint16(0), destinationPort: uint16(2), data: payload.subarray(UDP_HEADER_LENGTH, length) };
}

/** The payload of a packet, whose checksum is still to be written. */
export function encodeUdpPayload({ sourcePort, destinationPort, data }: UdpPayload): Uint8Array {
  const payload = new Uint8Array(UDP_HEADER_LENGTH + data.length);
  const fields = [sourcePort, destinationPort, payload.length];
  payload.set(fields.flatMap((field) => [field >>> 8, field & 0xff]));
  payload.set(data, UDP_HEADER_LENGTH);
  return payload;
}

/**
 * A link-local address, sixteen octets, that belongs to a MAC address and is not the one that its host makes of it (RFC 4291, appendix A: ff:fe in the
 * middle): hosts forget the routes of a router from whose address a Router Advertisement without a lifetime comes (RFC 4861 §6.3.4).
 */
export function linkLocalAddressBeside(hardwareAddress: Uint8Array): Uint8Array {
  return Uint8Array.of(0xfe, 0x80, 0, 0, 0, 0, 0, 0, ...hardwareAddress.slice(0, 3), 0xff, 0xfd, ...hardwareAddress.slice(3, 6));
}

/** The MAC address of the frames to a group, six octets. Source: RFC 2464 §7. */
export function groupHardwareAddressOf(group: Uint8Array): Uint8Array {
  return Uint8Array.of(0x33, 0x33, ...group.slice(-4));
}
