/** Socket addresses as the kernel reads them. Source: ip(7), packet(7). */
import { AF_INET, AF_PACKET } from './constants.js';

/** Octets of a `struct sockaddr_in`. Source: ip(7). */
export const SOCKADDR_IN_LENGTH = 16;
/** Octets of a `struct sockaddr_ll`. Source: packet(7). */
export const SOCKADDR_LL_LENGTH = 20;
/** Where the hardware address stands in a `struct sockaddr_ll`. */
const HARDWARE_ADDRESS_AT = 12;

/** Writes a `struct sockaddr_in`, by octets: on the packet path they are much quicker than methods of Buffer. @param address - IPv4, 0 to 2^32 - 1. */
export function writeSockaddrIn(into: Uint8Array, address: number, port: number): void {
  into[0] = AF_INET;
  into[1] = 0;
  into[2] = port >>> 8;
  into[3] = port;
  into[4] = address >>> 24;
  into[5] = address >>> 16;
  into[6] = address >>> 8;
  into[7] = address;
}

/** The target of a packet socket: an interface, and the type of the frames. */
export interface LinkTarget {
  readonly interfaceIndex: number;
  /** `libc.ETHERTYPE_...` */
  readonly etherType: number;
}

/** Writes a `struct sockaddr_ll`: where a packet socket sends a frame to. @param hardwareAddress - six octets. */
export function writeSockaddrLl(into: Uint8Array, { interfaceIndex, etherType }: LinkTarget, hardwareAddress: Uint8Array): void {
  into[0] = AF_PACKET;
  into[1] = 0;
  into[2] = etherType >>> 8;
  into[3] = etherType;
  into[4] = interfaceIndex;
  into[5] = interfaceIndex >>> 8;
  into[6] = interfaceIndex >>> 16;
  into[7] = interfaceIndex >>> 24;
  // Hardware type and packet type are set only in received frames.
  into[8] = 0;
  into[9] = 0;
  into[10] = 0;
  into[11] = 6;
  for (let octet = 0; octet < 6; octet++) into[HARDWARE_ADDRESS_AT + octet] = hardwareAddress[octet] as number;
}

/** The six octets of the hardware address in a `struct sockaddr_ll`, copied. */
export function readHardwareAddress(sockaddrLl: Buffer): Uint8Array {
  return Uint8Array.from(sockaddrLl.subarray(HARDWARE_ADDRESS_AT, HARDWARE_ADDRESS_AT + 6));
}
