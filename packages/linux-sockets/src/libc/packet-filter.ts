/** Programs that the kernel runs on each packet of a socket, before it takes room there. Source: Documentation/networking/filter.rst (classic BPF). */
import * as libc from './libc.js';

const INSTRUCTION_LENGTH = 8;

/** The codes of instructions. Source: linux/bpf_common.h. */
export const Code = {
  loadWordAt: 0x20,
  loadHalfWordAt: 0x28,
  loadOctetAt: 0x30,
  jumpIfEqual: 0x15,
  jumpIfGreater: 0x25,
  jumpIfAtLeast: 0x35,
  return: 0x06,
} as const;

/** Where a program reads how the frame was addressed: `SKF_AD_OFF + SKF_AD_PKTTYPE` of linux/filter.h. */
export const PACKET_TYPE_AT = 0xfffff004;
/** `PACKET_HOST` of linux/if_packet.h. */
export const TO_THIS_HOST = 0;
/** `PACKET_OTHERHOST`: also a frame with the tag of a VLAN that the interface does not have. */
export const TO_ANOTHER_HOST = 3;

/** The value of the instruction that accepts a packet with all of its octets. */
export const WHOLE_PACKET = 0xffff;

/** One instruction of a program. */
export interface Instruction {
  /** One of `Code`. */
  readonly code: number;
  readonly value: number;
  /** How many instructions a comparison skips if it holds, up to 255; default: none. */
  readonly ifTrue?: number;
  /** How many it skips if it does not hold; default: none. */
  readonly ifFalse?: number;
}

/** The program as a `struct sock_filter[]`. */
export function encodeFilter(instructions: readonly Instruction[]): Buffer {
  const program = Buffer.allocUnsafeSlow(instructions.length * INSTRUCTION_LENGTH).fill(0);
  for (const [index, { code, value, ifTrue = 0, ifFalse = 0 }] of instructions.entries()) {
    const at = index * INSTRUCTION_LENGTH;
    program.writeUInt16LE(code, at);
    program.writeUInt8(ifTrue, at + 2);
    program.writeUInt8(ifFalse, at + 3);
    program.writeUInt32LE(value, at + 4);
  }
  return program;
}

/** Replaces the socket's filter by a program. False if the system refuses it: then every packet is accepted, as before. */
export function attachFilter(fd: number, program: Buffer): boolean {
  // `struct sock_fprog`: number of instructions, then where they are.
  const filter = Buffer.alloc(16);
  filter.writeUInt16LE(program.length / INSTRUCTION_LENGTH, 0);
  filter.writeBigUInt64LE(libc.addressOf(program), 8);
  return libc.setsockopt(fd, libc.SOL_SOCKET, libc.SO_ATTACH_FILTER, filter, filter.length) === 0;
}
