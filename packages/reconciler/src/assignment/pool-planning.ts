/** One pool during planning: clients keep their address, move to another one, or get a new one. */
import {
  AddressAllocator,
  type AllocationResult,
  type Assignment,
  type Ipv4Address,
  type MacAddress,
  type Pool,
} from '@vmdhcp/dhcp-allocator';
import { compareText } from '@vmdhcp/kube-runtime';
import { sentenceOf } from '../explanation.js';
import { describeFull } from '../pool/describe-room.js';
import { explainRefusal, explainSecondClaim } from '../pool/explain-refusal.js';
import type { Quarantine } from '../pool/quarantines.js';
import { type Candidate, CLAIM_MISSING, type ClaimRefusal, type PoolClaim } from './address-request.js';
import {
  type AssignmentPlan,
  NOTHING_SETTLED,
  type PoolState,
  type RecordedPool,
  type SettledClients,
} from './assignment-plan.js';
import { MacAddressReplacements } from './mac-address-replacements.js';

export class PoolPlanning {
  readonly #state: PoolState;
  readonly #settled: SettledClients;
  readonly #allocator: AddressAllocator;
  /** The winning claim for each MAC address. */
  readonly #accepted: Map<MacAddress, Candidate>;
  /** By owner, then MAC address. */
  readonly #refusals = new Map<string, Map<MacAddress, ClaimRefusal>>();
  readonly #former: MacAddressReplacements;
  readonly #recorded: ReadonlyMap<MacAddress, Ipv4Address>;

  constructor(state: PoolState, candidates: readonly Candidate[]) {
    this.#state = state;
    this.#settled = state.settled ?? NOTHING_SETTLED;
    this.#former = new MacAddressReplacements(recordedAddresses(state.recorded), candidates, state.lastOwners);
    this.#recorded = this.#former.afterReplacements();
    this.#accepted = this.#distinct(candidates);
    this.#allocator = new AddressAllocator(this.#effectivePool());
  }

