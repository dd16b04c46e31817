import type { MacAddress } from '@vmdhcp/dhcp-allocator/address';
import type { SecureOnPassword } from './secure-on-password.js';

/** The number of octets 0xff at the start of a magic packet. */
export const SYNCHRONIZATION_LENGTH = 6;
/** The number of repetitions of the MAC address. */
export const REPETITIONS = 16;
/** Octets of a magic packet without password: 6 + 16 * 6. */
export const MAGIC_PACKET_LENGTH = 102;

/** A request to wake the machine that has this MAC address. Source: AMD, Magic Packet Technology, publication 20213. */
export interface MagicPacket {
  readonly macAddress: MacAddress;
  /** Present only if exactly 4 or 6 octets follow the last repetition; other octets after it are ignored. */
  readonly password?: SecureOnPassword;
}
