/**
 * Filters ARP packets in the kernel, so that in a flood the packets of others do not fill the socket's buffer. Source:
 * Documentation/networking/filter.rst (classic BPF).
 */

import type { Ipv4Number } from '../ethernet/mac-address.js';
import * as libc from '../libc/libc.js';
import { ARP_SENDER_ADDRESS_AT } from './arp-packet.js';

const INSTRUCTION_LENGTH = 8;
const LOAD_WORD_AT = 0x20;
const JUMP_IF_EQUAL = 0x15;
const RETURN = 0x06;
const WHOLE_PACKET = 0xffff;
/** A jump can skip at most 255 instructions. */
const MOST_ADDRESSES = 255;

/** A program (`struct sock_filter[]`) that accepts ARP packets whose sender address is one of these, at most 255. */
export function encodeArpFilter(senderAddresses: readonly Ipv4Number[]): Buffer {
  if (senderAddresses.length > MOST_ADDRESSES) throw new RangeError(`a filter of ${senderAddresses.length} addresses`);
  const program = Buffer.allocUnsafeSlow((senderAddresses.length + 3) * INSTRUCTION_LENGTH).fill(0);
  const write = (index: number, code: number, value: number) => {
    program.writeUInt16LE(code, index * INSTRUCTION_LENGTH);
    program.writeUInt32LE(value, index * INSTRUCTION_LENGTH + 4);
  };
  write(0, LOAD_WORD_AT, ARP_SENDER_ADDRESS_AT);
  for (const [index, address] of senderAddresses.entries()) {
    write(index + 1, JUMP_IF_EQUAL, address);
    // Skips the other comparisons and the first return.
    program.writeUInt8(senderAddresses.length - index, (index + 1) * INSTRUCTION_LENGTH + 2);
  }
  write(senderAddresses.length + 1, RETURN, 0);
  write(senderAddresses.length + 2, RETURN, WHOLE_PACKET);
  return program;
}

/** Replaces the socket's filter. False if the system refuses it: then every packet is accepted, as before. */
export function attachArpFilter(fd: number, senderAddresses: readonly Ipv4Number[]): boolean {
  const program = encodeArpFilter(senderAddresses);
  // `struct sock_fprog`: number of instructions, then where they are.
  const filter = Buffer.alloc(16);
  filter.writeUInt16LE(program.length / INSTRUCTION_LENGTH, 0);
  filter.writeBigUInt64LE(libc.addressOf(program), 8);
  return libc.setsockopt(fd, libc.SOL_SOCKET, libc.SO_ATTACH_FILTER, filter, filter.length) === 0;
}
