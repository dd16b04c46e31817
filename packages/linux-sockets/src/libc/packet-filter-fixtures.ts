import { PACKET_TYPE_AT } from './packet-filter.js';

const LENGTH = 8;

type Compare = (loaded: number, value: number) => boolean;
const LOADS = new Map<number, (packet: Buffer, at: number) => number>([
  [0x20, (packet, at) => packet.readUInt32BE(at)],
  [0x28, (packet, at) => packet.readUInt16BE(at)],
  [0x30, (packet, at) => packet.readUInt8(at)],
]);
const JUMPS = new Map<number, Compare>([
  [0x15, (loaded, value) => loaded === value],
  [0x25, (loaded, value) => loaded > value],
  [0x35, (loaded, value) => loaded >= value],
]);

/** Runs a program like the kernel: returns how many octets of the packet the socket accepts. `type` 0: to this host, 1: broadcast. */
export function runFilter(program: Buffer, packet: Buffer, type = 1): number {
  let loaded = 0;
  for (let at = 0; at < program.length; at += LENGTH) {
    const [code, value] = [program.readUInt16LE(at), program.readUInt32LE(at + 4)];
    const [load, holds] = [LOADS.get(code), JUMPS.get(code)];
    if (load !== undefined) loaded = value === PACKET_TYPE_AT ? type : load(packet, value);
    else if (holds !== undefined) at += program.readUInt8(at + (holds(loaded, value) ? 2 : 3)) * LENGTH;
    else return value;
  }
  throw new Error('the program has no end');
}
