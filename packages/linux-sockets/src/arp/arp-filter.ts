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
const JUMP_IF_GREATER = 0x25;
const JUMP_IF_AT_LEAST = 0x35;
const RETURN = 0x06;
/** Where a program reads how the frame was addressed: `SKF_AD_OFF + SKF_AD_PKTTYPE` of linux/filter.h. */
const PACKET_TYPE_AT = 0xfffff004;
/** `PACKET_HOST` of linux/if_packet.h. */
const TO_THIS_HOST = 0;
const WHOLE_PACKET = 0xffff;
/** A jump can skip at most 255 instructions. */
const MOST_ADDRESSES = 255;

/**
 * A program (`struct sock_filter[]`) for ARP packets of hosts that use one of these addresses. Up to 255 addresses, it accepts exactly the packets
 * with one of them as sender; with more, the packets to this host from the lowest to the highest of them, which are the replies to its requests.
 */
export function encodeArpFilter(senderAddresses: readonly Ipv4Number[]): Buffer {
  return senderAddresses.length > MOST_ADDRESSES ? encodeRange(senderAddresses) : encodeList(senderAddresses);
}

function encodeRange(senderAddresses: readonly Ipv4Number[]): Buffer {
  let [lowest, highest] = [0xffff_ffff, 0];
  for (const address of senderAddresses) [lowest, highest] = [Math.min(lowest, address), Math.max(highest, address)];
  const { program, write } = newProgram(7);
  write(0, { code: LOAD_WORD_AT, value: PACKET_TYPE_AT });
  write(1, { code: JUMP_IF_EQUAL, value: TO_THIS_HOST, ifFalse: 3 });
  writeRange(write, 2, { lowest, highest });
  return program;
}

interface SenderRange {
  readonly lowest: Ipv4Number;
  readonly highest: Ipv4Number;
}

/** A program for ARP packets of hosts that use an address from the lowest to the highest. */
export function encodeArpRangeFilter(range: SenderRange): Buffer {
  const { program, write } = newProgram(5);
  writeRange(write, 0, range);
  return program;
}

/** Five instructions: the second to last refuses a packet, the last one accepts it. */
function writeRange(write: WriteInstruction, at: number, { lowest, highest }: SenderRange): void {
  write(at, { code: LOAD_WORD_AT, value: ARP_SENDER_ADDRESS_AT });
  write(at + 1, { code: JUMP_IF_AT_LEAST, value: lowest, ifFalse: 1 });
  write(at + 2, { code: JUMP_IF_GREATER, value: highest, ifFalse: 1 });
  write(at + 3, { code: RETURN, value: 0 });
  write(at + 4, { code: RETURN, value: WHOLE_PACKET });
}

interface Instruction {
  readonly code: number;
  readonly value: number;
  /** How many instructions a comparison skips if it holds; default: none. */
  readonly ifTrue?: number;
  /** How many it skips if it does not hold; default: none. */
  readonly ifFalse?: number;
}

type WriteInstruction = (index: number, one: Instruction) => void;

function newProgram(length: number): { readonly program: Buffer; readonly write: WriteInstruction } {
  const program = Buffer.allocUnsafeSlow(length * INSTRUCTION_LENGTH).fill(0);
  const write = (index: number, { code, value, ifTrue = 0, ifFalse = 0 }: Instruction) => {
    const at = index * INSTRUCTION_LENGTH;
    program.writeUInt16LE(code, at);
    program.writeUInt8(ifTrue, at + 2);
    program.writeUInt8(ifFalse, at + 3);
    program.writeUInt32LE(value, at + 4);
  };
  return { program, write };
}

function encodeList(senderAddresses: readonly Ipv4Number[]): Buffer {
  const { program, write } = newProgram(senderAddresses.length + 3);
  write(0, { code: LOAD_WORD_AT, value: ARP_SENDER_ADDRESS_AT });
  for (const [index, value] of senderAddresses.entries()) {
    // Skips the other comparisons and the first return.
    write(index + 1, { code: JUMP_IF_EQUAL, value, ifTrue: senderAddresses.length - index });
  }
  write(senderAddresses.length + 1, { code: RETURN, value: 0 });
  write(senderAddresses.length + 2, { code: RETURN, value: WHOLE_PACKET });
  return program;
}

/** Replaces the socket's filter by a program. False if the system refuses it: then every packet is accepted, as before. */
export function attachArpFilter(fd: number, program: Buffer): boolean {
  // `struct sock_fprog`: number of instructions, then where they are.
  const filter = Buffer.alloc(16);
  filter.writeUInt16LE(program.length / INSTRUCTION_LENGTH, 0);
  filter.writeBigUInt64LE(libc.addressOf(program), 8);
  return libc.setsockopt(fd, libc.SOL_SOCKET, libc.SO_ATTACH_FILTER, filter, filter.length) === 0;
}
