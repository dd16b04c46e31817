/** Whatever happens to the controller and its writes: the owner of an address at a time is answered correctly, or as unknown. */
import { type Ipv4Address, type MacAddress, parseMacAddress } from '@vmdhcp/dhcp-allocator';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AssignedClient, AssignmentRecord } from './assignment-record.js';
import { AuditBook, type Observation } from './audit-book.js';
import { formatAuditState, parseAuditState } from './audit-state.js';
import { ownerAt } from './owner-at.js';
import { formatBatch, readPoolLog } from './pool-log.js';

const POOL = 'default/pool';
const SECOND = 1_000;
const ADDRESSES = [1, 2, 3].map((host) => 0x0a_00_00_00 + host);

type Act =
  | { readonly kind: 'wait'; readonly seconds: number }
  /** The client of this number gets or loses the address; the answer to the write arrives later, or never (`crash`). */
  | {
      readonly kind: 'assign';
      readonly address: number;
      readonly client: number;
      readonly tookSeconds: number;
      readonly end: 'seen' | 'crash';
    }
  | { readonly kind: 'store' | 'store-state' | 'crash' | 'start' | 'drop-slice' | 'delete-pool' };

const OTHER_ACTS = [
  ...Array.from({ length: 8 }, () => 'store' as const),
  ...Array.from({ length: 3 }, () => 'store-state' as const),
  ...(['crash', 'start', 'start', 'drop-slice', 'drop-slice', 'delete-pool'] as const),
];

const acts = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('wait' as const), seconds: fc.integer({ min: 1, max: 9 }) }) },
    {
      weight: 8,
      arbitrary: fc.record({
        kind: fc.constant('assign' as const),
        address: fc.nat(ADDRESSES.length - 1),
        client: fc.nat(3),
        tookSeconds: fc.nat(3),
        end: fc.constantFrom('seen' as const, 'seen' as const, 'seen' as const, 'crash' as const),
      }),
    },
    {
      weight: 8,
      arbitrary: fc.record({
        kind: fc.constantFrom(...OTHER_ACTS),
      }),
    },
  ),
  { maxLength: 60, size: 'max' },
) as fc.Arbitrary<Act[]>;

/** The cluster, the stored records, and a controller that may be running. */
class World {
  nowMs = 1_700_000_000_000;
  readonly startMs = this.nowMs;
  /** By second: the owner of each address. */
  readonly history: Map<Ipv4Address, AssignedClient>[] = [];
  #current = new Map<Ipv4Address, AssignedClient>();
  #slices: string[][] = [[]];
  #state: string | undefined;
  #book: AuditBook | undefined;
  #seen: { readonly book: AuditBook | undefined; readonly clients: ReadonlyMap<Ipv4Address, AssignedClient> } | undefined;
  #created = 0;

  act(act: Act): void {
    if (act.kind === 'wait') this.#pass(act.seconds);
    else if (act.kind === 'assign') this.#assign(act);
    else if (act.kind === 'crash') this.#book = undefined;
    else if (act.kind === 'start') this.#start();
    else if (act.kind === 'store') this.#store();
    else if (act.kind === 'store-state') this.#storeState();
    else if (act.kind === 'drop-slice') this.#dropSlice();
    else this.#deletePool();
  }

