import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeAttributes, encodeAttributes, encodeName, encodeUint32, ipv4 } from './netlink-attributes.js';

describe('attributes of the routing socket', () => {
  it('are laid out as in netlink(7): length, type, value, padded to four octets', () => {
    expect(encodeAttributes([[3, encodeName('net1')]]).toString('hex')).toBe('090003006e65743100000000');
    expect(encodeAttributes([[1, ipv4(0xc0a83002)]]).toString('hex')).toBe('08000100c0a83002');
    expect(encodeAttributes([[15, encodeUint32(255)]]).toString('hex')).toBe('08000f00ff000000');
  });

  it('decode(encode(a)) = a', () => {
    const value = fc.uint8Array({ maxLength: 40 }).map((octets) => Buffer.from(octets));
    fc.assert(
      fc.property(fc.uniqueArray(fc.tuple(fc.integer({ min: 0, max: 0x3fff }), value), { selector: ([type]) => type }), (all) => {
        expect([...decodeAttributes(encodeAttributes(all))]).toEqual(all);
      }),
    );
  });

  it('any octets are decoded, and none beyond their end are read', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), (octets) => {
        for (const value of decodeAttributes(Buffer.from(octets)).values())
          expect(value.length).toBeLessThanOrEqual(octets.length);
      }),
    );
  });
});
