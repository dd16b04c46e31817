import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { applyMapChanges } from '../../model/address-map.js';
import { ADDRESS_STATES, type AddressMap } from '../../model/page-data.js';
import { countBlocks, type GridMove, moveInGrid, toGridMove, toOverviewShape } from './address-blocks.js';
import { toBlockRows, toRanges } from './address-ranges.js';
import { AddressStates } from './address-states.js';
import { formatAddress, parseAddress } from './ipv4-text.js';
import { toAxis, toDots } from './map-dots.js';
import { paintCells, toPixel } from './paint-overview.js';

const [FREE, USED, RESERVED, EXCLUDED, QUARANTINED, SERVER, OUTSIDE] = ADDRESS_STATES.map((_, code) => code) as [
  number,
  number,
  number,
  number,
  number,
  number,
  number,
];

/** 192.168.48.0/24: server .2, range .10 to .19 with .10 and .11 in use, .12 reserved. */
const SMALL: AddressMap = {
  first: '192.168.48.0',
  size: 256,
  runs: [OUTSIDE, 2, SERVER, 1, OUTSIDE, 7, USED, 2, RESERVED, 1, FREE, 7, OUTSIDE, 236],
};

function statesOf(map: AddressMap): AddressStates {
  const states = AddressStates.of(map);
  if (states === undefined) throw new Error('this map has no picture');
  return states;
}

describe('the states of the addresses of a subnet', () => {
  it('has the state of each address', () => {
    const states = statesOf(SMALL);
    const shown = [0, 2, 9, 10, 11, 12, 13, 19, 20, 255].map((offset) => states.stateAt(offset));
    expect(shown).toEqual([
      ...['outside', 'server', 'outside', 'used', 'used', 'reserved', 'free', 'free', 'outside', 'outside'],
    ]);
  });

  it('counts them', () => {
    expect(statesOf(SMALL).count()).toEqual({
      ...{ free: 7, used: 2, reserved: 1, excluded: 0, quarantined: 0, server: 1, outside: 245, router: 0 },
    });
  });

  it('finds an address, but none outside the subnet', () => {
    const states = statesOf(SMALL);
    expect(['192.168.48.17', ' 192.168.48.0 ', '192.168.49.0', '10.0.0.1', 'web'].map((text) => states.offsetOf(text))).toEqual([
      17,
      0,
      undefined,
      undefined,
      undefined,
    ]);
    expect(states.addressAt(17)).toBe('192.168.48.17');
  });

  it('applies changes, and leaves out what lies beyond the subnet', () => {
    const states = statesOf(SMALL);
    states.apply([12, USED, 1, 250, QUARANTINED, 100]);
    expect([states.stateAt(12), states.stateAt(249), states.stateAt(255)]).toEqual(['used', 'outside', 'quarantined']);
  });

  it('draws a state that it does not know as outside', () => {
    expect(statesOf({ first: '10.0.0.0', size: 2, runs: [99, 1, FREE, 1] }).stateAt(0)).toBe('outside');
  });

  it('has no picture of a subnet larger than /8, or with an invalid first address', () => {
    expect(AddressStates.of({ first: '0.0.0.0', size: 2 ** 25, runs: [FREE, 2 ** 25] })).toBeUndefined();
    expect(AddressStates.of({ first: 'web', size: 1, runs: [FREE, 1] })).toBeUndefined();
  });

  it('law: changes in place have the same result as changes of the runs', () => {
    const run = fc.tuple(fc.integer({ min: 0, max: 7 }), fc.integer({ min: 1, max: 40 }));
    const change = fc.tuple(fc.integer({ min: 0, max: 300 }), ...[6, 30].map((max) => fc.integer({ min: 1, max })));
    fc.assert(
      fc.property(fc.array(run, { minLength: 1 }), fc.array(change), (runs, changes) => {
        const flat = runs.flat();
        const size = runs.reduce((sum, [, count]) => sum + count, 0);
        const ordered = withoutOverlaps(changes as [number, number, number][]);
        const changed = statesOf({ first: '10.0.0.0', size, runs: flat });
        changed.apply(ordered);
        const other = statesOf({ first: '10.0.0.0', size, runs: applyMapChanges(flat, ordered) });
        expect([...changed.codes]).toEqual([...other.codes]);
      }),
    );
  });
});

