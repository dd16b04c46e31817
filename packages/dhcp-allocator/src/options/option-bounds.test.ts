/** Values at the edge of what their RFC allows, and one step beyond it. */
import { describe, expect, it } from 'vitest';
import { decodeOption, type OptionName } from './option-registry.js';
import { decodeText } from './text.js';

const bytes = (...octets: number[]): Uint8Array => Uint8Array.from(octets);
const label = (length: number): number[] => [length, ...new Array<number>(length).fill(97)];
/** A name of so many octets without the root's label: labels of 63 letters, and one for the rest. */
const nameOf = (octets: number): Uint8Array => {
  const labels: number[] = [];
  for (let left = octets; left > 0; ) {
    const length = Math.min(63, left - 1);
    labels.push(...label(length));
    left -= length + 1;
  }
  return bytes(...labels, 0);
};

describe('domain search, RFC 3397 and RFC 1035 §2.3.4, §4.1.4', () => {
  it('an empty value is not a list', () => expect(decodeOption('domainSearch', bytes())).toBeUndefined());

  it('a label has at most 63 octets', () => {
    expect(decodeOption('domainSearch', bytes(...label(63), 0))).toEqual(['a'.repeat(63)]);
    expect(decodeOption('domainSearch', bytes(...label(64), 0))).toBeUndefined();
    expect(decodeOption('domainSearch', bytes(...label(0xbf), 0))).toBeUndefined();
  });

  it('a name has at most 254 octets before the root', () => {
    expect((decodeOption('domainSearch', nameOf(254)) as string[])[0]).toHaveLength(253);
    expect(decodeOption('domainSearch', nameOf(256))).toBeUndefined();
    expect(decodeOption('domainSearch', nameOf(255))).toBeUndefined();
  });

  it('labels that run past the end, or have no end, are refused', () => {
    expect(decodeOption('domainSearch', bytes(3, 97, 97))).toBeUndefined();
    expect(decodeOption('domainSearch', bytes(2, 97, 97))).toBeUndefined();
    expect(decodeOption('domainSearch', bytes(1, 97, 0, 4, 97))).toBeUndefined();
  });

  it('names follow each other; a pointer ends a name and leads back', () => {
    expect(decodeOption('domainSearch', bytes(1, 97, 0, 1, 98, 0xc0, 0, 1, 99, 0))).toEqual(['a', 'b.a', 'c']);
  });

  it.each<[string, number[]]>([
    ['a pointer to itself', [0xc0, 0]],
    ['a pointer forwards', [1, 97, 0xc0, 9]],
    ['a pointer to the place where it stands', [1, 97, 0xc0, 2]],
    ['half a pointer', [1, 97, 0, 0xc0]],
    ['a ring of a label and a pointer', [1, 97, 0xc0, 0]],
  ])('%s is refused', (_name, octets) => expect(decodeOption('domainSearch', bytes(...octets))).toBeUndefined());

  it('a pointer has 14 bits', () => {
    const names = Array.from({ length: 100 }, (_, index) => [3, 97 + (index % 26), 97, 97, 0]).flat();
    const list = decodeOption('domainSearch', bytes(...names, 0xc1, 4)) as string[];
    expect(list.at(-1)).toBe(list[52]);
  });
});

describe('classless static routes, RFC 3442', () => {
  const of = (...octets: number[]) => decodeOption('classlessStaticRoutes', bytes(...octets));

  it('a host route has four octets of destination', () => {
    expect(of(32, 10, 1, 2, 3, 10, 0, 0, 1)).toEqual([
      { destination: { network: 0x0a010203, prefixLength: 32 }, gateway: 0x0a000001 },
    ]);
  });

  it('a prefix length of 33 is refused, even if nine octets follow', () => {
    expect(of(33, 10, 1, 2, 3, 4, 10, 0, 0, 1)).toBeUndefined();
  });

  it('host bits that a sender left in do not count', () => {
    expect(of(9, 10, 0xff, 10, 0, 0, 1)).toEqual([
      { destination: { network: 0x0a800000, prefixLength: 9 }, gateway: 0x0a000001 },
    ]);
  });

  it.each<[string, number[]]>([
    ['no octets', []],
    ['a gateway of three octets', [0, 10, 0, 0]],
    ['a destination and no gateway', [8, 10]],
    ['one octet more than a route', [0, 10, 0, 0, 1, 8]],
    ['one octet less than two routes', [0, 10, 0, 0, 1, 8, 10, 10, 0, 0]],
  ])('%s is refused', (_name, octets) => expect(of(...octets)).toBeUndefined());
});

describe('other shapes', () => {
  it.each<[OptionName, number[], unknown]>([
    ['ipForwarding', [0], false],
    ['ipForwarding', [1], true],
    ['ipForwarding', [1, 0], undefined],
    ['ipForwarding', [], undefined],
    ['pathMtuPlateauTable', [], undefined],
    ['pathMtuPlateauTable', [5, 220, 0, 68], [1500, 68]],
    ['pathMtuPlateauTable', [5, 220, 0], undefined],
    ['policyFilter', [], undefined],
    [
      'policyFilter',
      [10, 0, 0, 0, 255, 0, 0, 0, 10, 0, 0, 1, 255, 255, 255, 255],
      [
        [0x0a000000, 0xff000000],
        [0x0a000001, 0xffffffff],
      ],
    ],
    ['relayAgentInformation', [], undefined],
    ['relayAgentInformation', [1, 0, 2], undefined],
    ['vendorIdentifyingSpecific', [], undefined],
    ['vendorIdentifyingSpecific', [0, 0, 0, 9, 0, 0], undefined],
  ])('%s %j', (name, octets, value) => expect(decodeOption(name, bytes(...octets))).toEqual(value));

  it('text for people ends at the first NUL, even if that is the first octet', () => {
    expect([decodeText(bytes(97, 98)), decodeText(bytes(97, 0, 98)), decodeText(bytes(0, 98)), decodeText(bytes())]).toEqual([
      'ab',
      'a',
      '',
      '',
    ]);
  });
});