  records() {
    const { records, completeFromMs } = readPoolLog(this.#slices.flat());
    const state = parseAuditState(this.#state);
    const { completeUntilMs = Number.NEGATIVE_INFINITY, gaps = [] } = state ?? {};
    return { records: [...records.values()], completeFromMs, completeUntilMs, gaps };
  }

  #pass(seconds: number): void {
    for (let second = 0; second < seconds; second++) this.history.push(new Map(this.#current));
    this.nowMs += seconds * SECOND;
  }

  #assign({ address: index, client, tookSeconds, end }: Extract<Act, { kind: 'assign' }>): void {
    if (this.#book === undefined) return;
    const address = ADDRESSES[index] ?? 0;
    const wasEmpty = this.#current.size === 0;
    this.#book.writing(POOL, this.nowMs);
    this.#pass(Math.floor(tookSeconds / 2));
    this.#current = new Map([...this.#current].filter(([, { macAddress }]) => macAddress !== macOf(client)));
    if (client === 0) this.#current.delete(address);
    else this.#current.set(address, this.#clientAt(address, client));
    this.#pass(Math.ceil(tookSeconds / 2));
    if (end === 'crash') this.#book = undefined;
    else this.#observe(wasEmpty);
  }

  /** A virtual machine that is deleted and created again has another UID. */
  #clientAt(address: Ipv4Address, client: number): AssignedClient {
    this.#created++;
    const virtualMachine = `default/vm-${client}`;
    return { address, macAddress: macOf(client), virtualMachine, uid: `uid-${this.#created}`, interface: 'nic' };
  }

  #observe(wasEmpty: boolean): void {
    const facts: Observation['facts'] = {
      network: 'default/net',
      whyBegan: () => 'assigned',
      whyEnded: () => 'vm-deleted',
      isInConflict: () => false,
    };
    const { book, current } = { book: this.#book, current: this.#current };
    const seen = this.#seen?.book === book ? this.#seen?.clients : undefined;
    // Once a book has seen all clients, it is shown the differences.
    const among = seen && new Set(ADDRESSES.filter((address) => seen.get(address) !== current.get(address)));
    const clients = [...current.values()].filter(({ address }) => among?.has(address) !== false);
    book?.observe(POOL, { clients, among, wasEmpty, facts }, this.nowMs);
    this.#seen = { book, clients: current };
  }

  #start(): void {
    const log = readPoolLog(this.#slices.flat());
    const logs = log.records.size === 0 ? new Map() : new Map([[POOL, log]]);
    this.#book = new AuditBook(logs, parseAuditState(this.#state), this.nowMs);
    this.#state = formatAuditState(this.#book.state(this.nowMs));
    this.#observe(false);
  }

  #store(): void {
    const batch = this.#book?.pendingOf(POOL, 2);
    if (batch === undefined) return;
    const last = this.#slices.at(-1) ?? [];
    if (last.length >= 1) this.#slices.push([formatBatch(batch)]);
    else last.push(formatBatch(batch));
    this.#book?.stored(POOL, batch);
  }

  #storeState(): void {
    if (this.#book !== undefined) this.#state = formatAuditState(this.#book.state(this.nowMs));
  }

  /** Assignments that have not ended are stored again before the slice is deleted. */
  #dropSlice(): void {
    const [oldest = []] = this.#slices;
    if (this.#book === undefined || this.#slices.length < 2) return;
    this.#book.drop(POOL, readPoolLog(oldest));
    while (this.#book.pendingOf(POOL, 2) !== undefined) this.#store();
    this.#slices.shift();
  }

  #deletePool(): void {
    this.#current = new Map();
    this.#book?.gone(POOL, this.nowMs);
  }
}

function macOf(client: number): MacAddress {
  return parseMacAddress(`02:00:00:00:00:0${client}`) as MacAddress;
}

const nameOf = (client: AssignedClient | AssignmentRecord | undefined) =>
  client && `${client.macAddress} ${client.virtualMachine} ${client.uid}`;

/** The last deleted slice has the line that says since when the records are complete. */
const DROPPED_TWICE: Act[] = [
  { kind: 'assign', address: 0, client: 1, tookSeconds: 0, end: 'seen' },
  { kind: 'assign', address: 0, client: 1, tookSeconds: 0, end: 'seen' },
  { kind: 'assign', address: 1, client: 0, tookSeconds: 1, end: 'seen' },
  { kind: 'assign', address: 1, client: 1, tookSeconds: 2, end: 'seen' },
  ...(['store', 'store', 'drop-slice', 'drop-slice', 'store-state', 'drop-slice'] as const).map((kind) => ({ kind })),
];

describe('law: for each address and second', () => {
  it('the answer is the correct owner, that it was free, or that this is unknown', () => {
    let owned = 0;
    let free = 0;
    fc.assert(
      fc.property(acts, (story) => {
        const world = new World();
        world.act({ kind: 'start' });
        for (const act of story) world.act(act);
        const stored = world.records();
        for (const [second, truth] of world.history.entries()) {
          for (const address of ADDRESSES) {
            const answer = ownerAt(stored, address, world.startMs + second * SECOND);
            if (answer.kind === 'assigned') expect(nameOf(answer.record)).toBe(nameOf(truth.get(address)));
            if (answer.kind === 'free') expect(truth.get(address)).toBeUndefined();
            owned += answer.kind === 'assigned' ? 1 : 0;
            free += answer.kind === 'free' ? 1 : 0;
          }
        }
      }),
      { numRuns: 1_000, examples: [[DROPPED_TWICE]] },
    );
    expect(owned, 'some answers are owners').toBeGreaterThan(100);
    expect(free, 'some answers are that it was free').toBeGreaterThan(100);
  });
});
