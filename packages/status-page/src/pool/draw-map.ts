/** The state of every address of a pool's subnet, as runs. */
import {
  broadcastAddressOf,
  cidrContains,
  type Ipv4Address,
  lastAddressOf,
  networkAddressOf,
  type Pool,
} from '@vmdhcp/dhcp-allocator';
import { applyMapChanges, RunBuilder } from '../model/address-map.js';
import { ADDRESS_STATES, type AddressCounts, type AddressState } from '../model/page-data.js';
import type { PoolFacts } from './pool-facts.js';

type PointState = Extract<AddressState, 'used' | 'reserved' | 'quarantined' | 'server'>;

/** Of an address that is several of these, the last one is shown. */
const POINTS: readonly PointState[] = ['reserved', 'quarantined', 'used', 'server'];
const RANKS = 8;

/** Numbers of the states in runs. */
export const STATE_NUMBERS = Object.fromEntries(ADDRESS_STATES.map((state, index) => [state, index])) as Readonly<
  Record<AddressState, number>
>;

type MapFacts = Pick<PoolFacts, 'clients' | 'kept' | 'unusable' | 'quarantined'>;

/** `[state, count, …]` over the whole subnet of the pool. */
export function drawMap(pool: Pool, facts: MapFacts): readonly number[] {
  return applyMapChanges(drawSettings(pool), pointChanges(pool, facts));
}

/** What the settings alone make of each address. */
function drawSettings({ cidr, range, unavailable, options: { router } }: Pool): readonly number[] {
  const built = new RunBuilder();
  let next = cidr.network;
  const fill = (state: AddressState, until: number) => {
    built.add(STATE_NUMBERS[state], until - next);
    next = Math.max(next, until);
  };
  fill('outside', range.first);
  for (const { first, last } of unavailable) {
    fill('free', first);
    fill('excluded', last + 1);
  }
  fill('free', range.last + 1);
  fill('outside', lastAddressOf(cidr) + 1);
  const changes = [networkAddressOf(cidr), broadcastAddressOf(cidr)].map((address) => ({ address, state: 'outside' as const }));
  // The router of a client is outside of its subnet sometimes.
  const ofRouter = router !== undefined && cidrContains(cidr, router) ? [{ address: router, state: 'reserved' as const }] : [];
  const own = [...changes, ...ofRouter].flatMap(({ address, state }) => (address === undefined ? [] : [{ address, state }]));
  const sorted = own.toSorted((one, other) => one.address - other.address);
  return applyMapChanges(
    built.runs,
    sorted.flatMap(({ address, state }) => [address - cidr.network, STATE_NUMBERS[state], 1]),
  );
}

/** What differs from the settings: `[offset, state, count, …]`. */
function pointChanges({ cidr, serverAddress }: Pool, { clients, kept, unusable, quarantined }: MapFacts): readonly number[] {
  const points = new Points(clients.size + kept.size + unusable.length + quarantined.length + 1);
  for (const address of clients.keys()) points.add(address, 'used');
  for (const address of kept.keys()) points.add(address, 'reserved');
  for (const address of unusable) points.add(address, 'reserved');
  for (const { address } of quarantined) points.add(address, 'quarantined');
  points.add(serverAddress, 'server');
  return points.changes(cidr.network, lastAddressOf(cidr));
}

/** Addresses with a state, as numbers that sort by address and rank: of 40,000, a sorted list of objects takes ten times as long. */
class Points {
  readonly #values: Float64Array;
  #size = 0;

  constructor(most: number) {
    this.#values = new Float64Array(most);
  }

  add(address: Ipv4Address, state: PointState): void {
    this.#values[this.#size++] = address * RANKS + POINTS.indexOf(state);
  }

  changes(first: Ipv4Address, last: Ipv4Address): readonly number[] {
    const sorted = this.#values.subarray(0, this.#size).sort();
    const changes: number[] = [];
    for (let index = 0; index < sorted.length; index++) {
      const value = sorted[index] ?? 0;
      const address = Math.floor(value / RANKS);
      const isOther = index + 1 < sorted.length && Math.floor((sorted[index + 1] ?? 0) / RANKS) === address;
      if (isOther || address < first || address > last) continue;
      appendRun(changes, address - first, STATE_NUMBERS[POINTS[value % RANKS] ?? 'used']);
    }
    return changes;
  }
}

/** One address more; addresses in a row with one state are one change. */
function appendRun(changes: number[], offset: number, state: number): void {
  const last = changes.length - 3;
  const isNext = last >= 0 && changes[last + 1] === state && (changes[last] ?? 0) + (changes[last + 2] ?? 0) === offset;
  if (isNext) changes[last + 2] = (changes[last + 2] ?? 0) + 1;
  else changes.push(offset, state, 1);
}

const NOTHING: AddressCounts = { free: 0, used: 0, reserved: 0, excluded: 0, quarantined: 0 };

/** How many addresses have each state. */
export function countStates(runs: readonly number[]): AddressCounts {
  const counts = ADDRESS_STATES.map(() => 0);
  for (let index = 0; index + 1 < runs.length; index += 2) {
    const state = runs[index] ?? 0;
    counts[state] = (counts[state] ?? 0) + (runs[index + 1] ?? 0);
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

/** Of several pools together. */
export function sumCounts(all: Iterable<AddressCounts>): AddressCounts {
  const sum: { -readonly [State in keyof AddressCounts]: number } = { ...NOTHING };
  for (const counts of all) for (const state of Object.keys(NOTHING) as (keyof AddressCounts)[]) sum[state] += counts[state];
  return sum;
}
