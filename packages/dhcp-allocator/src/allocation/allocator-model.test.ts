/** Compares the allocator with a slow one that is easy to read: both answer every call alike. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseIpv4Address } from '../address/ipv4-address.js';
import { cidrContains } from '../address/ipv4-cidr.js';
import { rangeContains } from '../address/ipv4-range.js';
import type { Pool } from '../pool/pool.js';
import { validatePool } from '../pool/validate-pool.js';
import { AddressAllocator, type AllocationResult, mayBeKept } from './address-allocator.js';

const ip = (text: string): number => parseIpv4Address(text) as number;
const CLIENTS = ['a', 'b', 'c', 'd', 'e', 'f'].map((letter) => `02:00:00:00:00:0${letter}`);
const RESERVING = CLIENTS[0] as string;
/** Addresses in a range, between two, outside them, excluded, reserved, the router's, the server's, not a host's, of another subnet. */
const ADDRESSES = [
  ...[1, 5, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 20, 99, 255, 0].map((last) => `10.0.0.${last}`),
  '10.0.1.12',
].map(ip);

function poolOf(): Pool {
  const checked = validatePool({
    name: 'net',
    cidr: '10.0.0.0/24',
    serverAddress: '10.0.0.1',
    ranges: ['10.0.0.10-10.0.0.13', '10.0.0.15-10.0.0.17'],
    exclude: ['10.0.0.12'],
    options: { router: '10.0.0.99' },
    reservations: [
      { macAddress: RESERVING, address: '10.0.0.15' },
      { macAddress: CLIENTS[1] as string, address: '10.0.0.5' },
    ],
  });
  if (!checked.ok) throw new Error(JSON.stringify(checked.problems));
  return checked.value;
}

