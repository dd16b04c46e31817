import fc from 'fast-check';
import { Address6 } from 'ip-address';
import { describe, expect, it } from 'vitest';
import {
  formatIpv6Address,
  formatIpv6Prefix,
  ipv6AddressBytes,
  parseIpv6Address,
  parseIpv6Prefix,
  prefixContains,
  readIpv6Address,
} from './ipv6-address.js';

/** Addresses with runs of zeros, as people write them. */
const address = fc
  .array(fc.oneof(fc.constant(0), fc.nat(0xffff)), { minLength: 8, maxLength: 8 })
  .map((groups) => groups.reduce((sum, group) => (sum << 16n) | BigInt(group), 0n));

describe('IPv6 addresses as text', () => {
  it.each([
    ['::', 0n, '::'],
    ['::1', 1n, '::1'],
    ['2001:db8::', 0x20010db8n << 96n, '2001:db8::'],
    ['2001:DB8:0:0:0:0:0:1', (0x20010db8n << 96n) | 1n, '2001:db8::1'],
    ['2001:0db8::0001:0000', (0x20010db8n << 96n) | 0x10000n, '2001:db8::1:0'],
    ['1:0:2:0:3:0:4:0', 0x0001_0000_0002_0000_0003_0000_0004_0000n, '1:0:2:0:3:0:4:0'],
    ['1:0:0:2:0:0:3:4', 0x0001_0000_0000_0002_0000_0000_0003_0004n, '1::2:0:0:3:4'],
    ['::ffff:192.0.2.1', 0xffff_c000_0201n, '::ffff:c000:201'],
    ['1:2:3:4:5:6:7::', 0x0001_0002_0003_0004_0005_0006_0007_0000n, '1:2:3:4:5:6:7:0'],
  ])('RFC 5952: %s', (text, value, formatted) => {
    expect(parseIpv6Address(text)).toBe(value);
    expect(formatIpv6Address(value)).toBe(formatted);
  });

  it.each([
    '',
    ':',
    ':::',
    '1::2::3',
    '1:2:3:4:5:6:7',
    '1:2:3:4:5:6:7:8:9',
    '1:2:3:4::5:6:7:8',
    '12345::',
    'g::',
    ' ::1',
    'fe80::1%eth0',
    '[::1]',
    '::1/64',
    '192.0.2.1',
    '::192.0.2',
    '::192.0.2.256',
    '::192.0.02.1',
    '::1.2.3.4:5',
    ':1:2:3:4:5:6:7',
  ])('%s is refused', (text) => expect(parseIpv6Address(text)).toBeUndefined());

  it('law: what is formatted is parsed, as another implementation writes it', () => {
    fc.assert(
      fc.property(address, (value) => {
        const text = formatIpv6Address(value);
        expect(parseIpv6Address(text)).toBe(value);
        expect(Address6.fromBigInt(value).correctForm()).toBe(text);
        expect(readIpv6Address(ipv6AddressBytes(value))).toBe(value);
      }),
    );
  });

  it('law: any text is an address for both implementations, or for neither', () => {
    const text = fc.string({ unit: fc.constantFrom(...'0123456789abf::..'), maxLength: 24 });
    fc.assert(
      fc.property(text, (some) => {
        expect(parseIpv6Address(some) !== undefined, some).toBe(Address6.isValid(some));
      }),
    );
  });

  it('octets past the end read as zero', () => expect(readIpv6Address(Uint8Array.of(1), 0)).toBe(1n << 120n));
});

describe('IPv6 prefixes', () => {
  it.each([
    ['2001:db8::7/64', '2001:db8::/64'],
    ['::/0', '::/0'],
    ['2001:db8::1/128', '2001:db8::1/128'],
    ['2001:db8:ffff::/33', '2001:db8:8000::/33'],
  ])('%s is %s', (text, formatted) => {
    const prefix = parseIpv6Prefix(text);
    expect(prefix && formatIpv6Prefix(prefix)).toBe(formatted);
  });

  it.each(['2001:db8::', '2001:db8::/129', '2001:db8::/064', '2001:db8::/64/64', 'x/64', '::/'])('%s is refused', (text) =>
    expect(parseIpv6Prefix(text)).toBeUndefined(),
  );

  it('law: an address is in the prefix that begins with the same bits', () => {
    fc.assert(
      fc.property(address, address, fc.nat(128), (one, other, length) => {
        const prefix = parseIpv6Prefix(`${formatIpv6Address(one)}/${length}`);
        const bits = (value: bigint) => value.toString(2).padStart(128, '0').slice(0, length);
        expect(prefix && prefixContains(prefix, other)).toBe(bits(one) === bits(other));
      }),
    );
  });
});
