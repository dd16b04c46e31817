/**
 * Assigns slots of a bounded memory to clients. There are three rooms: for clients that an object declares, for unknown clients with a lease, and for
 * all others. A client takes a slot of its own room only, so a flood of made-up MAC addresses evicts only made-up MAC addresses. A full room reuses
 * the slot of a client that was silent for a long time.
 */

/** The standing of a client, best first: an object declares it, it is an unknown client with a lease, or neither. */
export const STANDINGS = ['declared', 'leased', 'unknown'] as const;
/** Whether a client is declared, has a lease, or is unknown. */
export type Standing = (typeof STANDINGS)[number];

/** How many clients of each standing are kept. */
export type RoomSizes = Readonly<Record<Standing, number>>;

/** The number of 32-bit words for the notes on a client. */
export const SLOT_WORDS = 64;
/**
 * The key of a client: four octets of its MAC address, then the other two with 16 bits of the place. Keys are stored together, apart from the rest,
 * so that a search touches few pages.
 */
const KEY_WORDS = 2;

/** How many slots are examined when a room is full: the one whose client was silent for longest is reused. */
const LOOKED_AT = 8;
const BUCKETS = 32_768;
const NONE = -1;

interface Room {
  readonly start: number;
  readonly end: number;
  /** Slots from here on were never used. */
  unused: number;
  /** Where the next search begins. */
  hand: number;
  /** Slots of clients that have moved to another room. */
  readonly vacant: number[];
  /** Clients that lost their slot to another one. */
  replaced: number;
}

export class ClientSlots {
  readonly words: Int32Array;
  readonly #keys: Int32Array;
  /** When each client was last heard, in milliseconds. */
  readonly lastAtMs: Float64Array;
  /** Slots below have clients that an object declares. */
  readonly declaredEnd: number;
  readonly #rooms: readonly Room[];
  readonly #seed: number;
  /** The first slot of each bucket, plus one, and the next slot in the bucket of each slot, plus one. 0 for none. */
  readonly #first = new Uint16Array(BUCKETS);
  readonly #next: Uint16Array;

  /** @param sizes - 1 to 65,535 slots in all. @param seed - not known to clients, so that none can fill a bucket. */
  constructor(sizes: RoomSizes, seed: number) {
    let start = 0;
    this.#rooms = STANDINGS.map((standing) => {
      const room = { start, end: start + sizes[standing], unused: start, hand: start, vacant: [], replaced: 0 };
      start = room.end;
      return room;
    });
    this.#seed = seed | 0;
    this.declaredEnd = sizes.declared;
    // Untouched zeros take no memory.
    this.words = new Int32Array(SLOT_WORDS * start);
    this.#keys = new Int32Array(KEY_WORDS * start);
    this.lastAtMs = new Float64Array(start);
    this.#next = new Uint16Array(start);
  }

  /** The slot of a client; -1 if it has none. @param high - the first two octets of its MAC address, then the place. @param low - the other four. */
  find(high: number, low: number): number {
    for (let next = this.#first[this.#bucketOf(high, low)] as number; next !== 0; next = this.#next[next - 1] as number)
      if (this.has(next - 1, high, low)) return next - 1;
    return NONE;
  }

  /** True if the slot belongs to this client. */
  has(slot: number, high: number, low: number): boolean {
    return this.#keys[KEY_WORDS * slot] === low && this.#keys[KEY_WORDS * slot + 1] === high;
  }

  /** The slot of a client in the room of this standing, or of a better one; notes on the client move with it. The words of a new client are zero. */
  take(high: number, low: number, standing: Standing): number {
    const known = this.find(high, low);
    const index = STANDINGS.indexOf(standing);
    const room = this.#rooms[index] as Room;
    if (known !== NONE && known < room.end) return known;
    const slot = this.#freeSlot(room);
    const { words } = this;
    if (known === NONE) {
      words.fill(0, SLOT_WORDS * slot, SLOT_WORDS * (slot + 1));
    } else {
      words.copyWithin(SLOT_WORDS * slot, SLOT_WORDS * known, SLOT_WORDS * (known + 1));
      this.#unlink(known);
      this.lastAtMs[known] = 0;
      this.#rooms.find(({ end }) => known < end)?.vacant.push(known);
    }
    this.#keys[KEY_WORDS * slot] = low;
    this.#keys[KEY_WORDS * slot + 1] = high;
    this.#link(slot, high, low);
    return slot;
  }

  /** The client of a slot, as `find` takes it. */
  keyOf(slot: number): { readonly high: number; readonly low: number } {
    return { high: this.#keys[KEY_WORDS * slot + 1] ?? 0, low: this.#keys[KEY_WORDS * slot] ?? 0 };
  }

  /** The used slots, with the standing of their clients. */
  *used(): Generator<readonly [slot: number, standing: Standing]> {
    for (const [index, { start, unused, vacant }] of this.#rooms.entries()) {
      const free = new Set(vacant);
      for (let slot = start; slot < unused; slot++) if (!free.has(slot)) yield [slot, STANDINGS[index] as Standing];
    }
  }

  /** How many clients were evicted, by their standing. */
  replaced(): Readonly<Record<Standing, number>> {
    const [declared, leased, unknown] = this.#rooms.map(({ replaced }) => replaced) as [number, number, number];
    return { declared, leased, unknown };
  }

  #freeSlot(room: Room): number {
    const vacant = room.vacant.pop();
    if (vacant !== undefined) return vacant;
    if (room.unused < room.end) return room.unused++;
    const slot = this.#longestSilent(room);
    this.#unlink(slot);
    room.replaced++;
    return slot;
  }

  #longestSilent(room: Room): number {
    const { lastAtMs } = this;
    let found = room.hand;
    for (let looked = 0; looked < LOOKED_AT; looked++) {
      if ((lastAtMs[room.hand] as number) < (lastAtMs[found] as number)) found = room.hand;
      room.hand = room.hand + 1 < room.end ? room.hand + 1 : room.start;
    }
    return found;
  }

  #link(slot: number, high: number, low: number): void {
    const bucket = this.#bucketOf(high, low);
    this.#next[slot] = this.#first[bucket] as number;
    this.#first[bucket] = slot + 1;
  }

  #unlink(slot: number): void {
    const { high, low } = this.keyOf(slot);
    const bucket = this.#bucketOf(high, low);
    const after = this.#next[slot] as number;
    if (this.#first[bucket] === slot + 1) {
      this.#first[bucket] = after;
      return;
    }
    let before = this.#first[bucket] as number;
    while (this.#next[before - 1] !== slot + 1) before = this.#next[before - 1] as number;
    this.#next[before - 1] = after;
  }

  #bucketOf(high: number, low: number): number {
    const mixed = Math.imul(low ^ this.#seed, 0x9e3779b1) ^ Math.imul(high, 0x85ebca6b);
    const spread = Math.imul(mixed ^ (mixed >>> 15), 0x2c1b3c6d);
    return (spread ^ (spread >>> 13)) & (BUCKETS - 1);
  }
}
