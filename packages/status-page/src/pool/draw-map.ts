/** The state of every address of a pool's subnet, as runs. */
import {
  broadcastAddressOf,
  cidrContains,
  type Ipv4Address,
  type Ipv4Range,
  intersectRanges,
  lastAddressOf,
  networkAddressOf,
  type Pool,
  subtractRanges,
} from '@vmdhcp/dhcp-allocator';
import { applyMapChanges, RunBuilder } from '../model/address-map.js';
import { ADDRESS_STATES, type AddressCounts, type AddressState } from '../model/page-data.js';
import type { PoolFacts } from './pool-facts.js';

/** Numbers of the states in runs. */
export const STATE_NUMBERS = Object.fromEntries(ADDRESS_STATES.map((state, index) => [state, index])) as Readonly<
  Record<AddressState, number>
>;

type MapFacts = Pick<PoolFacts, 'clients' | 'kept' | 'unusable' | 'quarantined'>;

/** `[state, count, …]` over the whole subnet of the pool. */
export function drawMap(pool: Pool, facts: MapFacts): readonly number[] {
  return applyMapChanges(drawSettings(pool), pointChanges(pool, facts));
}

/** The state of each address by the settings alone. */
function drawSettings({ cidr, ranges, unavailable, dynamic, options: { router } }: Pool): readonly number[] {
  const built = new RunBuilder();
  let next = cidr.network;
  const fill = (state: AddressState, until: number) => {
    built.add(STATE_NUMBERS[state], until - next);
    next = Math.max(next, until);
  };
  for (const range of ranges) {
    fill('outside', range.first);
    for (const { first, last } of unavailable.flatMap((one) => intersectRanges(range, one) ?? [])) {
      fill('free', first);
      fill('excluded', last + 1);
    }
    fill('free', range.last + 1);
  }
  fill('outside', lastAddressOf(cidr) + 1);
  const changes = [networkAddressOf(cidr), broadcastAddressOf(cidr)].map((address) => ({ address, state: 'outside' as const }));
  // A router may be outside the subnet of its clients.
  const ofRouter = router !== undefined && cidrContains(cidr, router) ? [{ address: router, state: 'router' as const }] : [];
  const own = [...changes, ...ofRouter].flatMap(({ address, state }) => (address === undefined ? [] : [{ address, state }]));
  const points = own.map(({ address, state }) => ({ first: address, last: address, state }));
  const open = dynamic.map(({ first, last }) => ({ first, last, state: 'free' as const }));
  const sorted = [...points, ...open].toSorted((one, other) => one.first - other.first);
  return applyMapChanges(
    built.runs,
    sorted.flatMap(({ first: from, last, state }) => [from - cidr.network, STATE_NUMBERS[state], last - from + 1]),
  );
}

/** The differences from the settings: `[offset, state, count, …]`. If an address has several states, the last one painted is shown. */
function pointChanges({ cidr, serverAddress }: Pool, { clients, kept, unusable, quarantined }: MapFacts): readonly number[] {
  const points = new Points(cidr.network, lastAddressOf(cidr));
  const { reserved, quarantined: inQuarantine, used, server } = STATE_NUMBERS;
  kept.each((address) => points.paint(address, reserved));
  for (const address of unusable) points.paint(address, reserved);
  for (const { address } of quarantined) points.paint(address, inQuarantine);
  clients.each((address) => points.paint(address, used));
  points.paint(serverAddress, server);
  return points.changes();
}

const BLOCK_SIZE = 256;

/** Addresses of a subnet that have a state, in blocks of 256, so that only the blocks must be sorted. */
class Points {
  /** For each address its state plus one; 0 for none. */
  readonly #blocks = new Map<number, Uint8Array>();
  readonly #first: Ipv4Address;
  readonly #last: Ipv4Address;

  constructor(first: Ipv4Address, last: Ipv4Address) {
    this.#first = first;
    this.#last = last;
  }

  paint(address: Ipv4Address, state: number): void {
    if (address < this.#first || address > this.#last) return;
    const number = Math.floor(address / BLOCK_SIZE);
    const block = this.#blocks.get(number) ?? new Uint8Array(BLOCK_SIZE);
    if (block[address % BLOCK_SIZE] === 0) this.#blocks.set(number, block);
    block[address % BLOCK_SIZE] = state + 1;
  }

  changes(): readonly number[] {
    const changes: number[] = [];
    for (const [number, block] of [...this.#blocks].toSorted(([one], [other]) => one - other)) {
      const offset = number * BLOCK_SIZE - this.#first;
      for (let place = 0; place < BLOCK_SIZE; place++) {
        const state = block[place] ?? 0;
        if (state > 0) appendRun(changes, offset + place, state - 1);
      }
    }
    return changes;
  }
}

/** Adds an address; consecutive addresses with the same state become one change. */
function appendRun(changes: number[], offset: number, state: number): void {
  const last = changes.length - 3;
  const isNext = last >= 0 && changes[last + 1] === state && (changes[last] ?? 0) + (changes[last + 2] ?? 0) === offset;
  if (isNext) changes[last + 2] = (changes[last + 2] ?? 0) + 1;
  else changes.push(offset, state, 1);
}

export const NO_ADDRESSES: AddressCounts = { free: 0, used: 0, reserved: 0, excluded: 0, quarantined: 0 };

/**
 * Counts by state the addresses that clients may get: those in the ranges of the pool, and its dynamic ranges. @param runs - of its whole
 * subnet
 */
export function countRange(pool: Pool, runs: readonly number[]): AddressCounts {
  const counts = ADDRESS_STATES.map(() => 0);
  const ranges = rangesOf(pool);
  let first: Ipv4Address = pool.cidr.network;
  for (let index = 0; index + 1 < runs.length; index += 2) {
    const [state = 0, count = 0] = runs.slice(index, index + 2);
    for (const range of ranges) {
      const within = Math.min(first + count, range.last + 1) - Math.max(first, range.first);
      counts[state] = (counts[state] ?? 0) + Math.max(within, 0);
    }
    first += count;
  }
  const of = (state: AddressState) => counts[STATE_NUMBERS[state]] ?? 0;
  return {
    free: of('free'),
    used: of('used'),
    reserved: of('reserved'),
    excluded: of('excluded'),
    quarantined: of('quarantined'),
  };
}

/** The ranges do not overlap. */
function rangesOf({ ranges, dynamic }: Pool): readonly Ipv4Range[] {
  return [...ranges, ...subtractRanges(dynamic, ranges)];
}

/** The sum of several pools. */
export function sumCounts(all: Iterable<AddressCounts>): AddressCounts {
  const sum: { -readonly [State in keyof AddressCounts]: number } = { ...NO_ADDRESSES };
  for (const counts of all) for (const state of Object.keys(NO_ADDRESSES) as (keyof AddressCounts)[]) sum[state] += counts[state];
  return sum;
}
