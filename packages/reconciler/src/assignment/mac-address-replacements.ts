/**
 * An interface that has another MAC address by now keeps its address: what is recorded for the former one is its own from the
 * beginning of the plan on, so that it is never free.
 */
import type { Ipv4Address, MacAddress } from '@vmdhcp/dhcp-allocator';
import type { Candidate } from './address-request.js';
import type { LastOwners } from './assignment-plan.js';

export class MacAddressReplacements {
  readonly #recorded: ReadonlyMap<MacAddress, Ipv4Address>;
  readonly #candidates: readonly Candidate[];
  readonly #lastOwners: LastOwners | undefined;

  constructor(
    recorded: ReadonlyMap<MacAddress, Ipv4Address>,
    candidates: readonly Candidate[],
    lastOwners: LastOwners | undefined,
  ) {
    this.#recorded = recorded;
    this.#candidates = candidates;
    this.#lastOwners = lastOwners;
  }

  /** Whose the recorded address of a client was by the last plan; undefined: that is not known. */
  lastOwnerOf(macAddress: MacAddress): string | undefined {
    const last = this.#lastOwners?.get(macAddress);
    return last !== undefined && last.address === this.#recorded.get(macAddress) ? last.owner : undefined;
  }

  /** What is recorded, with addresses at the MAC addresses that their interfaces have now: two interfaces may have swapped theirs. */
  afterReplacements(): ReadonlyMap<MacAddress, Ipv4Address> {
    const moves = this.#moves();
    const result = new Map(this.#recorded);
    for (const former of moves.keys()) result.delete(former);
    for (const [former, macAddress] of moves) {
      const address = this.#recorded.get(former);
      if (address !== undefined) result.set(macAddress, address);
    }
    return result;
  }

  /** From each former MAC address to the one that takes its place: one that has an address itself does not, unless that moves too. */
  #moves(): Map<MacAddress, MacAddress> {
    const moves = new Map<MacAddress, MacAddress>();
    const targets = new Set<MacAddress>();
    for (const candidate of this.#candidates) {
      const former = this.formerOf(candidate);
      if (former === undefined || moves.has(former) || targets.has(candidate.macAddress)) continue;
      moves.set(former, candidate.macAddress);
      targets.add(candidate.macAddress);
    }
    const isTaken = (macAddress: MacAddress) => this.#recorded.has(macAddress) && !moves.has(macAddress);
    for (;;) {
      const impossible = [...moves].filter(([, macAddress]) => isTaken(macAddress));
      if (impossible.length === 0) break;
      for (const [former] of impossible) moves.delete(former);
    }
    while (this.#candidates.some((candidate) => this.#follows(candidate, moves)));
    return moves;
  }

  /**
   * An interface that has the former MAC address of a sibling follows with its own address, though by the status it has its
   * sibling's: the status names MAC addresses only. Returns true if it moves now, and did not before.
   */
  #follows({ macAddress, request, replaces = [] }: Candidate, moves: Map<MacAddress, MacAddress>): boolean {
    if (!moves.has(macAddress) || [...moves.values()].includes(macAddress)) return false;
    const isSiblings = (one: MacAddress) =>
      this.#candidates.some((other) => other.macAddress === one && other.request.owner === request.owner);
    const former = replaces.findLast(
      (one) => this.lastOwnerOf(one) === request.owner && !moves.has(one) && one !== macAddress && !isSiblings(one),
    );
    if (former !== undefined) moves.set(former, macAddress);
    return former !== undefined;
  }

  /** The former MAC address of an interface that its address is recorded for. */
  formerOf(candidate: Candidate): MacAddress | undefined {
    const { previous, replaces = [] } = candidate;
    if (previous === undefined) return undefined;
    return replaces.find((one) => this.#recorded.get(one) === previous && this.#isItsOwn(candidate, one));
  }

  /**
   * The last plan shows whether the address is its own. If that is not known, the address belongs to the other one that claims the
   * former MAC address if the record of that one shows it, or if the record of this one only shows that it had the address once.
   */
  #isItsOwn({ request, previous, holdsPrevious }: Candidate, former: MacAddress): boolean {
    const owner = this.lastOwnerOf(former);
    if (owner !== undefined) return owner === request.owner;
    return !this.#candidates.some(
      (one) => one.macAddress === former && (!holdsPrevious || (one.holdsPrevious === true && one.previous === previous)),
    );
  }
}
