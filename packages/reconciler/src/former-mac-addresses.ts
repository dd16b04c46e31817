/**
 * An interface that has another MAC address by now keeps its address: what is recorded for the former one is its own from the
 * beginning of the plan on, so that it is never free.
 */
import type { Ipv4Address, MacAddress } from '@vmdhcp/dhcp-allocator';
import type { LastOwners } from './plan-assignments.js';
import type { Candidate } from './pool-planning.js';

export class FormerMacAddresses {
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

  /** What is recorded, with addresses at the MAC addresses that their interfaces have now. */
  afterReplacements(): ReadonlyMap<MacAddress, Ipv4Address> {
    const result = new Map(this.#recorded);
    for (const candidate of this.#candidates) {
      if (result.has(candidate.macAddress)) continue;
      const former = this.formerOf(candidate);
      const address = former === undefined ? undefined : result.get(former);
      if (former === undefined || address === undefined) continue;
      result.delete(former);
      result.set(candidate.macAddress, address);
    }
    return result;
  }

  /** The former MAC address of an interface that its address is recorded for. */
  formerOf(candidate: Candidate): MacAddress | undefined {
    const { previous, replaces = [] } = candidate;
    if (previous === undefined) return undefined;
    return replaces.find((one) => this.#recorded.get(one) === previous && this.#isItsOwn(candidate, one));
  }

  /**
   * The last plan says whether the address is its own. Where that is not known, it is another one's that claims the former MAC
   * address if the record of that one says so, or if the record of this one says no more than that it had the address once.
   */
  #isItsOwn({ request, previous, holdsPrevious }: Candidate, former: MacAddress): boolean {
    const owner = this.lastOwnerOf(former);
    if (owner !== undefined) return owner === request.owner;
    return !this.#candidates.some(
      (one) => one.macAddress === former && (!holdsPrevious || (one.holdsPrevious === true && one.previous === previous)),
    );
  }
}
