/**
 * A magic packet may be anywhere in a payload. Its MAC address is never a group address, so its first octet is never 0xff: in a
 * row of six or more octets 0xff, the last six are the synchronization stream, and no place in a payload has to be tried twice.
 */
import { isGroupMacAddress, readMacAddress } from '@vmdhcp/dhcp-allocator/address';
import { type MagicPacket, REPETITIONS, SYNCHRONIZATION_LENGTH } from './magic-packet.js';
import { isPasswordLength } from './secure-on-password.js';

const MAC_LENGTH = 6;
const REPEATED_LENGTH = REPETITIONS * MAC_LENGTH;

/** Why octets are not a magic packet. */
export type NotMagicReason =
  /** It does not contain six octets 0xff. */
  | 'no-synchronization-stream'
  /** The payload ends before the sixteenth repetition. */
  | 'cut-off'
  /** The synchronization stream is not followed by one address sixteen times. */
  | 'address-not-repeated'
  /** A multicast address, or 00:00:00:00:00:00, which no machine has. */
  | 'not-a-machine-address';

/** The magic packet in the octets, or why there is none. */
export type DecodedMagicPacket =
  | { readonly ok: true; readonly packet: MagicPacket }
  | { readonly ok: false; readonly reason: NotMagicReason };

/**
 * The first magic packet in a UDP payload, or in the payload of a frame; otherwise the reason why there is none, from the last
 * place that looked like one. Never throws. Takes time in proportion to the length.
 */
export function decodeMagicPacket(payload: Uint8Array): DecodedMagicPacket {
  let reason: NotMagicReason = 'no-synchronization-stream';
  for (let at = endOfSynchronization(payload, 0); at !== undefined; at = endOfSynchronization(payload, at)) {
    const problem = problemAt(payload, at);
    if (problem === undefined) return { ok: true, packet: packetAt(payload, at) };
    reason = problem;
  }
  return { ok: false, reason };
}

/** The end of the first row of six or more octets 0xff that begins at `from` or later. */
function endOfSynchronization(payload: Uint8Array, from: number): number | undefined {
  for (let start = payload.indexOf(0xff, from); start !== -1; start = payload.indexOf(0xff, start)) {
    let end = start + 1;
    while (payload[end] === 0xff) end++;
    if (end - start >= SYNCHRONIZATION_LENGTH) return end;
    start = end;
  }
  return undefined;
}

function problemAt(payload: Uint8Array, at: number): NotMagicReason | undefined {
  const end = Math.min(at + REPEATED_LENGTH, payload.length);
  for (let octet = at + MAC_LENGTH; octet < end; octet++) {
    if (payload[octet] !== payload[octet - MAC_LENGTH]) return 'address-not-repeated';
  }
  if (end < at + REPEATED_LENGTH) return 'cut-off';
  const macAddress = readMacAddress(payload, at);
  return isGroupMacAddress(macAddress) || macAddress === '00:00:00:00:00:00' ? 'not-a-machine-address' : undefined;
}

function packetAt(payload: Uint8Array, at: number): MagicPacket {
  const macAddress = readMacAddress(payload, at);
  const after = at + REPEATED_LENGTH;
  return isPasswordLength(payload.length - after) ? { macAddress, password: payload.slice(after) } : { macAddress };
}