/** `[offset, state, count, …]` in order. */
function withoutOverlaps(changes: readonly [number, number, number][]): number[] {
  let end = 0;
  return [...changes]
    .sort(([one], [other]) => one - other)
    .flatMap(([offset, state, count]) => {
      if (offset < end) return [];
      end = offset + count;
      return [offset, state, count];
    });
}

describe('the picture of a whole subnet', () => {
  it.each([
    ['/24', 2 ** 8, { rows: 1, perCell: 1 }, 1],
    ['/22', 2 ** 10, { rows: 4, perCell: 1 }, 4],
    ['/16', 2 ** 16, { rows: 256, perCell: 1 }, 256],
    ['/12', 2 ** 20, { rows: 256, perCell: 16 }, 4096],
    ['/8', 2 ** 24, { rows: 256, perCell: 256 }, 65_536],
  ])('%s', (_prefix, size, shape, blocks) => {
    expect(toOverviewShape(size)).toEqual(shape);
    expect(countBlocks(size)).toBe(blocks);
  });

  it('paints one pixel for each address of a /16, and only changed ones', () => {
    const states = statesOf({ first: '10.1.0.0', size: 2 ** 16, runs: [FREE, 2 ** 16] });
    const palette = Uint32Array.from(ADDRESS_STATES, (_, code) => code + 1);
    const shape = toOverviewShape(states.size);
    const pixels = new Uint32Array(2 ** 16);
    paintCells({ states, shape, palette }, pixels, { from: 0, to: states.size });
    expect(new Set(pixels)).toEqual(new Set([FREE + 1]));
    states.apply([9476, USED, 2]);
    pixels.fill(0);
    paintCells({ states, shape, palette }, pixels, { from: 9476, to: 9478 });
    expect([pixels[9475], pixels[9476], pixels[9477], pixels[9478]]).toEqual([0, USED + 1, USED + 1, 0]);
  });

  it('shows the most urgent state if a pixel stands for several addresses', () => {
    const size = 2 ** 20;
    const states = statesOf({
      first: '10.0.0.0',
      size,
      runs: [FREE, 5, QUARANTINED, 1, USED, 10, OUTSIDE, 8, EXCLUDED, 8, FREE, size - 32],
    });
    const palette = Uint32Array.from(ADDRESS_STATES, (_, code) => code);
    const pixels = new Uint32Array(2 ** 16);
    paintCells({ states, shape: toOverviewShape(size), palette }, pixels, { from: 0, to: size });
    expect([...pixels.slice(0, 3)]).toEqual([QUARANTINED, EXCLUDED, FREE]);
  });

  it('reads colours as browsers compute them', () => {
    expect(toPixel('rgb(35, 104, 173)').toString(16)).toBe('ffad6823');
    expect(toPixel('rgba(1, 2, 3, 0.5)').toString(16)).toBe('ff030201');
    expect(() => toPixel('blue')).toThrow('not a colour as computed');
  });
});

describe('marks for addresses that the picture of a whole subnet would hide', () => {
  const ofSixteen = (runs: readonly number[]) => {
    const rest = 2 ** 16 - runs.reduce((sum, value, index) => (index % 2 === 0 ? sum : sum + value), 0);
    return statesOf({ first: '10.1.0.0', size: 2 ** 16, runs: [...runs, USED, rest] });
  };
  const dotsOf = (states: AddressStates) =>
    toDots(states, toOverviewShape(states.size)).map(({ state, column, row }) => `${state} ${column} ${row}`);

  it('single addresses get marks, the most urgent first; many in a row need none', () => {
    const states = ofSixteen([OUTSIDE, 2, SERVER, 1, FREE, 510, RESERVED, 3, USED, 1, RESERVED, 9, FREE, 5, QUARANTINED, 1]);
    expect(dotsOf(states)).toEqual(['quarantined 19 2', 'server 2 0', 'reserved 2 2']);
  });

  it('only the most urgent of a thousand get marks', () => {
    const states = ofSixteen([...Array.from({ length: 500 }, () => [RESERVED, 1, FREE, 1]).flat(), QUARANTINED, 1]);
    const dots = dotsOf(states);
    expect([dots.length, dots[0]]).toEqual([200, 'quarantined 232 3']);
  });

  it.each([
    ['10.1.0.0', 2 ** 16, ['0 .0', '32 .32', '64 .64', '96 .96', '128 .128', '160 .160', '192 .192', '224 .224']],
    ['172.16.8.0', 1_024, ['0 .8', '1 .9', '2 .10', '3 .11']],
    ['10.0.0.0', 2 ** 20, ['0 .0.0', '32 .2.0', '64 .4.0', '96 .6.0', '128 .8.0', '160 .10.0', '192 .12.0', '224 .14.0']],
  ])('names the rows of %s with %i addresses', (first, size, marks) => {
    const axis = toAxis(statesOf({ first, size, runs: [FREE, size] }), toOverviewShape(size));
    expect(axis.map(({ row, text }) => `${row} ${text}`)).toEqual(marks);
  });

  it('selecting a state moves to its next range, and from the last range to the first', () => {
    const states = statesOf(SMALL);
    expect([
      states.nextOf('used', 0),
      states.nextOf('used', 10),
      states.nextOf('outside', 2),
      states.nextOf('outside', 21),
    ]).toEqual([10, 10, 3, 0]);
    expect(states.nextOf('quarantined', 0)).toBeUndefined();
  });
});

