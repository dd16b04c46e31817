import type { MacAddress } from '@vmdhcp/dhcp-allocator/address';
import type { SecureOnPassword } from './secure-on-password.js';

/** Octets of 0xff with which a magic packet begins. */
export const SYNCHRONIZATION_LENGTH = 6;
/** How often the MAC address follows. */
export const REPETITIONS = 16;
/** Octets of a magic packet without password: 6 + 16 * 6. */
export const MAGIC_PACKET_LENGTH = 102;

/** A request to wake the machine that has this MAC address. Source: AMD, Magic Packet Technology, publication 20213. */
export interface MagicPacket {
  readonly macAddress: MacAddress;
  /** Only where exactly 4 or 6 octets follow the last repetition; other octets after it are ignored. */
  readonly password?: SecureOnPassword;
}
