import { type PoolDefinition, parseIpv4Address, validatePool } from '@vmdhcp/dhcp-allocator';
import { expect, it } from 'vitest';
import { AddressTable } from './address-table.js';
import { countRange, drawMap, STATE_NUMBERS } from './draw-map.js';
import type { PoolClient } from './pool-facts.js';

function draw(dynamic: readonly string[], clients: readonly string[], settings: Partial<PoolDefinition> = {}) {
  const written = { name: 'default/net', cidr: '10.0.0.0/27', serverAddress: '10.0.0.1', start: '10.0.0.4', end: '10.0.0.7' };
  const checked = validatePool({ ...written, dynamic, exclude: [], reservations: [], options: {}, ...settings });
  if (!checked.ok) throw new Error(JSON.stringify(checked.problems));
  const addresses = clients.flatMap((text) => parseIpv4Address(text) ?? []);
  const table = AddressTable.of(addresses.map((address) => [address, { address } as PoolClient] as const));
  const runs = drawMap(checked.value, { clients: table, kept: AddressTable.of(), unusable: [], quarantined: [] });
  const { free, used } = countRange(checked.value, runs);
  return { runs, free, used };
}

it.each([
  ['none', [], ['10.0.0.4'], { free: 3, used: 1 }],
  ['one after the range', ['10.0.0.10-10.0.0.13'], ['10.0.0.4', '10.0.0.10', '10.0.0.11'], { free: 5, used: 3 }],
  ['one before and over the range', ['10.0.0.2-10.0.0.9'], ['10.0.0.2', '10.0.0.5'], { free: 6, used: 2 }],
  ['one inside of the range', ['10.0.0.5-10.0.0.6'], ['10.0.0.5'], { free: 3, used: 1 }],
])('addresses of dynamic ranges are counted like those of the range, each once: %s', (_, dynamic, clients, counts) => {
  expect(draw(dynamic, clients)).toMatchObject(counts);
});

it('what lies between two ranges is outside, and is not counted, whether it is excluded or not', () => {
  const { outside, server, free, used, excluded } = STATE_NUMBERS;
  const pool = { ranges: ['10.0.0.4-10.0.0.6', '10.0.0.10-10.0.0.11'], exclude: ['10.0.0.6-10.0.0.7'] };
  const { runs, ...counts } = draw([], ['10.0.0.4'], pool);
  expect(runs).toEqual([outside, 1, server, 1, outside, 2, used, 1, free, 1, excluded, 1, outside, 3, free, 2, outside, 20]);
  expect(counts).toEqual({ free: 3, used: 1 });
});

it('dynamic ranges are drawn', () => {
  const { outside, server, free } = STATE_NUMBERS;
  expect(draw(['10.0.0.10-10.0.0.13'], []).runs).toEqual([
    outside,
    1,
    server,
    1,
    outside,
    2,
    free,
    4,
    outside,
    2,
    free,
    4,
    outside,
    18,
  ]);
});
