// The part of `npm run fuzz` that mutates magic packets. What the decoder finds is compared with a search of every offset.
import { decodeMagicPacket, decodeWakeFrame, encodeMagicPacket, encodeWakeFrame } from '@vmdhcp/wake-on-lan';

const MAC = '02:ff:00:ff:ff:01';
const GOOD = encodeMagicPacket({ macAddress: MAC });
const FRAME = { destination: 'ff:ff:ff:ff:ff:ff', source: '02:00:00:00:00:09', packet: { macAddress: MAC } };

/** Packets of tools, which the worker mutates. */
export const MAGIC_SEEDS = [
  GOOD,
  encodeMagicPacket({ macAddress: MAC, password: Uint8Array.of(1, 2, 3, 4) }),
  encodeMagicPacket({ macAddress: MAC, password: Uint8Array.of(2, 255, 0, 255, 255, 1) }),
  Uint8Array.from([...GOOD.subarray(0, 60), ...GOOD]),
  encodeWakeFrame({ ...FRAME, vlanIds: [] }),
  encodeWakeFrame({ ...FRAME, vlanIds: [100, 48] }),
];

/** What became of a mutated packet, or why that must not be: `{ why }`. */
export function magicOutcomeOf(packet) {
  try {
    const decoded = decodeMagicPacket(packet);
    const found = decoded.ok ? decoded.packet.macAddress : undefined;
    const expected = searched(packet);
    if (found !== expected) return { why: `the decoder finds ${found}, a search of every offset ${expected}` };
    const frame = decodeWakeFrame(packet);
    if (frame.ok && found === undefined) return { why: 'a frame has a magic packet that its octets do not have' };
    if (!decodeMagicPacket(GOOD).ok) return { why: 'the next good packet wakes no machine' };
    return `magic packet: ${decoded.ok ? 'wakes' : decoded.reason}`;
  } catch (error) {
    return { why: error.stack };
  }
}

/** The first machine that a magic packet names, by the definition of one. */
function searched(packet) {
  for (let at = 0; at + GOOD.length <= packet.length; at++) {
    const address = packet.subarray(at + 6, at + 12);
    if (!packet.subarray(at, at + 6).every((octet) => octet === 0xff)) continue;
    if ((address[0] & 1) === 1 || address.every((octet) => octet === 0)) continue;
    if (packet.subarray(at + 6, at + GOOD.length).every((octet, index) => octet === address[index % 6]))
      return Array.from(address, (octet) => octet.toString(16).padStart(2, '0')).join(':');
  }
  return undefined;
}
