import { ADDRESS_STATES, type AddressMap, type AddressState } from '../../model/page-data.js';
import { formatAddress, parseAddress } from './ipv4-text.js';

/** Subnets with more addresses, those below /8, are not drawn. */
const MOST_ADDRESSES = 2 ** 24;
const OUTSIDE = ADDRESS_STATES.indexOf('outside');

/** The number of addresses in each state. */
export type StateCounts = Readonly<Record<AddressState, number>>;

/** The state of each address of a subnet, by its offset from the first one. An octet for each: a /16 takes 64 kB. */
export class AddressStates {
  /** The number of the first address. */
  readonly first: number;
  readonly size: number;
  /** Numbers of `ADDRESS_STATES`. */
  readonly codes: Uint8Array;

  private constructor(first: number, codes: Uint8Array) {
    this.first = first;
    this.size = codes.length;
    this.codes = codes;
  }

  /** Undefined if the subnet is too large to be drawn, or its first address is invalid. */
  static of(map: AddressMap): AddressStates | undefined {
    const first = parseAddress(map.first);
    if (first === undefined || !(map.size >= 1 && map.size <= MOST_ADDRESSES)) return undefined;
    const states = new AddressStates(first, new Uint8Array(map.size));
    states.reset(map.runs);
    return states;
  }

  /** Applies `[state, count, …]` of all addresses. */
  reset(runs: readonly number[]): void {
    this.codes.fill(OUTSIDE);
    let at = 0;
    for (let index = 0; index + 1 < runs.length; index += 2) {
      const count = runs[index + 1] ?? 0;
      this.codes.fill(toCode(runs[index]), at, at + count);
      at += count;
    }
  }

  /** Applies `[offset, state, count, …]`; what lies beyond the subnet is left out. */
  apply(changes: readonly number[]): void {
    for (let index = 0; index + 2 < changes.length; index += 3) {
      const [offset = 0, state, count = 0] = changes.slice(index, index + 3);
      this.codes.fill(toCode(state), Math.max(offset, 0), Math.max(offset + count, 0));
    }
  }

  stateAt(offset: number): AddressState {
    return ADDRESS_STATES[this.codes[offset] ?? OUTSIDE] ?? 'outside';
  }

  /** `192.168.48.17`. */
  addressAt(offset: number): string {
    return formatAddress(this.first + offset);
  }

  /** Undefined if the subnet does not have this address. */
  offsetOf(address: string): number | undefined {
    const value = parseAddress(address);
    if (value === undefined) return undefined;
    const offset = value - this.first;
    return offset >= 0 && offset < this.size ? offset : undefined;
  }

  /** Where the next range with this state begins after an offset; after the last range comes the first. Undefined if no address has the state. */
  nextOf(state: AddressState, after: number): number | undefined {
    const code = ADDRESS_STATES.indexOf(state);
    for (let step = 1; step <= this.size; step++) {
      const offset = (after + step) % this.size;
      if (this.codes[offset] === code && (offset === 0 || this.codes[offset - 1] !== code)) return offset;
    }
    return undefined;
  }

  /** The counts of the addresses from offset `from` up to, not including, `to`. */
  count(from = 0, to = this.size): StateCounts {
    const found = new Uint32Array(ADDRESS_STATES.length);
    for (let offset = from; offset < Math.min(to, this.size); offset++) {
      const code = this.codes[offset] ?? OUTSIDE;
      found[code] = (found[code] ?? 0) + 1;
    }
    return Object.fromEntries(ADDRESS_STATES.map((state, code) => [state, found[code] ?? 0])) as StateCounts;
  }
}

/** A state of a newer server, which this page does not know, is drawn as outside. */
function toCode(state: number | undefined): number {
  return state !== undefined && state in ADDRESS_STATES ? state : OUTSIDE;
}
