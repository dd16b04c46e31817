import { formatIpv4Range, type Ipv4Range, rangeContains } from '@vmdhcp/dhcp-allocator';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { describeUnlisted, excludedMarks, MOST_EXCLUDED_MARKS } from './excluded-marks.js';

const specOf = (ranges: readonly Ipv4Range[]) => ({ ipv4Config: { pool: { exclude: ranges.map(formatIpv4Range) } } });

describe('excludedMarks', () => {
  it.each([
    ['no exclusion', [], 0, 0],
    ['an address', [[7, 7]], 1, 0],
    ['a range of 256', [[0, 255]], 256, 0],
    ['a range of 257', [[0, 256]], 0, 1],
    ['exactly the budget', [0, 1, 2, 3].map((n) => [n * 256, n * 256 + 255]), 1_024, 0],
    ['one address more', [...[0, 1, 2, 3].map((n) => [n * 256, n * 256 + 255]), [5_000, 5_000]], 1_024, 1],
    [
      'a range that does not fit, and one that does',
      [...[0, 1, 2].map((n) => [n * 256, n * 256 + 255]), [1_000, 1_100], [2_000, 2_200], [3_000, 3_000]],
      870,
      1,
    ],
  ] as [string, [number, number][], number, number][])('%s', (_, pairs, marks, unlisted) => {
    const { addresses, counts } = excludedMarks(specOf(pairs.map(([first, last]) => ({ first, last }))));
    expect([addresses.length, counts.unlisted]).toEqual([marks, unlisted]);
  });

  it('invalid entries are ignored', () => {
    const spec = { ipv4Config: { pool: { exclude: [7, 'x', '10.0.0.7', null] } } };
    expect(excludedMarks(spec)).toEqual({ addresses: [0x0a000007], counts: { ranges: 1, unlisted: 0 } });
  });

  it('omitted ranges are described, if there are any', () => {
    expect(describeUnlisted(specOf([{ first: 0, last: 255 }]))).toBeUndefined();
    expect(
      describeUnlisted(
        specOf([
          { first: 0, last: 256 },
          { first: 900, last: 901 },
        ]),
      ),
    ).toContain('1 of 2 excluded ranges are not listed in status.ipv4.allocated');
  });

  it('law: at most as many as the budget, only excluded ones, and all of them if none is reported as omitted', () => {
    const range = fc.tuple(fc.nat(20_000), fc.nat(400)).map(([first, more]) => ({ first, last: first + more }));
    fc.assert(
      fc.property(fc.array(range, { maxLength: 40 }), (ranges) => {
        const spec = specOf(ranges);
        const { addresses } = excludedMarks(spec);
        const marked = new Set(addresses);
        expect(marked.size).toBeLessThanOrEqual(MOST_EXCLUDED_MARKS);
        expect(addresses.every((address) => ranges.some((one) => rangeContains(one, address)))).toBe(true);
        const isWhole = ranges.every(({ first, last }) => marked.has(first) && marked.has(last));
        if (describeUnlisted(spec) === undefined) expect(isWhole).toBe(true);
      }),
    );
  });
});
