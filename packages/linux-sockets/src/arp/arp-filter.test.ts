import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runFilter } from '../libc/packet-filter-fixtures.js';
import { encodeArpFilter, encodeArpRangeFilter } from './arp-filter.js';
import { ARP_LENGTH, writeArpRequest } from './arp-packet.js';

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
        for (const one of addresses) expect(runFilter(program, packetFrom(one))).toBe(0xffff);
        expect(runFilter(program, packetFrom(other))).toBe(addresses.includes(other) ? 0xffff : 0);
      }),
    );
  });

  it('law: with more than 255 addresses, accepts what comes to this host from the lowest to the highest of them', () => {
    const address = fc.integer({ min: 0, max: 0xffff_ffff });
    fc.assert(
      fc.property(fc.uniqueArray(address, { minLength: 256, maxLength: 300 }), address, (addresses, other) => {
        const program = encodeArpFilter(addresses);
        for (const one of addresses) expect([0, 1].map((type) => runFilter(program, packetFrom(one), type))).toEqual([0xffff, 0]);
        const isBetween = other >= Math.min(...addresses) && other <= Math.max(...addresses);
        expect(runFilter(program, packetFrom(other), 0)).toBe(isBetween ? 0xffff : 0);
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
          expect([0, 1].map((type) => runFilter(program, packetFrom(sender), type))).toEqual([0xffff, 0xffff]);
        expect(runFilter(program, packetFrom(other))).toBe(other >= lowest && other <= highest ? 0xffff : 0);
      }),
    );
  });
});
