import { type Ipv4Range, mergeRanges, type Pool, rangesContain } from '@vmdhcp/dhcp-allocator';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { contestedAddresses, contestedBetween, isSameUses, NOTHING_USED, usesOf } from './contested-addresses.js';
import { sharedRanges } from './shared-ranges.js';

const LAST = 60;
const ranges = fc
  .array(fc.tuple(fc.nat(LAST), fc.nat(8)), { maxLength: 6 })
  .map((pairs) => mergeRanges(pairs.map(([first, more]) => ({ first, last: first + more }))));
const addressesOf = (list: readonly Ipv4Range[]) =>
  list.flatMap(({ first, last }) => [...Array(last - first + 1)].map((_, index) => first + index));

/** A pool that could assign these ranges, and whose clients have these addresses. */
function occupied(own: readonly Ipv4Range[], held: readonly number[] = [], server = 0): Parameters<typeof contestedAddresses>[0] {
  const pool = { ranges: own, unavailable: [], reservations: new Map(), serverAddress: server } as unknown as Pool;
  return { pool, assignments: held.map((address) => ({ address, macAddress: '02:00:00:00:00:01' as never })) };
}

it('sharedRanges returns the addresses that both lists contain, sorted', () => {
  fc.assert(
    fc.property(ranges, ranges, (ones, others) => {
      const expected = addressesOf(ones).filter((address) => rangesContain(others, address));
      expect(addressesOf(sharedRanges(ones, others))).toEqual(expected);
    }),
  );
});

describe('the contested addresses of two pools', () => {
  const held = fc.array(fc.nat(LAST), { maxLength: 5 });
  const pools = fc.record({ own: ranges, held, server: fc.nat(LAST) });

  it('are those that both could assign, or one has and the other could assign, or has for its server', () => {
    fc.assert(
      fc.property(pools, pools, (one, other) => {
        const opens = (pool: typeof one, address: number) => rangesContain(pool.own, address) || pool.server === address;
        const has = (pool: typeof one, address: number) => pool.held.includes(address) || pool.server === address;
        const expected = [...Array(2 * LAST).keys()].filter(
          (address) =>
            (rangesContain(one.own, address) && rangesContain(other.own, address)) ||
            (has(one, address) && opens(other, address)) ||
            (has(other, address) && opens(one, address)),
        );
        const [first, second] = [one, other].map((pool) => occupied(pool.own, pool.held, pool.server));
        expect(addressesOf(contestedAddresses(first as never, second as never))).toEqual(expected);
      }),
    );
  });

  it('are found by reading each range a few times, however many the other pool has', () => {
    let reads = 0;
    const counted = ({ first, last }: Ipv4Range): Ipv4Range => ({
      get first() {
        reads += 1;
        return first;
      },
      get last() {
        reads += 1;
        return last;
      },
    });
    const many = 1_000;
    /** Every other address, so that nothing can be merged. */
    const uses = (from: number) => {
      const open = [...Array(many).keys()].map((index) => counted({ first: from + 2 * index, last: from + 2 * index }));
      return { ...NOTHING_USED, ipv4: { open, held: open } };
    };
    expect(contestedBetween(uses(0), uses(1))).toEqual([]);
    expect(contestedBetween(uses(0), uses(0))).toHaveLength(many);
    expect(reads).toBeGreaterThan(many);
    expect(reads).toBeLessThan(100 * many);
  });

  it('are none with a pool that is not served', () => {
    expect(contestedBetween(NOTHING_USED, usesOf(occupied([{ first: 1, last: 9 }])))).toEqual([]);
  });
});

it('the addresses of a pool are not the same if its IPv6 addresses are others', () => {
  const uses = (offset: bigint) => ({ ...NOTHING_USED, ipv6: { ...NOTHING_USED.ipv4, offset } });
  expect(isSameUses(uses(1n), uses(1n))).toBe(true);
  expect(isSameUses(uses(1n), uses(2n))).toBe(false);
});
