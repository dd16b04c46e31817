/** Magic packets directly in Ethernet frames, without IP. Source: IEEE 802.3, IEEE 802.1Q §9, EtherType 0x0842. */
import { type MacAddress, macAddressBytes, readMacAddress } from '@vmdhcp/dhcp-allocator/address';
import { type DecodedMagicPacket, decodeMagicPacket, type NotMagicReason } from './decode-magic-packet.js';
import { encodeMagicPacket } from './encode-magic-packet.js';
import type { MagicPacket } from './magic-packet.js';

/** The EtherType of frames that contain only a magic packet. */
export const ETHERTYPE_WAKE_ON_LAN = 0x0842;
/** 802.1Q, 802.1ad, and the value that switches used before 802.1ad. */
const VLAN_TAG_TYPES: ReadonlySet<number> = new Set([0x8100, 0x88a8, 0x9100]);
const MOST_TAGS = 2;
const ADDRESSES_LENGTH = 12;
const TAG_LENGTH = 4;
const TYPE_LENGTH = 2;

/** Why a frame is not a wake-up. */
export type NotWakeFrameReason =
  | NotMagicReason
  /** It ends in its header. */
  | 'frame-cut-off'
  /** It has another EtherType. */
  | 'another-ethertype'
  /** It has more than two VLAN tags. */
  | 'too-many-vlan-tags';

/** A magic packet and the header of its frame. */
export interface WakeFrame {
  readonly destination: MacAddress;
  readonly source: MacAddress;
  /** VLANs of its tags, 0 to 4095, the outer one first. */
  readonly vlanIds: readonly number[];
  readonly packet: MagicPacket;
}

/** The frame of Wake-on-LAN in the octets, or why there is none. */
export type DecodedWakeFrame =
  | { readonly ok: true; readonly frame: WakeFrame }
  | { readonly ok: false; readonly reason: NotWakeFrameReason };

/** The wake-up in an Ethernet frame without its checksum, or the reason why there is none. Never throws. */
export function decodeWakeFrame(octets: Uint8Array): DecodedWakeFrame {
  const vlanIds: number[] = [];
  let at = ADDRESSES_LENGTH;
  while (VLAN_TAG_TYPES.has(uint16(octets, at)) && vlanIds.length <= MOST_TAGS) {
    vlanIds.push(uint16(octets, at + TYPE_LENGTH) & 0x0fff);
    at += TAG_LENGTH;
  }
  if (vlanIds.length > MOST_TAGS) return { ok: false, reason: 'too-many-vlan-tags' };
  if (octets.length < at + TYPE_LENGTH) return { ok: false, reason: 'frame-cut-off' };
  if (uint16(octets, at) !== ETHERTYPE_WAKE_ON_LAN) return { ok: false, reason: 'another-ethertype' };
  const decoded: DecodedMagicPacket = decodeMagicPacket(octets.subarray(at + TYPE_LENGTH));
  if (!decoded.ok) return decoded;
  return {
    ok: true,
    frame: { destination: readMacAddress(octets), source: readMacAddress(octets, 6), vlanIds, packet: decoded.packet },
  };
}

/**
 * The octets of a frame without its checksum, with 802.1Q tags.
 * @throws RangeError for more than two VLANs, one outside 0 to 4095, or a password of another length than 4 or 6 octets.
 */
export function encodeWakeFrame({ destination, source, vlanIds, packet }: WakeFrame): Uint8Array {
  if (vlanIds.length > MOST_TAGS) throw new RangeError(`${vlanIds.length} VLAN tags; ${MOST_TAGS} is the most`);
  const wrong = vlanIds.find((id) => !(Number.isInteger(id) && id >= 0 && id <= 0x0fff));
  if (wrong !== undefined) throw new RangeError(`VLAN ${wrong}; it is 0 to 4095`);
  const tags = vlanIds.flatMap((id) => [0x81, 0x00, id >>> 8, id & 0xff]);
  return Uint8Array.from([
    ...macAddressBytes(destination),
    ...macAddressBytes(source),
    ...tags,
    ETHERTYPE_WAKE_ON_LAN >>> 8,
    ETHERTYPE_WAKE_ON_LAN & 0xff,
    ...encodeMagicPacket(packet),
  ]);
}

/** Octets past the end read as zero, which is not a tag. */
function uint16(octets: Uint8Array, at: number): number {
  return ((octets[at] ?? 0) << 8) | (octets[at + 1] ?? 0);
}
