import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeMagicPacket } from './decode-magic-packet.js';
import { encodeMagicPacket } from './encode-magic-packet.js';
import { anyMachineAddress, anyPassword, MAC, octetsOf } from './packet-fixtures.js';
import { isSamePassword, parseSecureOnPassword } from './secure-on-password.js';

const FF6 = 'ff'.repeat(6);
const MAC_HEX = MAC.replaceAll(':', '');
const MAGIC = FF6 + MAC_HEX.repeat(16);

describe('decodeMagicPacket (AMD publication 20213)', () => {
  it.each([
    ['as tools send it', MAGIC, undefined],
    ['with a password of four octets', `${MAGIC}01020304`, [1, 2, 3, 4]],
    ['with a password of six octets', `${MAGIC}010203040506`, [1, 2, 3, 4, 5, 6]],
    ['with five octets after it, which are not a password', `${MAGIC}0102030405`, undefined],
    ['in the middle of other octets', `0001ff${'ff'.repeat(5)}00${MAGIC}${'00'.repeat(20)}`, undefined],
    ['after more than six octets 0xff', `ffff${MAGIC}`, undefined],
    ['after one that is cut off', `${MAGIC.slice(0, 100)}${MAGIC}`, undefined],
  ])('%s', (_, hex, password) => {
    const expected = { macAddress: MAC, ...(password && { password: Uint8Array.from(password) }) };
    expect(decodeMagicPacket(octetsOf(hex))).toEqual({ ok: true, packet: expected });
  });

  it.each([
    ['nothing', '', 'no-synchronization-stream'],
    ['five octets 0xff', `ffffffffff${MAC_HEX.repeat(16)}`, 'no-synchronization-stream'],
    ['the synchronization stream alone', FF6, 'cut-off'],
    ['one octet too few', MAGIC.slice(0, -2), 'cut-off'],
    ['another address at the end', `${MAGIC.slice(0, -2)}00`, 'address-not-repeated'],
    ['fifteen times', FF6 + MAC_HEX.repeat(15) + '00'.repeat(6), 'address-not-repeated'],
    ['a multicast address', FF6 + '01005e000001'.repeat(16), 'not-a-machine-address'],
    ['no address', FF6 + '00'.repeat(96), 'not-a-machine-address'],
    ['the broadcast address', 'ff'.repeat(102), 'cut-off'],
  ])('%s: %s is %s', (_, hex, reason) => {
    expect(decodeMagicPacket(octetsOf(hex))).toEqual({ ok: false, reason });
  });

  it('law: decode(encode(packet)) = packet', () => {
    fc.assert(
      fc.property(anyMachineAddress, fc.option(anyPassword, { nil: undefined }), (macAddress, password) => {
        const packet = { macAddress, ...(password && { password }) };
        expect(decodeMagicPacket(encodeMagicPacket(packet))).toEqual({ ok: true, packet });
      }),
    );
  });

  it('law: at any offset, before any octets', () => {
    fc.assert(
      fc.property(anyMachineAddress, fc.uint8Array({ maxLength: 300 }), fc.uint8Array(), (macAddress, before, after) => {
        const decoded = decodeMagicPacket(Uint8Array.from([...before, ...encodeMagicPacket({ macAddress }), ...after]));
        expect(decoded).toMatchObject({ ok: true, packet: { macAddress } });
      }),
    );
  });

  it('law: any octets give a packet or a reason', () => {
    const octet = fc.oneof(fc.constantFrom(0xff, 0xff, 0, 2), fc.nat(255));
    fc.assert(
      fc.property(fc.array(octet, { maxLength: 1500 }), (octets) => {
        const decoded = decodeMagicPacket(Uint8Array.from(octets));
        expect(decoded.ok ? decoded.packet.macAddress : decoded.reason).toMatch(/^[a-z0-9:-]+$/);
      }),
    );
  });

  it('law: a packet that is cut, or has another octet somewhere, wakes no other machine', () => {
    const change = fc.record({ macAddress: anyMachineAddress, at: fc.nat(101), octet: fc.nat(255) });
    fc.assert(
      fc.property(change, ({ macAddress, at, octet }) => {
        const octets = encodeMagicPacket({ macAddress });
        expect(decodeMagicPacket(octets.subarray(0, at)).ok).toBe(false);
        expect(decodeMagicPacket(octets.subarray(at + 1)).ok).toBe(false);
        octets[at] = octet;
        const decoded = decodeMagicPacket(octets);
        if (decoded.ok) expect(decoded.packet).toEqual({ macAddress });
      }),
      { numRuns: 2_000 },
    );
  });

  it('a password of another length than 4 or 6 octets is not encoded', () => {
    expect(() => encodeMagicPacket({ macAddress: MAC, password: new Uint8Array(5) })).toThrow('has 4 or 6');
  });
});

describe('SecureOn passwords', () => {
  it.each([
    ['192.168.1.1', [192, 168, 1, 1]],
    ['00:22:44:66:88:aa', [0, 0x22, 0x44, 0x66, 0x88, 0xaa]],
    ['00-22-44-66-88-AA', [0, 0x22, 0x44, 0x66, 0x88, 0xaa]],
    ['de:ad:be:ef', [0xde, 0xad, 0xbe, 0xef]],
  ])('%s', (text, octets) => {
    expect(parseSecureOnPassword(text)).toEqual(Uint8Array.from(octets));
  });

  it.each(['', 'secret', '256.1.1.1', '1.2.3', '00:22:44', '00:22:44:66:88', '00:22-44:66', '00:22:44:66:88:aa:bb'])(
    '%j is not a password',
    (text) => {
      expect(parseSecureOnPassword(text)).toBeUndefined();
    },
  );

  it('law: only equal octets are the same password', () => {
    fc.assert(
      fc.property(anyPassword, anyPassword, (one, other) => {
        expect(isSamePassword(one, one.slice())).toBe(true);
        expect(isSamePassword(one, other)).toBe(one.join() === other.join());
      }),
    );
  });
});
