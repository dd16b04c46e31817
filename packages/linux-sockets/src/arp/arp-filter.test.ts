import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeArpFilter, encodeArpRangeFilter } from './arp-filter.js';
import { ARP_LENGTH, writeArpRequest } from './arp-packet.js';

const PACKET_TYPE_AT = 0xfffff004;

/** Runs a program like the kernel: returns how many octets of the packet the socket accepts. `type` 0: to this host, 1: broadcast. */
function run(program: Buffer, packet: Buffer, type = 1): number {
  let loaded = 0;
  for (let at = 0; at < program.length; at += 8) {
    const value = program.readUInt32LE(at + 4);
    switch (program.readUInt16LE(at)) {
      case 0x20:
        loaded = value === PACKET_TYPE_AT ? type : packet.readUInt32BE(value);
        break;
      case 0x15:
        at += program.readUInt8(at + (loaded === value ? 2 : 3)) * 8;
        break;
      case 0x25:
        at += program.readUInt8(at + (loaded > value ? 2 : 3)) * 8;
        break;
      case 0x35:
        at += program.readUInt8(at + (loaded >= value ? 2 : 3)) * 8;
        break;
      default:
        return value;
    }
  }
  throw new Error('the program has no end');
}

function packetFrom(senderAddress: number): Buffer {
  const packet = Buffer.alloc(ARP_LENGTH);
  writeArpRequest(packet, { senderHardwareAddress: new Uint8Array(6), senderAddress, targetAddress: 1 });
  return packet;
}

describe('a filter of ARP packets by their sender address', () => {
  it('law: accepts exactly the packets from its addresses, and all of their octets', () => {
    const address = fc.integer({ min: 0, max: 0xffff_ffff });
    fc.assert(
      fc.property(fc.uniqueArray(address, { maxLength: 255 }), address, (addresses, other) => {
        const program = encodeArpFilter(addresses);
        for (const one of addresses) expect(run(program, packetFrom(one))).toBe(0xffff);
        expect(run(program, packetFrom(other))).toBe(addresses.includes(other) ? 0xffff : 0);
      }),
    );
  });

  it('law: with more than 255 addresses, accepts what comes to this host from the lowest to the highest of them', () => {
    const address = fc.integer({ min: 0, max: 0xffff_ffff });
    fc.assert(
      fc.property(fc.uniqueArray(address, { minLength: 256, maxLength: 300 }), address, (addresses, other) => {
        const program = encodeArpFilter(addresses);
        for (const one of addresses) expect([0, 1].map((type) => run(program, packetFrom(one), type))).toEqual([0xffff, 0]);
        const isBetween = other >= Math.min(...addresses) && other <= Math.max(...addresses);
        expect(run(program, packetFrom(other), 0)).toBe(isBetween ? 0xffff : 0);
      }),
    );
  });

  it('law: a range accepts exactly the packets from the lowest to the highest of its addresses, whoever they are for', () => {
    const address = fc.integer({ min: 0, max: 0xffff_ffff });
    fc.assert(
      fc.property(address, address, address, (one, two, other) => {
        const [lowest, highest] = [Math.min(one, two), Math.max(one, two)];
        const program = encodeArpRangeFilter({ lowest, highest });
        for (const sender of [lowest, highest])
          expect([0, 1].map((type) => run(program, packetFrom(sender), type))).toEqual([0xffff, 0xffff]);
        expect(run(program, packetFrom(other))).toBe(other >= lowest && other <= highest ? 0xffff : 0);
      }),
    );
  });
});
