import type { MacAddress } from '../address/mac-address.js';
import type { Lease } from './lease.js';

const SLOT = 3;

/**
 * The leases of one pool by the octets of their MAC addresses. The octets of a packet are looked up as they are, without becoming text or a key of a
 * Map. A change costs the same in a large pool as in a small one.
 *
 * Open addressing with linear probing, at most half full. A MAC address is two numbers of 24 bits, as both stay small integers.
 */
export class LeaseIndex {
  /** Three numbers for each slot, side by side as they are read together: position in `#leases` plus one (0: free), and the address. */
  #slots = new Int32Array(0);
  #mask = 0;
  readonly #leases: (Lease | undefined)[];
  /** Positions in `#leases` that no lease has. */
  readonly #vacant: number[] = [];

  /** @param leases - at most one for each MAC address. */
  constructor(leases: Iterable<Lease>) {
    this.#leases = [...leases];
    this.#resize();
  }

  /** The lease of the MAC address whose six octets begin at `offset`; undefined if it has none. */
  find(octets: Uint8Array, offset: number): Lease | undefined {
    const high = threeOctets(octets, offset);
    const low = threeOctets(octets, offset + 3);
    const slots = this.#slots;
    for (let slot = hash(high, low) & this.#mask; ; slot = (slot + 1) & this.#mask) {
      const at = SLOT * slot;
      const position = slots[at] as number;
      if (position === 0) return undefined;
      if (slots[at + 1] === high && slots[at + 2] === low) return this.#leases[position - 1];
    }
  }

  /** Makes this the lease of its MAC address. */
  set(lease: Lease): void {
    const at = this.#placeOf(lease.macAddress);
    const known = this.#slots[at] as number;
    if (known !== 0) {
      this.#leases[known - 1] = lease;
      return;
    }
    const position = this.#vacant.pop() ?? this.#leases.length;
    this.#leases[position] = lease;
    const isFull = 2 * (this.#leases.length - this.#vacant.length) > this.#mask + 1;
    if (isFull) this.#resize();
    else this.#fill(at, lease.macAddress, position);
  }

  /** Removes the lease of the MAC address. */
  delete(macAddress: MacAddress): void {
    const at = this.#placeOf(macAddress);
    const position = this.#slots[at] as number;
    if (position === 0) return;
    this.#leases[position - 1] = undefined;
    this.#vacant.push(position - 1);
    this.#close(at / SLOT);
  }

  /** Frees a slot. What lies behind it without a gap moves up where it may: a search ends at the first free slot. */
  #close(slot: number): void {
    const slots = this.#slots;
    let free = slot;
    for (let next = (free + 1) & this.#mask; slots[SLOT * next] !== 0; next = (next + 1) & this.#mask) {
      const home = hash(slots[SLOT * next + 1] as number, slots[SLOT * next + 2] as number) & this.#mask;
      if (((next - home) & this.#mask) < ((next - free) & this.#mask)) continue;
      slots.copyWithin(SLOT * free, SLOT * next, SLOT * (next + 1));
      free = next;
    }
    slots[SLOT * free] = 0;
  }

  #resize(): void {
    const size = 2 ** Math.ceil(Math.log2(Math.max(2 * this.#leases.length, 2)));
    this.#mask = size - 1;
    this.#slots = new Int32Array(SLOT * size);
    for (const [position, lease] of this.#leases.entries()) {
      if (lease !== undefined) this.#fill(this.#placeOf(lease.macAddress), lease.macAddress, position);
    }
  }

  /** The start of the slot that has the MAC address, or of the free slot for it. */
  #placeOf(macAddress: MacAddress): number {
    const [high, low] = [threeOctetsOfText(macAddress, 0), threeOctetsOfText(macAddress, 9)];
    const slots = this.#slots;
    for (let slot = hash(high, low) & this.#mask; ; slot = (slot + 1) & this.#mask) {
      const at = SLOT * slot;
      if (slots[at] === 0 || (slots[at + 1] === high && slots[at + 2] === low)) return at;
    }
  }

  #fill(at: number, macAddress: MacAddress, position: number): void {
    this.#slots[at] = position + 1;
    this.#slots[at + 1] = threeOctetsOfText(macAddress, 0);
    this.#slots[at + 2] = threeOctetsOfText(macAddress, 9);
  }
}

function threeOctets(octets: Uint8Array, offset: number): number {
  return ((octets[offset] as number) << 16) | ((octets[offset + 1] as number) << 8) | (octets[offset + 2] as number);
}

/** The three octets of a canonical MAC address from a character on. */
function threeOctetsOfText(text: MacAddress, from: number): number {
  return (
    (Number.parseInt(text.slice(from, from + 2), 16) << 16) |
    (Number.parseInt(text.slice(from + 3, from + 5), 16) << 8) |
    Number.parseInt(text.slice(from + 6, from + 8), 16)
  );
}

/** Spreads neighbouring addresses, of which clusters have thousands. */
function hash(high: number, low: number): number {
  const mixed = Math.imul(high ^ Math.imul(low, 0x9e3779b1), 0x85ebca6b);
  return (mixed ^ (mixed >>> 15)) >>> 0;
}
