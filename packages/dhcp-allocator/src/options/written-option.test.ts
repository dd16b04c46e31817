import { describe, expect, it } from 'vitest';
import { OptionCode } from '../wire/layout.js';
import { decodeOption, OPTIONS, type OptionName } from './option-registry.js';
import { describeWrittenOption, isWritableOption, parseWrittenOption } from './written-option.js';

const names = Object.keys(OPTIONS) as OptionName[];
const writable = names.filter((name) => isWritableOption(OPTIONS[name].code));

describe('an option as a person writes it', () => {
  it.each<[OptionName, string, unknown]>([
    ['swapServer', '10.0.0.5', 0x0a000005],
    ['timeServers', '10.0.0.5', [0x0a000005]],
    ['netbiosNameServers', '10.0.0.5,10.0.0.6', [0x0a000005, 0x0a000006]],
    ['logServers', '10.0.0.5 , 10.0.0.6', [0x0a000005, 0x0a000006]],
    ['policyFilter', '10.0.0.0 255.0.0.0', [[0x0a000000, 0xff000000]]],
    [
      'staticRoutes',
      '10.8.0.0  10.0.0.1, 10.9.0.0 10.0.0.2',
      [
        [0x0a080000, 0x0a000001],
        [0x0a090000, 0x0a000002],
      ],
    ],
    ['ipForwarding', 'true', true],
    ['ipForwarding', 'false', false],
    ['netbiosNodeType', '8', 8],
    ['defaultIpTimeToLive', '255', 255],
    ['bootFileSize', '65535', 65_535],
    ['arpCacheTimeout', '4294967295', 4_294_967_295],
    ['timeOffset', '-2147483648', -2_147_483_648],
    ['timeOffset', '2147483647', 2_147_483_647],
    ['pathMtuPlateauTable', '68, 1500', [68, 1500]],
    ['rootPath', '10.0.0.5:/export/vm a~', '10.0.0.5:/export/vm a~'],
    ['captivePortal', 'https://portal.example', 'https://portal.example'],
    ['vendorSpecific', '0x0104C0a83001', Uint8Array.of(1, 4, 192, 168, 48, 1)],
    ['vendorIdentifyingSpecific', '0x0000118b020200', [{ enterprise: 4491, data: Uint8Array.of(2, 0) }]],
    ['timeServers', '0x0a000005', [0x0a000005]],
    ['defaultIpTimeToLive', '0x40', 64],
  ])('%s: %s', (name, text, value) => {
    const octets = parseWrittenOption(OPTIONS[name].code, text);
    expect(octets && decodeOption(name, octets)).toEqual(value);
  });

  it.each<[string, number[]]>([
    ['wpad', [0x77, 0x70, 0x61, 0x64]],
    ['0x00ff', [0, 0xff]],
  ])('an option without a name is text or octets: %s', (text, octets) => {
    expect(parseWrittenOption(252, text)).toEqual(Uint8Array.from(octets));
  });

  it.each<[OptionName, string]>([
    ['swapServer', '10.0.0.5, 10.0.0.6'],
    ['swapServer', '10.0.0'],
    ['timeServers', ''],
    ['timeServers', '10.0.0.5,'],
    ['timeServers', '10.0.0.5 10.0.0.6'],
    ['policyFilter', '10.0.0.0'],
    ['policyFilter', '10.0.0.0 255.0.0.0 10.0.0.1'],
    ['ipForwarding', 'yes'],
    ['netbiosNodeType', '256'],
    ['netbiosNodeType', '-1'],
    ['netbiosNodeType', '1.5'],
    ['netbiosNodeType', '1e2'],
    ['netbiosNodeType', ' '],
    ['bootFileSize', '65536'],
    ['arpCacheTimeout', '4294967296'],
    ['timeOffset', '-2147483649'],
    ['timeOffset', '2147483648'],
    ['pathMtuPlateauTable', '68, 65536'],
    ['rootPath', ''],
    ['rootPath', 'ü'],
    ['rootPath', 'a\nb'],
    ['vendorSpecific', '01:04'],
    ['vendorSpecific', '0x'],
    ['vendorSpecific', '0x123'],
    ['vendorSpecific', '0x0g'],
    ['timeServers', '0x0a0000'],
    ['vendorIdentifyingSpecific', '0x00'],
  ])('refused: %s: %j', (name, text) => {
    expect(parseWrittenOption(OPTIONS[name].code, text)).toBeUndefined();
  });

  it('refused without a name: octets that are not whole, and text that cannot be printed', () => {
    expect([parseWrittenOption(252, '0x123'), parseWrittenOption(252, '\u0000'), parseWrittenOption(252, '')]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  it.each<[number, string]>([
    [16, 'an IPv4 address, as in 192.168.48.5, or octets in hexadecimal digits, as in 0x0104c0a83001'],
    [19, 'true or false, or octets in hexadecimal digits, as in 0x0104c0a83001'],
    [23, 'a whole number from 0 to 255, or octets in hexadecimal digits, as in 0x0104c0a83001'],
    [43, 'octets in hexadecimal digits, as in 0x0104c0a83001'],
    [252, 'printable ASCII characters, or octets in hexadecimal digits, as in 0x0104c0a83001'],
  ])('how to write option %i', (code, words) => expect(describeWrittenOption(code)).toBe(words));
});

describe('which options a pool may set by their code', () => {
  it('those that the server reads or writes itself are not among them, but for the two that a vendor defines', () => {
    expect(Object.values(OptionCode).filter(isWritableOption)).toEqual([43, 60]);
  });

  it('those that answer the same option of a client are not among them', () => {
    expect([77, 81, 94, 97, 116, 118].filter(isWritableOption)).toEqual([]);
  });

  it('all others are, each with a form', () => {
    expect(writable.length).toBeGreaterThan(50);
    for (const name of writable) expect(describeWrittenOption(OPTIONS[name].code)).toMatch(/0x0104c0a83001$/);
  });
});