  /** Assigns recorded addresses, then moves, then last addresses. */
  settle(): void {
    this.#allocator.keepAll(this.#settled.addressOf);
    const movers = [...this.#recorded].flatMap(([macAddress, address]) => this.#keepOrMove(macAddress, address));
    for (const { address, untilMs } of this.#state.recorded.quarantines.toSorted(byAddress)) {
      if (untilMs > this.#state.nowMs) this.#allocator.quarantine(address, untilMs);
    }
    this.#move(movers);
    for (const candidate of this.#accepted.values()) this.#assignPrevious(candidate);
  }

  /** Returns claims that want another address than the recorded one. */
  #keepOrMove(macAddress: MacAddress, address: Ipv4Address): Candidate[] {
    const candidate = this.#accepted.get(macAddress);
    if (candidate === undefined) return [];
    const moves = candidate.wanted !== undefined && candidate.wanted !== address && candidate.request.blocked === undefined;
    if (!moves) this.#keepRecorded(macAddress);
    return moves ? [candidate] : [];
  }

  /** Even if the address is now outside the range, excluded or the router's, because it is in use. */
  #keepRecorded(macAddress: MacAddress): void {
    const address = this.#recorded.get(macAddress);
    if (address === undefined) return;
    if (this.#state.recorded.unavailable?.includes(address)) this.#allocator.allocate(macAddress, address);
    else this.#allocator.keep(macAddress, address);
  }

  #assignPrevious({ macAddress, wanted, previous }: Candidate): void {
    if (previous === undefined || this.#allocator.addressOf(macAddress) !== undefined || this.#isFull()) return;
    if (wanted === undefined || wanted === previous) this.#allocator.allocate(macAddress, previous);
  }

  /** True if this claim is not met yet, or not with the wanted address. */
  lacks(owner: string, { macAddress, wanted }: PoolClaim): boolean {
    if (this.#accepted.get(macAddress)?.request.owner !== owner) return false;
    const address = this.#allocator.addressOf(macAddress);
    return address === undefined || (this.#wantedBy(macAddress, wanted) ?? address) !== address;
  }

  /** Why the claim was refused. */
  refusalOf(owner: string, macAddress: MacAddress): ClaimRefusal | undefined {
    return this.#refusals.get(owner)?.get(macAddress);
  }

  /** Assigns an address to the claim; returns the refusal if that is impossible. */
  assign({ macAddress }: PoolClaim): ClaimRefusal | undefined {
    if (this.#allocator.addressOf(macAddress) === undefined && this.#isFull()) return this.#fullRefusal(macAddress);
    const result = this.#allocate(macAddress, this.#accepted.get(macAddress)?.wanted);
    return result.ok ? undefined : this.#toRefusal(macAddress, result);
  }

  /** Undoes `assign`; recorded addresses stay. */
  undo(macAddress: MacAddress): void {
    if (!this.#recorded.has(macAddress)) this.#release(macAddress);
  }

  /** A host may have the address that it uses itself, although no other client may. */
  #allocate(macAddress: MacAddress, wanted: Ipv4Address | undefined): AllocationResult {
    const own = this.#ownQuarantine(macAddress, wanted);
    if (own !== undefined) this.#allocator.endQuarantine(own.address);
    const result = this.#allocator.allocate(macAddress, wanted);
    if (!result.ok && own !== undefined) this.#allocator.quarantine(own.address, own.untilMs);
    return result;
  }

  #release(macAddress: MacAddress): void {
    const own = this.#ownQuarantine(macAddress, this.#allocator.addressOf(macAddress));
    this.#allocator.release(macAddress);
    if (own !== undefined) this.#allocator.quarantine(own.address, own.untilMs);
  }

  /** The quarantine of an address because of this host; undefined also if another client wants the address. */
  #ownQuarantine(macAddress: MacAddress, wanted: Ipv4Address | undefined): Quarantine | undefined {
    const own = this.#state.recorded.quarantines.find(
      ({ address, usedBy, untilMs }) => address === wanted && usedBy === macAddress && untilMs > this.#state.nowMs,
    );
    const isRival = (one: Candidate) => one.macAddress !== macAddress && one.wanted === wanted;
    return own === undefined || [...this.#accepted.values()].some(isRival) ? undefined : own;
  }

  /** Keeps the first refusal of a claim. */
  refuse(owner: string, macAddress: MacAddress, { reason, message }: ClaimRefusal): void {
    const ofOwner = this.#refusals.get(owner) ?? new Map<MacAddress, ClaimRefusal>();
    this.#refusals.set(owner, ofOwner);
    if (!ofOwner.has(macAddress)) ofOwner.set(macAddress, { reason, message });
  }

  result(): AssignmentPlan {
    this.#meetReservations();
    const addresses = this.#settled.addressOf.with(
      [...this.#accepted.keys()].map((one) => [one, this.#allocator.addressOf(one)]),
    );
    return finishedPlan(this.#state.pool.reservations, {
      addressOf: addresses,
      planned: new Set([...this.#accepted.keys(), ...this.#state.recorded.assignments.map(({ macAddress }) => macAddress)]),
      quarantines: this.#state.recorded.quarantines
        .filter(({ address, untilMs }) => this.#allocator.quarantined().get(address) === untilMs)
        .toSorted(byAddress),
      refused: [...this.#refusals].flatMap(([owner, ofOwner]) =>
        [...ofOwner].map(([macAddress, refusal]) => ({ owner, macAddress, ...refusal })),
      ),
      refusals: this.#refusals,
      owners: this.#settled.owners.with([...this.#accepted].map(([one, { request }]) => [one, request.owner])),
      outside: this.#allocator.outside(),
      counts: this.#allocator.counts(),
    });
  }

  /**
   * Moves clients to the addresses that they want. A client that cannot move keeps its address, so the one that would have moved there cannot either,
   * and so on: each client is looked at twice at most, as thousands may wait for each other.
   */
  #move(movers: readonly Candidate[]): void {
    const moving = new Map(movers.map((candidate) => [candidate.macAddress, candidate]));
    const staying: Candidate[] = [];
    const tryToMove = (candidate: Candidate): void => {
      const result = this.#allocate(candidate.macAddress, candidate.wanted);
      if (result.ok) return;
      moving.delete(candidate.macAddress);
      staying.push(candidate);
      this.refuse(candidate.request.owner, candidate.macAddress, this.#toRefusal(candidate.macAddress, result));
    };
    for (const candidate of movers) tryToMove(candidate);
    for (const { macAddress } of staying) {
      const inItsPlace = moving.get(this.#allocator.ownerOf(this.#recorded.get(macAddress) ?? 0) ?? '');
      if (inItsPlace !== undefined) this.#release(inItsPlace.macAddress);
      this.#keepRecorded(macAddress);
      if (inItsPlace !== undefined) tryToMove(inItsPlace);
    }
  }

  /**
   * The winner among several claims to one MAC address: the one that has its address according to the last plan, else to its own record; if nothing is
   * recorded, as in a pool that was created again, one that remembers an address of this MAC address; else the oldest.
   */
  #distinct(candidates: readonly Candidate[]): Map<MacAddress, Candidate> {
    const chosen = new Map<MacAddress, Candidate>();
    const isIncumbent = ({ macAddress, previous }: Candidate) =>
      previous !== undefined && previous === this.#recorded.get(macAddress);
    const incumbents = candidates.filter(isIncumbent);
    const remembers = ({ macAddress, previous, replaces }: Candidate) =>
      previous !== undefined && replaces === undefined && !this.#recorded.has(macAddress);
    const owners = candidates.filter(({ macAddress, request }) => this.#former.lastOwnerOf(macAddress) === request.owner);
    for (const candidate of [
      ...owners,
      ...incumbents.filter(({ holdsPrevious }) => holdsPrevious),
      ...incumbents,
      ...candidates.filter((one) => isStaying(one) && remembers(one)),
      ...candidates.filter(isStaying),
      ...candidates,
    ]) {
      const former = chosen.get(candidate.macAddress);
      if (former === undefined) chosen.set(candidate.macAddress, candidate);
      else if (former !== candidate && !isOnlyReserved(candidate) && isStaying(candidate)) this.#refuseSecond(candidate, former);
    }
    this.#keepFormer(candidates, chosen);
    return new Map([...chosen].map(([macAddress, candidate]) => [macAddress, this.#withWanted(candidate)]));
  }

  /** An interface whose new MAC address belongs to another one keeps its address under the former one, until it can move it. */
  #keepFormer(candidates: readonly Candidate[], chosen: Map<MacAddress, Candidate>): void {
    const refused = candidates.filter((candidate) => chosen.get(candidate.macAddress) !== candidate);
    for (const { request, ...candidate } of refused) {
      const macAddress = this.#former.formerOf({ request, ...candidate });
      if (macAddress === undefined || this.#recorded.get(macAddress) !== candidate.previous) continue;
      const inItsPlace = chosen.get(macAddress);
      chosen.set(macAddress, {
        macAddress,
        poolKey: candidate.poolKey,
        request: { owner: request.owner, claims: [], blocked: CLAIM_MISSING },
      });
      if (inItsPlace === undefined || isOnlyReserved(inItsPlace)) continue;
      this.#refuseSecond(inItsPlace, { ...candidate, request });
      refused.push(inItsPlace);
    }
  }

  #withWanted({ wanted: given, ...candidate }: Candidate): Candidate {
    const wanted = this.#wantedBy(candidate.macAddress, given);
    return wanted === undefined ? candidate : { ...candidate, wanted };
  }

  #refuseSecond({ macAddress, request }: Candidate, former: Candidate): void {
    const message = sentenceOf(explainSecondClaim(macAddress, former.request.owner));
    this.refuse(request.owner, macAddress, { reason: 'mac-address-claimed-twice', message });
  }

  #wantedBy(macAddress: MacAddress, wanted: Ipv4Address | undefined): Ipv4Address | undefined {
    return wanted === undefined || wanted === 0 ? this.#state.pool.reservations.get(macAddress)?.address : wanted;
  }

  /** Without unavailable addresses, and without reservations of addresses in use, which wait until they are free. */
  #effectivePool(): Pool {
    const { pool, recorded } = this.#state;
    if (pool.reservations.size === 0 && (recorded.unavailable ?? []).length === 0) return pool;
    const unavailable = new Set(recorded.unavailable);
    const ownerOf = new Map<Ipv4Address, MacAddress>();
    for (const [macAddress, address] of this.#recorded) if (this.#accepted.has(macAddress)) ownerOf.set(address, macAddress);
    const isFree = (address: Ipv4Address, macAddress: MacAddress) =>
      !unavailable.has(address) && (ownerOf.get(address) ?? macAddress) === macAddress;
    const reservations = [...pool.reservations].filter(([macAddress, { address }]) => isFree(address, macAddress));
    if (unavailable.size === 0 && reservations.length === pool.reservations.size) return pool;
    const single = [...unavailable].filter((address) => address >= pool.range.first && address <= pool.range.last);
    return {
      ...pool,
      unavailable: [...pool.unavailable, ...single.map((address) => ({ first: address, last: address }))],
      reservations: new Map(reservations),
    };
  }

  /** Makes reservations without a claim too. */
  #meetReservations(): void {
    const { pool } = this.#state;
    const owner = `reservation of ${pool.name}`;
    for (const { macAddress, address } of pool.reservations.values()) {
      if (this.#accepted.has(macAddress)) continue;
      this.#accepted.set(macAddress, { macAddress, wanted: address, poolKey: this.#state.key, request: { owner, claims: [] } });
      if (this.#isFull()) {
        this.refuse(owner, macAddress, this.#fullRefusal(macAddress));
        continue;
      }
      const result = this.#allocator.allocate(macAddress, address);
      if (!result.ok) this.refuse(owner, macAddress, this.#toRefusal(macAddress, result));
    }
  }

  /** True if one more client would exceed the limit of the record. */
  #isFull(): boolean {
    const { mostClients } = this.#state;
    return mostClients !== undefined && this.#allocator.counts().used >= mostClients;
  }

  #fullRefusal(macAddress: MacAddress): ClaimRefusal {
    const { pool } = this.#state;
    const message = `pool ${pool.name} cannot assign an address to ${macAddress}: it ${describeFull(this.#allocator.counts().used)}`;
    return { reason: 'pool-record-full', message };
  }

  #toRefusal(macAddress: MacAddress, refused: Refused): ClaimRefusal {
    const claim = { macAddress, wanted: this.#accepted.get(macAddress)?.wanted };
    const message = sentenceOf(explainRefusal(refused, this.#state.pool, claim));
    return { reason: refused.reason, message };
  }
}

/** False for a claim that only keeps what it has: another claim to its MAC address comes first. */
function isStaying({ isLeaving }: Candidate): boolean {
  return isLeaving !== true;
}

/** Reserved: no config claims it now, but the record is kept. */
function isOnlyReserved({ request: { blocked } }: Candidate): boolean {
  return blocked?.reason === CLAIM_MISSING.reason;
}

/** Plans are kept until the next one, so that this holds nothing of the planning. Its assignments are rarely read. */
function finishedPlan(reservations: Pool['reservations'], parts: Omit<AssignmentPlan, 'assignments'>): AssignmentPlan {
  let assignments: readonly Assignment[] | undefined;
  return {
    ...parts,
    get assignments() {
      assignments ??= [...parts.addressOf]
        .map(([macAddress, address]) => {
          const hostname = reservations.get(macAddress)?.hostname;
          return { macAddress, address, ...(hostname !== undefined && { hostname }) };
        })
        .sort((one, other) => compareText(one.macAddress, other.macAddress));
      return assignments;
    },
  };
}

/** One address for each MAC address, the lowest if a record has several. */
function recordedAddresses({ assignments }: RecordedPool): Map<MacAddress, Ipv4Address> {
  const recorded = new Map<MacAddress, Ipv4Address>();
  for (const { macAddress, address } of assignments.toSorted(byAddress)) {
    if (!recorded.has(macAddress)) recorded.set(macAddress, address);
  }
  return recorded;
}

function byAddress(one: { readonly address: Ipv4Address }, other: { readonly address: Ipv4Address }): number {
  return one.address - other.address;
}

type Refused = Extract<AllocationResult, { readonly ok: false }>;
