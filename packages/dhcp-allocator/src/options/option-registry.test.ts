import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseIpv4Address } from '../address/ipv4-address.js';
import { parseIpv4Cidr } from '../address/ipv4-cidr.js';
import { OptionCode } from '../wire/layout.js';
import { decodeOption, encodeOption, OPTIONS, type OptionName, optionNameOf } from './option-registry.js';

const ip = (text: string): number => parseIpv4Address(text) as number;
const bytes = (...octets: number[]): Uint8Array => Uint8Array.from(octets);
const ascii = (text: string): number[] => [...text].map((character) => character.charCodeAt(0));
const route = (destination: string, gateway: string) => ({
  destination: parseIpv4Cidr(destination) as { network: number; prefixLength: number },
  gateway: ip(gateway),
});

describe('values as the RFCs spell them', () => {
  it.each<[OptionName, unknown, Uint8Array]>([
    ['subnetMask', ip('255.255.255.0'), bytes(255, 255, 255, 0)],
    ['timeOffset', -3600, bytes(0xff, 0xff, 0xf1, 0xf0)],
    ['routers', [ip('10.0.0.1'), ip('10.0.0.2')], bytes(10, 0, 0, 1, 10, 0, 0, 2)],
    ['hostName', 'vm-a', bytes(...ascii('vm-a'))],
    ['ipForwarding', true, bytes(1)],
    ['policyFilter', [[ip('10.0.0.0'), ip('255.0.0.0')]], bytes(10, 0, 0, 0, 255, 0, 0, 0)],
    ['pathMtuPlateauTable', [68, 1500], bytes(0, 68, 5, 220)],
    ['interfaceMtu', 1500, bytes(5, 220)],
    ['leaseTime', 0xffffffff, bytes(255, 255, 255, 255)],
    ['parameterRequestList', [1, 3, 6], bytes(1, 3, 6)],
    ['rapidCommit', true, bytes()],
    [
      'relayAgentInformation',
      [
        { code: 1, value: bytes(7, 7) },
        { code: 2, value: bytes() },
      ],
      bytes(1, 2, 7, 7, 2, 0),
    ],
    ['clientArchitecture', [7, 0], bytes(0, 7, 0, 0)],
    ['clientNetworkInterface', bytes(1, 3, 16), bytes(1, 3, 16)],
    ['ipv6OnlyPreferred', 1800, bytes(0, 0, 7, 8)],
    ['captivePortal', 'https://portal.example', bytes(...ascii('https://portal.example'))],
    ['subnetSelection', ip('10.1.0.0'), bytes(10, 1, 0, 0)],
    // RFC 3397 §2.1: the second name points at the suffix of the first.
    [
      'domainSearch',
      ['eng.apple.com', 'mkt.apple.com'],
      bytes(3, ...ascii('eng'), 5, ...ascii('apple'), 3, ...ascii('com'), 0, 3, ...ascii('mkt'), 0xc0, 4),
    ],
    // RFC 3442: only the octets of the destination that count.
    [
      'classlessStaticRoutes',
      [route('0.0.0.0/0', '10.0.0.1'), route('10.17.0.0/16', '10.0.0.2')],
      bytes(0, 10, 0, 0, 1, 16, 10, 17, 10, 0, 0, 2),
    ],
    ['vendorIdentifyingSpecific', [{ enterprise: 4491, data: bytes(2, 0) }], bytes(0, 0, 0x11, 0x8b, 2, 2, 0)],
    ['tftpServerAddresses', [ip('10.0.0.69')], bytes(10, 0, 0, 69)],
  ])('%s', (name, value, expected) => {
    expect(encodeOption(name, value as never)).toEqual([OPTIONS[name].code, expected]);
    expect(decodeOption(name, expected)).toEqual(value);
  });

  it('RFC 2132 §2: text is read with and without a NUL at its end', () => {
    expect(decodeOption('hostName', bytes(...ascii('vm-a'), 0, 0))).toBe('vm-a');
  });
});

describe('octets that do not have the shape are refused', () => {
  it.each<[OptionName, Uint8Array]>([
    ['subnetMask', bytes(255, 255, 255)],
    ['routers', bytes()],
    ['routers', bytes(10, 0, 0)],
    ['policyFilter', bytes(10, 0, 0, 0)],
    ['ipForwarding', bytes(2)],
    ['interfaceMtu', bytes(5)],
    ['pathMtuPlateauTable', bytes(5)],
    ['hostName', bytes()],
    ['hostName', bytes(0, 0)],
    ['parameterRequestList', bytes()],
    ['rapidCommit', bytes(1)],
    ['relayAgentInformation', bytes(1)],
    ['relayAgentInformation', bytes(1, 3, 7)],
    ['domainSearch', bytes(3, 65)],
    ['domainSearch', bytes(0xc0, 0)],
    ['classlessStaticRoutes', bytes(33, 10, 0, 0, 1)],
    ['classlessStaticRoutes', bytes(24, 10, 0, 0)],
    ['vendorIdentifyingSpecific', bytes(0, 0, 0, 9)],
    ['vendorIdentifyingSpecific', bytes(0, 0, 0, 9, 4, 1)],
  ])('%s %j', (name, octets) => {
    expect(decodeOption(name, octets)).toBeUndefined();
  });
});

describe('laws', () => {
  const names = Object.keys(OPTIONS) as OptionName[];

  it('a decoded value can be encoded, and decodes to the same value', () => {
    fc.assert(
      fc.property(fc.constantFrom(...names), fc.uint8Array({ maxLength: 80 }), (name, octets) => {
        const value = decodeOption(name, octets);
        if (value === undefined) return;
        const [, again] = encodeOption(name, value as never);
        expect(decodeOption(name, again)).toEqual(value);
      }),
      { numRuns: 3_000 },
    );
  });

  it('every code has one name, and agrees with the codes in wire/', () => {
    expect(new Set(names.map((name) => OPTIONS[name].code)).size).toBe(names.length);
    for (const name of names) expect(optionNameOf(OPTIONS[name].code)).toBe(name);
    for (const [name, code] of Object.entries(OptionCode)) {
      if (name === 'pad' || name === 'end') continue;
      expect([code, optionNameOf(code)]).toEqual([code, name]);
    }
  });
});
