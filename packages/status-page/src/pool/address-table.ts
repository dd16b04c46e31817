/**
 * Values by address, in immutable versions that share unchanged parts. A block has 256 addresses; a new version copies only the changed blocks. So a
 * change of one of 40,000 leases costs one block, and so does finding the difference.
 */
import type { Ipv4Address } from '@vmdhcp/dhcp-allocator';

const BLOCK_SIZE = 256;

type Block<Value> = readonly (Value | undefined)[];
type Blocks<Value> = ReadonlyMap<number, Block<Value>>;

/** The changes for the next version. An address in both lists gets its new value. */
export interface TableChanges<Value> {
  readonly removed: Iterable<Ipv4Address>;
  readonly set: Iterable<readonly [Ipv4Address, Value]>;
}

/** It never changes: `with` creates a new one. */
export class AddressTable<Value extends object> {
  readonly size: number;
  /** By address / 256, in ascending order. No block is empty. */
  readonly #blocks: Blocks<Value>;

  private constructor(blocks: Blocks<Value>, size: number) {
    this.#blocks = blocks;
    this.size = size;
  }

  /** If entries have the same address, the last one counts. */
  static of<Value extends object>(entries: Iterable<readonly [Ipv4Address, Value]> = []): AddressTable<Value> {
    return new AddressTable<Value>(new Map(), 0).with({ removed: [], set: entries });
  }

  get(address: Ipv4Address): Value | undefined {
    return this.#blocks.get(numberOf(address))?.[placeOf(address)];
  }

  has(address: Ipv4Address): boolean {
    return this.get(address) !== undefined;
  }

  /** In ascending order of addresses. */
  *entries(): Generator<readonly [Ipv4Address, Value]> {
    for (const [number, block] of this.#blocks) {
      for (let place = 0; place < BLOCK_SIZE; place++) {
        const value = block[place];
        if (value !== undefined) yield [number * BLOCK_SIZE + place, value];
      }
    }
  }

  /** In ascending order of addresses. */
  *values(): Generator<Value> {
    for (const block of this.#blocks.values()) for (const value of block) if (value !== undefined) yield value;
  }

  /** Like `entries`, in a third of the time. */
  each(visit: (address: Ipv4Address, value: Value) => void): void {
    for (const [number, block] of this.#blocks) {
      for (let place = 0; place < BLOCK_SIZE; place++) {
        const value = block[place];
        if (value !== undefined) visit(number * BLOCK_SIZE + place, value);
      }
    }
  }

  /** The version after these changes. */
  with({ removed, set }: TableChanges<Value>): AddressTable<Value> {
    const edited = new EditedBlocks(this.#blocks);
    for (const address of removed) edited.set(address, undefined);
    for (const [address, value] of set) edited.set(address, value);
    return new AddressTable(edited.blocks(), this.size + edited.added);
  }

  /** The same values, sharing equal blocks with `before`. */
  sharing(before: AddressTable<Value>): AddressTable<Value> {
    const shared = [...this.#blocks].map(([number, block]): [number, Block<Value>] => {
      const known = before.#blocks.get(number);
      return [number, known?.every((value, place) => value === block[place]) ? known : block];
    });
    return new AddressTable(new Map(shared), this.size);
  }

  /** Addresses whose values are not the same object in both, in no particular order. */
  differences(before: AddressTable<Value>): readonly Ipv4Address[] {
    const numbers = new Set([...this.#blocks.keys(), ...before.#blocks.keys()]);
    return [...numbers].flatMap((number) => differencesIn(number, before.#blocks.get(number), this.#blocks.get(number)));
  }
}

function numberOf(address: Ipv4Address): number {
  return Math.floor(address / BLOCK_SIZE);
}

function placeOf(address: Ipv4Address): number {
  return address % BLOCK_SIZE;
}

function differencesIn<Value>(number: number, one: Block<Value> = [], other: Block<Value> = []): Ipv4Address[] {
  if (one === other) return [];
  const places = Array.from({ length: BLOCK_SIZE }, (_, place) => place);
  return places.filter((place) => one[place] !== other[place]).map((place) => number * BLOCK_SIZE + place);
}

/** Blocks that are copied on their first change. */
class EditedBlocks<Value> {
  readonly #blocks: Map<number, Block<Value>>;
  readonly #copies = new Map<number, (Value | undefined)[]>();
  #hasNewBlocks = false;
  /** How many values there are more than before. */
  added = 0;

  constructor(blocks: Blocks<Value>) {
    this.#blocks = new Map(blocks);
  }

  set(address: Ipv4Address, value: Value | undefined): void {
    const [number, place] = [numberOf(address), placeOf(address)];
    const before = (this.#copies.get(number) ?? this.#blocks.get(number))?.[place];
    if (before === value) return;
    this.#copyOf(number)[place] = value;
    this.added += Number(value !== undefined) - Number(before !== undefined);
  }

  blocks(): Blocks<Value> {
    for (const [number, copy] of this.#copies) {
      if (copy.some((value) => value !== undefined)) this.#blocks.set(number, copy);
      else this.#blocks.delete(number);
    }
    return this.#hasNewBlocks ? new Map([...this.#blocks].toSorted(([one], [other]) => one - other)) : this.#blocks;
  }

  #copyOf(number: number): (Value | undefined)[] {
    const known = this.#copies.get(number);
    if (known !== undefined) return known;
    const block = this.#blocks.get(number);
    if (block === undefined) this.#hasNewBlocks = true;
    const copy = block?.slice() ?? new Array<Value | undefined>(BLOCK_SIZE).fill(undefined);
    this.#copies.set(number, copy);
    return copy;
  }
}