/** Without an index or a bitmap: it searches all addresses to answer each call. */
class Model {
  readonly assigned = new Map<string, number>();
  /** The address that each client has or had last. */
  readonly last = new Map<string, number>();
  readonly quarantined = new Map<number, number>();
  readonly #pool: Pool;

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  owner = (address: number) => [...this.assigned].find(([, one]) => one === address)?.[0];
  reserver = (address: number) => [...this.#pool.reservations].find(([, one]) => one.address === address)?.[0];
  inRange = (address: number) => this.#pool.ranges.some((range) => rangeContains(range, address));
  isUnavailable = (address: number) => this.#pool.unavailable.some((range) => rangeContains(range, address));

  isFree(address: number): boolean {
    const isTaken = this.owner(address) !== undefined || this.quarantined.has(address) || this.reserver(address) !== undefined;
    return this.inRange(address) && !this.isUnavailable(address) && !isTaken;
  }

  size(): number {
    let size = 0;
    for (let address = this.#pool.range.first; address <= this.#pool.range.last; address++)
      if (!this.isUnavailable(address)) size++;
    const reservedOutside = [...this.#pool.reservations.values()].filter(({ address }) => !this.inRange(address));
    return size + reservedOutside.length;
  }

  counts() {
    const ordinary = (address: number) =>
      this.reserver(address) !== undefined || (this.inRange(address) && !this.isUnavailable(address));
    const kept = [...this.assigned.values()].filter((address) => !ordinary(address)).length;
    const size = this.size() + kept;
    const reserved = [...this.#pool.reservations].filter(([client, { address }]) => this.assigned.get(client) !== address).length;
    const [used, quarantined] = [this.assigned.size, this.quarantined.size];
    return { size, used, reserved, quarantined, free: size - used - reserved - quarantined };
  }

  hold(client: string, address: number): AllocationResult {
    for (const [other, one] of this.last) if (one === address) this.last.delete(other);
    this.assigned.set(client, address);
    this.last.set(client, address);
    return { ok: true, address };
  }

  allocate(client: string, wanted?: number): AllocationResult {
    const has = this.assigned.get(client);
    if (has !== undefined)
      return wanted === undefined || wanted === has
        ? { ok: true, address: has }
        : { ok: false, reason: 'client-has-another-address' };
    const exact = wanted ?? this.#pool.reservations.get(client)?.address;
    if (exact !== undefined) return this.refusal(client, exact) ?? this.hold(client, exact);
    const last = this.last.get(client);
    if (last !== undefined && this.isFree(last)) return this.hold(client, last);
    for (let address = this.#pool.range.first; address <= this.#pool.range.last; address++)
      if (this.isFree(address)) return this.hold(client, address);
    return { ok: false, reason: 'pool-exhausted' };
  }

  refusal(client: string, address: number): AllocationResult | undefined {
    const [owner, reserver] = [this.owner(address), this.reserver(address)];
    if (reserver !== undefined && reserver !== client) return { ok: false, reason: 'address-reserved', owner: reserver };
    if (owner !== undefined) return { ok: false, reason: 'address-taken', owner };
    if (reserver === client) return undefined;
    if (!cidrContains(this.#pool.cidr, address) || !this.inRange(address)) return { ok: false, reason: 'address-outside-pool' };
    if (this.quarantined.has(address)) return { ok: false, reason: 'address-quarantined' };
    return this.isFree(address) ? undefined : { ok: false, reason: 'address-unavailable' };
  }

  keep(client: string, address: number): AllocationResult {
    const isOrdinary = this.reserver(address) !== undefined || this.quarantined.has(address) || this.isFree(address);
    if (this.assigned.has(client) || isOrdinary || !mayBeKept(this.#pool, address)) return this.allocate(client, address);
    const owner = this.owner(address);
    return owner === undefined ? this.hold(client, address) : { ok: false, reason: 'address-taken', owner };
  }

  quarantine(address: number, untilMs: number): boolean {
    if (this.quarantined.has(address)) {
      this.quarantined.set(address, untilMs);
      return true;
    }
    if (this.reserver(address) !== undefined) return false;
    if (this.quarantined.size >= Math.max(1, Math.floor(this.size() / 4))) return false;
    const owner = this.owner(address);
    if (owner === undefined && !this.isFree(address)) return false;
    if (owner !== undefined) this.assigned.delete(owner);
    if (!this.isFree(address)) return true;
    for (const [client, one] of this.last) if (one === address) this.last.delete(client);
    this.quarantined.set(address, untilMs);
    return true;
  }

  endQuarantines(nowMs: number): number[] {
    const ended = [...this.quarantined].filter(([, untilMs]) => untilMs <= nowMs).map(([address]) => address);
    for (const address of ended) this.quarantined.delete(address);
    return ended.toSorted((one, other) => one - other);
  }
}

type Both = readonly [allocator: AddressAllocator, model: Model];
type Step = readonly [text: string, run: (both: Both) => readonly [unknown, unknown]];

const client = fc.constantFrom(...CLIENTS);
const anyAddress = fc.constantFrom(...ADDRESSES);
const time = fc.nat(20);
const step: fc.Arbitrary<Step> = fc.oneof(
  fc
    .tuple(client, fc.option(anyAddress, { nil: undefined, freq: 2 }))
    .map(
      ([who, wanted]): Step => [
        `allocate ${who} ${wanted}`,
        ([one, model]) => [one.allocate(who, wanted), model.allocate(who, wanted)],
      ],
    ),
  client.map((who): Step => [`allocate ${who}`, ([one, model]) => [one.allocate(who), model.allocate(who)]]),
  fc
    .tuple(client, anyAddress)
    .map(
      ([who, address]): Step => [`keep ${who} ${address}`, ([one, model]) => [one.keep(who, address), model.keep(who, address)]],
    ),
  client.map((who): Step => [`release ${who}`, ([one, model]) => [one.release(who), model.assigned.delete(who)]]),
  fc
    .tuple(anyAddress, time)
    .map(
      ([address, untilMs]): Step => [
        `quarantine ${address} ${untilMs}`,
        ([one, model]) => [one.quarantine(address, untilMs), model.quarantine(address, untilMs)],
      ],
    ),
  time.map((nowMs): Step => [`end ${nowMs}`, ([one, model]) => [one.endQuarantines(nowMs), model.endQuarantines(nowMs)]]),
);

describe('the allocator and its model', () => {
  it('give the same answers step by step, and end in the same state', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60, size: 'max' }), (steps) => {
        const both: Both = [new AddressAllocator(poolOf()), new Model(poolOf())];
        for (const [text, run] of steps) {
          const [got, expected] = run(both);
          const [one, model] = both;
          expect([text, got, one.counts(), new Map(one.quarantined())]).toEqual([
            text,
            expected,
            model.counts(),
            model.quarantined,
          ]);
          for (const who of CLIENTS) expect([text, who, one.addressOf(who)]).toEqual([text, who, model.assigned.get(who)]);
          for (const address of ADDRESSES)
            expect([text, address, one.ownerOf(address)]).toEqual([text, address, model.owner(address)]);
        }
      }),
      { numRuns: 300, seed: 1 },
    );
  });
});
