import fc from 'fast-check';
import { Address4 } from 'ip-address';
import { describe, expect, it } from 'vitest';
import { formatIpv4Address, parseIpv4Address } from './ipv4-address.js';
import {
  broadcastAddressOf,
  cidrContains,
  cidrsOverlap,
  formatIpv4Cidr,
  type Ipv4Cidr,
  maskOf,
  networkAddressOf,
  parseIpv4Cidr,
} from './ipv4-cidr.js';
import {
  formatIpv4Range,
  mergeRanges,
  parseIpv4Range,
  rangeContains,
  rangesContain,
  sizeOfRange,
  subtractRanges,
} from './ipv4-range.js';
import { isGroupMacAddress, macAddressBytes, parseMacAddress, readMacAddress } from './mac-address.js';

const anyAddress = fc.integer({ min: 0, max: 0xffffffff });

describe('IPv4 addresses', () => {
  it.each([
    ['0.0.0.0', 0],
    ['10.0.0.1', 0x0a000001],
    ['255.255.255.255', 0xffffffff],
    ['256.0.0.1', undefined],
    ['10.0.0', undefined],
    ['10.0.0.1.2', undefined],
    ['10.0.0.01', undefined],
    ['10.0.0.-1', undefined],
    [' 10.0.0.1', undefined],
    ['0x0a.0.0.1', undefined],
    ['', undefined],
    ['::1', undefined],
  ])('%j is read as %s', (text, expected) => expect(parseIpv4Address(text)).toBe(expected));

  it('law: texts are read as the package ip-address reads them, near misses included', () => {
    const part = fc.oneof(
      fc.nat(300).map(String),
      fc.constantFrom('', '0', '00', '01', '255', '256', '+1', '1e1', ' 1', '1 ', '0x1'),
    );
    const almost = fc.array(part, { minLength: 3, maxLength: 5 }).map((parts) => parts.join('.'));
    fc.assert(
      fc.property(fc.oneof(almost, fc.string({ unit: fc.constantFrom(...'0129.') }), fc.string()), (text) => {
        const expected = Address4.isValid(text) && !text.includes('/') ? Number(new Address4(text).bigInt()) : undefined;
        expect(parseIpv4Address(text)).toBe(expected);
      }),
      { numRuns: 2_000 },
    );
  });

  it('law: parse(format(a)) = a', () => {
    fc.assert(fc.property(anyAddress, (address) => parseIpv4Address(formatIpv4Address(address)) === address));
  });
});

describe('subnets', () => {
  it.each([
    ['10.1.2.3/8', '10.0.0.0/8'],
    ['0.0.0.0/0', '0.0.0.0/0'],
    ['192.168.1.1/32', '192.168.1.1/32'],
    ['10.0.0.0/33', undefined],
    ['10.0.0.0/-1', undefined],
    ['10.0.0.0', undefined],
    ['10.0.0.0/', undefined],
    ['10.0.0.0/024', undefined],
  ])('%j is read as %s', (text, expected) => {
    const cidr = parseIpv4Cidr(text);
    expect(cidr === undefined ? undefined : formatIpv4Cidr(cidr)).toBe(expected);
  });

  it('RFC 3021: a /31 has neither network nor broadcast address', () => {
    const cidr = parseIpv4Cidr('10.0.0.0/31') as Ipv4Cidr;
    expect([networkAddressOf(cidr), broadcastAddressOf(cidr)]).toEqual([undefined, undefined]);
  });

  it('law: an address is in its own subnet of every size, and subnets overlap exactly if they share an address', () => {
    fc.assert(
      fc.property(anyAddress, anyAddress, fc.nat(32), fc.nat(32), (one, other, short, long) => {
        const a: Ipv4Cidr = { network: (one & maskOf(short)) >>> 0, prefixLength: short };
        const b: Ipv4Cidr = { network: (other & maskOf(long)) >>> 0, prefixLength: long };
        expect(cidrContains(a, one)).toBe(true);
        expect(cidrsOverlap(a, b)).toBe(cidrContains(a, b.network) || cidrContains(b, a.network));
      }),
    );
  });
});

describe('ranges', () => {
  it.each([
    ['10.0.0.5', '10.0.0.5', 1],
    ['10.0.0.5-10.0.0.9', '10.0.0.5-10.0.0.9', 5],
    ['10.0.0.5 - 10.0.0.9', '10.0.0.5-10.0.0.9', 5],
    ['0.0.0.0-255.255.255.255', '0.0.0.0-255.255.255.255', 2 ** 32],
  ])('%j is read as %s with %d addresses', (text, formatted, size) => {
    const range = parseIpv4Range(text);
    if (range === undefined) throw new Error('not read');
    expect([formatIpv4Range(range), sizeOfRange(range)]).toEqual([formatted, size]);
  });

  it.each(['10.0.0.9-10.0.0.5', '10.0.0.5-', '-10.0.0.5', '10.0.0.5-9', ''])('%j is refused', (text) => {
    expect(parseIpv4Range(text)).toBeUndefined();
  });
});

describe('hardware addresses in any spelling are one client', () => {
  it.each([
    '02:00:5e:10:00:ff',
    '02:00:5E:10:00:FF',
    '02-00-5e-10-00-ff',
    '0200.5e10.00ff',
    '0200.5E10.00FF',
    '02005e1000ff',
    '2:0:5e:10:0:ff',
    ' 02:00:5e:10:00:ff ',
  ])('%j', (text) => expect(parseMacAddress(text)).toBe('02:00:5e:10:00:ff'));

  it.each([
    '',
    '02:00:5e:10:00',
    '02:00:5e:10:00:ff:01',
    '02:00:5e-10-00-ff',
    '0200:5e10:00ff',
    'gg:00:5e:10:00:ff',
    '02005e1000f',
  ])('%j is refused', (text) => {
    expect(parseMacAddress(text)).toBeUndefined();
  });

  it('law: octets and text are the same', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 6, maxLength: 6 }), (octets) => {
        const text = readMacAddress(octets);
        expect(macAddressBytes(text)).toEqual(octets);
        expect(parseMacAddress(text.toUpperCase().replaceAll(':', '-'))).toBe(text);
        expect(isGroupMacAddress(text)).toBe(((octets[0] as number) & 1) === 1);
      }),
    );
  });
});

it('law: merged ranges contain exactly the addresses of the ranges', () => {
  const small = fc.nat(60);
  const range = fc.tuple(small, small).map(([one, other]) => ({ first: Math.min(one, other), last: Math.max(one, other) }));
  fc.assert(
    fc.property(fc.array(range, { maxLength: 6 }), small, (ranges, address) => {
      expect(rangesContain(mergeRanges(ranges), address)).toBe(ranges.some((one) => rangeContains(one, address)));
    }),
  );
});

it('law: subtraction keeps exactly the addresses that are not in the other ranges', () => {
  const small = fc.nat(60);
  const range = fc.tuple(small, small).map(([one, other]) => ({ first: Math.min(one, other), last: Math.max(one, other) }));
  const ranges = fc.array(range, { maxLength: 6 }).map(mergeRanges);
  fc.assert(
    fc.property(ranges, ranges, small, (some, others, address) => {
      const left = subtractRanges(some, others);
      expect(rangesContain(left, address)).toBe(rangesContain(some, address) && !rangesContain(others, address));
      expect(left).toEqual(left.toSorted((one, other) => one.first - other.first));
    }),
  );
});
