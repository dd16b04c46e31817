import type { MacAddress } from '../address/mac-address.js';
import type { Lease } from './lease.js';

const SLOT = 3;

/**
 * The leases of one pool by the octets of their MAC addresses. A packet has octets: looked up here, they become no text and no key of
 * a Map. The index does not change; a pool that changes gets another one.
 *
 * Open addressing with linear probing, at most half full. A MAC address is two numbers of 24 bits, as both stay small integers.
 */
export class LeaseIndex {
  /** Three numbers for each slot, side by side as they are read together: position in `#leases` plus one (0: free), and the address. */
  readonly #slots: Int32Array;
  readonly #leases: readonly Lease[];
  readonly #mask: number;

  /** @param leases - at most one for each MAC address. */
  constructor(leases: Iterable<Lease>) {
    this.#leases = [...leases];
    const size = 2 ** Math.ceil(Math.log2(Math.max(2 * this.#leases.length, 2)));
    this.#mask = size - 1;
    this.#slots = new Int32Array(SLOT * size);
    for (const [position, { macAddress }] of this.#leases.entries()) this.#insert(macAddress, position);
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

  #insert(macAddress: MacAddress, position: number): void {
    const [high, low] = [threeOctetsOfText(macAddress, 0), threeOctetsOfText(macAddress, 9)];
    let slot = hash(high, low) & this.#mask;
    while (this.#slots[SLOT * slot] !== 0) slot = (slot + 1) & this.#mask;
    this.#slots.set([position + 1, high, low], SLOT * slot);
  }
}

function threeOctets(octets: Uint8Array, offset: number): number {
  return ((octets[offset] as number) << 16) | ((octets[offset + 1] as number) << 8) | (octets[offset + 2] as number);
}

/** Of a canonical MAC address, from a character on: a pool of ten thousand is read anew with each of its changes. */
function threeOctetsOfText(text: MacAddress, from: number): number {
  return (
    (Number.parseInt(text.slice(from, from + 2), 16) << 16) |
    (Number.parseInt(text.slice(from + 3, from + 5), 16) << 8) |
    Number.parseInt(text.slice(from + 6, from + 8), 16)
  );
}

/** Neighbouring addresses, of which clusters have thousands, come to lie apart. */
function hash(high: number, low: number): number {
  const mixed = Math.imul(high ^ Math.imul(low, 0x9e3779b1), 0x85ebca6b);
  return (mixed ^ (mixed >>> 15)) >>> 0;
}
