/** Socket addresses as the kernel reads them. Source: ip(7), packet(7). */
import { AF_INET, AF_PACKET } from './constants.js';

export const SOCKADDR_IN_LENGTH = 16;
export const SOCKADDR_LL_LENGTH = 20;
/** Where the hardware address stands in a `struct sockaddr_ll`. */
const HARDWARE_ADDRESS_AT = 12;

/** Writes a `struct sockaddr_in`. @param address - IPv4, 0 to 2^32 - 1. */
export function writeSockaddrIn(into: Buffer, address: number, port: number): void {
  into.writeUInt16LE(AF_INET, 0);
  into.writeUInt16BE(port, 2);
  into.writeUInt32BE(address, 4);
}

/** What a packet socket sends to: an interface, and the type of the frames. */
export interface LinkTarget {
  readonly interfaceIndex: number;
  /** `libc.ETHERTYPE_...` */
  readonly etherType: number;
}

/** Writes a `struct sockaddr_ll`: where a packet socket sends a frame to. @param hardwareAddress - six octets. */
export function writeSockaddrLl(into: Buffer, { interfaceIndex, etherType }: LinkTarget, hardwareAddress: Uint8Array): void {
  into.writeUInt16LE(AF_PACKET, 0);
  into.writeUInt16BE(etherType, 2);
  into.writeInt32LE(interfaceIndex, 4);
  // Hardware type and packet type are of received frames only.
  into.writeUInt32LE(0, 8);
  into.writeUInt8(6, 11);
  for (let octet = 0; octet < 6; octet++) into[HARDWARE_ADDRESS_AT + octet] = hardwareAddress[octet] as number;
}

/** The six octets of the hardware address in a `struct sockaddr_ll`, copied. */
export function readHardwareAddress(sockaddrLl: Buffer): Uint8Array {
  return Uint8Array.from(sockaddrLl.subarray(HARDWARE_ADDRESS_AT, HARDWARE_ADDRESS_AT + 6));
}
