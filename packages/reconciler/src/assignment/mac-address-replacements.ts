/**
 * An interface whose MAC address has changed keeps its address: the address that is recorded for the former one belongs to it from the beginning of
 * the plan, so that it is never free.
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

  /** The owner of a client's recorded address in the last plan; undefined if not known. */
  lastOwnerOf(macAddress: MacAddress): string | undefined {
    const last = this.#lastOwners?.get(macAddress);
    return last !== undefined && last.address === this.#recorded.get(macAddress) ? last.owner : undefined;
  }

  /** The record, with addresses moved to the current MAC addresses of their interfaces, which may have been swapped. */
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

  /** Maps each former MAC address to its successor. A MAC address that already has an address is not a successor, unless that address moves too. */
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
   * An interface with the former MAC address of a sibling follows with its own address, although the status, which contains only MAC addresses, shows
   * its sibling's. Returns true if it moves now and did not before.
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

  /** The former MAC address of an interface for which its address is recorded. */
  formerOf(candidate: Candidate): MacAddress | undefined {
    const { previous, replaces = [] } = candidate;
    if (previous === undefined) return undefined;
    return replaces.find((one) => this.#recorded.get(one) === previous && this.#isItsOwn(candidate, one));
  }

  /**
   * The last plan shows whether the address is its own. If that is not known, the address belongs to another claimant of the former MAC address if
   * that one's record shows it, or if this one's record only shows that it had the address once.
   */
  #isItsOwn({ request, previous, holdsPrevious }: Candidate, former: MacAddress): boolean {
    const owner = this.lastOwnerOf(former);
    if (owner !== undefined) return owner === request.owner;
    return !this.#candidates.some(
      (one) => one.macAddress === former && (!holdsPrevious || (one.holdsPrevious === true && one.previous === previous)),
    );
  }
}