describe('the picture in words', () => {
  it('has ranges of one state', () => {
    const rows = toRanges(statesOf(SMALL), 0, 256).map(({ state, first, last, count }) => `${first}-${last} ${count} ${state}`);
    expect(rows.slice(0, 5)).toEqual([
      '192.168.48.0-192.168.48.1 2 outside',
      '192.168.48.2-192.168.48.2 1 server',
      '192.168.48.3-192.168.48.9 7 outside',
      '192.168.48.10-192.168.48.11 2 used',
      '192.168.48.12-192.168.48.12 1 reserved',
    ]);
  });

  it('law: ranges cover each address once', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(7), fc.integer({ min: 1, max: 90 })), { minLength: 1 }), (runs) => {
        const size = runs.reduce((sum, [, count]) => sum + count, 0);
        const states = statesOf({ first: '10.0.0.0', size, runs: runs.flat() });
        expect(toRanges(states, 0, size).reduce((sum, { count }) => sum + count, 0)).toBe(size);
      }),
    );
  });

  it('has the blocks in the range of the pool', () => {
    const states = statesOf({ first: '172.16.8.0', size: 1024, runs: [OUTSIDE, 256, USED, 10, FREE, 502, OUTSIDE, 256] });
    const rows = toBlockRows(states, 256).map(({ first, counts }) => [first, counts.used, counts.free]);
    expect(rows).toEqual([
      ['172.16.9.0', 10, 246],
      ['172.16.10.0', 0, 256],
    ]);
    expect(toBlockRows(states, 1)).toHaveLength(1);
  });
});

describe('keys in the grid of addresses (ARIA Authoring Practices, grid pattern)', () => {
  it.each([
    ['ArrowLeft', false, 'left'],
    ['End', false, 'row-end'],
    ['Home', true, 'start'],
    ['PageDown', false, 'block-after'],
    ['a', false, undefined],
    ['toString', false, undefined],
    ['ArrowLeft', true, undefined],
  ])('%s with control %s', (key, isControl, move) => {
    expect(toGridMove(key, isControl)).toBe(move);
  });

  it.each<[GridMove, number, number]>([
    ['left', 300, 299],
    ['left', 0, 0],
    ['left', 256, 255],
    ['right', 255, 256],
    ['right', 1023, 1023],
    ['up', 5, 5],
    ['up', 256, 240],
    ['down', 250, 266],
    ['down', 1020, 1020],
    ['row-start', 300, 288],
    ['row-end', 300, 303],
    ['start', 300, 256],
    ['end', 300, 511],
    ['block-before', 300, 44],
    ['block-before', 44, 44],
    ['block-after', 300, 556],
    ['block-after', 1000, 1000],
  ])('%s from %i of 1024', (move, from, to) => {
    expect(moveInGrid(from, move, 1024)).toBe(to);
  });

  it('ends at the last address of a small subnet', () => {
    expect([moveInGrid(3, 'row-end', 8), moveInGrid(3, 'end', 8)]).toEqual([7, 7]);
  });
});

describe('addresses as text', () => {
  it('law: a formatted address can be parsed', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 ** 32 - 1 }), (value) => {
        expect(parseAddress(formatAddress(value))).toBe(value);
      }),
    );
  });

  it.each(['', '1.2.3', '1.2.3.4.5', '256.1.1.1', '1.2.3.x', '1.2.3.-4', '1..2.3', '0x1.2.3.4'])(
    '%j is not an address',
    (text) => {
      expect(parseAddress(text)).toBeUndefined();
    },
  );
});
