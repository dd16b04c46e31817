/**
 * Who has which address. What is recorded comes first: nothing new is given out before everything that was given out
 * already is claimed. Then who moves to an address of its choice, then those who want one address in particular, then
 * everybody else; always in order of age and names, so that the same objects give the same addresses in whatever order they come.
 *
 * Requests are for one or several addresses, in one or several pools: of those it does not have yet a request gets all or none.
 */
import {
  AddressAllocator,
  type AllocationRefusal,
  type AllocationResult,
  type Assignment,
  formatIpv4Address,
  type Ipv4Address,
  type MacAddress,
  type Pool,
  type PoolCounts,
} from '@vmdhcp/dhcp-allocator';
import { compareText } from './object/kubernetes-object.js';

/** A network interface that shall have an address of a pool. */
export interface AddressClaim {
  /** Whose it is, for people and for order: `default/vm-a`. */
  readonly owner: string;
  readonly macAddress: MacAddress;
  /** The address it shall have; any if absent or 0.0.0.0. */
  readonly wanted?: Ipv4Address;
  /** The address it had last, by somebody's record: it has it again if it is free and nothing else is wanted. */
  readonly previous?: Ipv4Address;
  /** Who was there first comes first: RFC 3339, or any text that sorts. */
  readonly createdAt?: string;
}

/** What was recorded of a pool. */
export interface RecordedPool {
  readonly assignments: readonly Assignment[];
  readonly quarantines: readonly Quarantine[];
  /** Addresses that nobody is given, whatever else is known of them. */
  readonly withheld?: readonly Ipv4Address[];
}

/** An address that somebody unknown uses. @see AddressAllocator.quarantine */
export interface Quarantine {
  readonly address: Ipv4Address;
  /** Milliseconds on the caller's clock. */
  readonly untilMs: number;
  /** Who uses it, where that is known. */
  readonly usedBy?: MacAddress;
}

/** What a plan starts from. */
export interface KnownState {
  readonly recorded: RecordedPool;
  /** Milliseconds on the caller's clock. */
  readonly nowMs: number;
}

/** Why a claim is not met. */
export interface ClaimRefusal {
  readonly reason: string;
  /** What is wrong and what to do about it. */
  readonly message: string;
}

/** A claim that cannot be met, and why. */
export interface RefusedClaim {
  readonly owner: string;
  readonly macAddress: MacAddress;
  readonly reason: string;
  readonly message: string;
}

export interface AssignmentPlan extends RecordedPool {
  readonly refused: readonly RefusedClaim[];
  readonly counts: PoolCounts;
}

/** Blocks a request that only keeps what is recorded until its owner asks again. */
export const HOLDING: ClaimRefusal = { reason: 'claim-missing', message: 'its VirtualMachineNetworkConfig is being made' };

export const NOTHING_RECORDED: RecordedPool = { assignments: [], quarantines: [] };

/** A pool, and what is known of it. */
export interface PoolState extends KnownState {
  /** Names the pool in requests. */
  readonly key: string;
  readonly pool: Pool;
}

/** Addresses that somebody wants together. */
export interface AddressRequest {
  readonly owner: string;
  readonly createdAt?: string;
  readonly claims: readonly PoolClaim[];
  /** It gets nothing new; what it has stays. */
  readonly blocked?: ClaimRefusal;
}

export interface PoolClaim extends Pick<AddressClaim, 'macAddress' | 'wanted' | 'previous'> {
  readonly poolKey: string;
}

/**
 * The assignments that a pool shall have. Planning again from its result changes nothing.
 *
 * Reservations are met whether anybody claims them or not. A recorded address that its client may not have any more (the
 * pool changed) is given up, and so is one that nobody claims. A client that wants another address than it has keeps what it
 * has until it can have that.
 *
 * Quarantines that end at `nowMs` or earlier are over.
 */
export function planAssignments(pool: Pool, claims: readonly AddressClaim[], known: KnownState): AssignmentPlan {
  const requests = claims.map(({ owner, createdAt, ...claim }) => ({
    owner,
    ...(createdAt !== undefined && { createdAt }),
    claims: [{ ...claim, poolKey: '' }],
  }));
  const plan = planRequests([{ ...known, key: '', pool }], requests).get('');
  if (plan === undefined) throw new Error('a pool was planned and has no plan');
  return plan;
}

/** The plan of each pool, by key. */
export function planRequests(pools: readonly PoolState[], requests: readonly AddressRequest[]): Map<string, AssignmentPlan> {
  return new Planning(pools, requests.toSorted(byAge)).plan();
}

/** A claim on its way to an address. */
interface Candidate extends PoolClaim {
  readonly request: AddressRequest;
}

class Planning {
  readonly #pools: Map<string, PoolPlanning>;
  readonly #requests: readonly AddressRequest[];

  constructor(pools: readonly PoolState[], requests: readonly AddressRequest[]) {
    this.#requests = requests;
    const claimants = new Map<string, Candidate[]>(pools.map(({ key }) => [key, []]));
    for (const request of requests) {
      for (const claim of request.claims) claimants.get(claim.poolKey)?.push({ ...claim, request });
    }
    this.#pools = new Map(pools.map((state) => [state.key, new PoolPlanning(state, claimants.get(state.key) ?? [])]));
  }

  plan(): Map<string, AssignmentPlan> {
    for (const pool of this.#pools.values()) pool.settle();
    for (const request of [...this.#requests.filter(wantsOne), ...this.#requests.filter((one) => !wantsOne(one))])
      this.#meet(request);
    return new Map([...this.#pools].map(([key, pool]) => [key, pool.result()]));
  }

  /** All of what the request lacks, or nothing of it. */
  #meet(request: AddressRequest): void {
    const lacking = request.claims.flatMap((claim) => {
      const pool = this.#pools.get(claim.poolKey);
      return pool?.lacks(request.owner, claim) ? [{ claim, pool }] : [];
    });
    if (lacking.length === 0) return;
    if (request.blocked !== undefined) {
      for (const { claim, pool } of lacking) pool.refuse(request.owner, claim.macAddress, request.blocked);
      return;
    }
    const failed = this.#firstFailure(request, lacking);
    if (failed === undefined) return;
    for (const { claim, pool } of lacking) {
      pool.takeBack(claim.macAddress);
      pool.refuse(
        request.owner,
        claim.macAddress,
        claim === failed.claim ? failed.refusal : forSibling(failed.claim, failed.refusal),
      );
    }
  }

  #firstFailure(
    request: AddressRequest,
    lacking: readonly { readonly claim: PoolClaim; readonly pool: PoolPlanning }[],
  ): { readonly claim: PoolClaim; readonly refusal: ClaimRefusal } | undefined {
    for (const claim of request.claims) {
      const refusal = this.#pools.get(claim.poolKey)?.refusalOf(request.owner, claim.macAddress);
      if (refusal !== undefined) return { claim, refusal };
    }
    for (const { claim, pool } of lacking) {
      const refusal = pool.give(claim);
      if (refusal !== undefined) return { claim, refusal };
    }
    return undefined;
  }
}

/** One pool while it is being planned. */
class PoolPlanning {
  readonly #state: PoolState;
  readonly #allocator: AddressAllocator;
  /** The one claim that counts for each MAC address. */
  readonly #accepted: Map<MacAddress, Candidate>;
  /** By owner, then MAC address. */
  readonly #refusals = new Map<string, Map<MacAddress, ClaimRefusal>>();
  readonly #recorded: ReadonlyMap<MacAddress, Ipv4Address>;

  constructor(state: PoolState, candidates: readonly Candidate[]) {
    this.#state = state;
    this.#recorded = recordedAddresses(state.recorded);
    this.#accepted = this.#distinct(candidates);
    this.#allocator = new AddressAllocator(this.#effectivePool());
  }

  /** Gives everybody what is theirs already: what is recorded, moves to other addresses, what they had last. */
  settle(): void {
    const movers = [...this.#recorded].flatMap(([macAddress, address]) => this.#keepOrMove(macAddress, address));
    for (const { address, untilMs } of this.#state.recorded.quarantines.toSorted(byAddress)) {
      if (untilMs > this.#state.nowMs) this.#allocator.quarantine(address, untilMs);
    }
    this.#move(movers);
    for (const candidate of this.#accepted.values()) this.#giveBack(candidate);
  }

  /** Whoever wants another address than the recorded one is returned. */
  #keepOrMove(macAddress: MacAddress, address: Ipv4Address): Candidate[] {
    const candidate = this.#accepted.get(macAddress);
    if (candidate === undefined) return [];
    const moves = candidate.wanted !== undefined && candidate.wanted !== address && candidate.request.blocked === undefined;
    if (!moves) this.#allocator.allocate(macAddress, address);
    return moves ? [candidate] : [];
  }

  #giveBack({ macAddress, wanted, previous }: Candidate): void {
    if (previous === undefined || this.#allocator.addressOf(macAddress) !== undefined) return;
    if (wanted === undefined || wanted === previous) this.#allocator.allocate(macAddress, previous);
  }

  /** True if this claim is to be met and is not, or not with what it wants. */
  lacks(owner: string, { macAddress, wanted }: PoolClaim): boolean {
    if (this.#accepted.get(macAddress)?.request.owner !== owner) return false;
    const address = this.#allocator.addressOf(macAddress);
    return address === undefined || (this.#wantedBy(macAddress, wanted) ?? address) !== address;
  }

  /** Why the claim was refused. */
  refusalOf(owner: string, macAddress: MacAddress): ClaimRefusal | undefined {
    return this.#refusals.get(owner)?.get(macAddress);
  }

  /** Gives the claim its address; returns why that cannot be. */
  give({ macAddress }: PoolClaim): ClaimRefusal | undefined {
    const result = this.#allocator.allocate(macAddress, this.#accepted.get(macAddress)?.wanted);
    return result.ok ? undefined : this.#toRefusal(macAddress, result);
  }

  /** Undoes `give`; what is recorded stays. */
  takeBack(macAddress: MacAddress): void {
    if (!this.#recorded.has(macAddress)) this.#allocator.release(macAddress);
  }

  /** The first word about a claim stays. */
  refuse(owner: string, macAddress: MacAddress, { reason, message }: ClaimRefusal): void {
    const ofOwner = this.#refusals.get(owner) ?? new Map<MacAddress, ClaimRefusal>();
    this.#refusals.set(owner, ofOwner);
    if (!ofOwner.has(macAddress)) ofOwner.set(macAddress, { reason, message });
  }

  result(): AssignmentPlan {
    this.#meetReservations();
    return {
      assignments: [...this.#accepted.keys()].flatMap((macAddress) => this.#toAssignment(macAddress)),
      quarantines: this.#state.recorded.quarantines
        .filter(({ address, untilMs }) => this.#allocator.quarantined().get(address) === untilMs)
        .toSorted(byAddress),
      refused: [...this.#refusals].flatMap(([owner, ofOwner]) =>
        [...ofOwner].map(([macAddress, refusal]) => ({ owner, macAddress, ...refusal })),
      ),
      counts: this.#allocator.counts(),
    };
  }

  /**
   * Moves clients to the addresses they want. Who cannot have that keeps what it has, so that nobody else may move there:
   * tried again from the beginning until everybody who moves can.
   */
  #move(movers: readonly Candidate[]): void {
    const keeping = new Map<MacAddress, ClaimRefusal>();
    for (;;) {
      for (const { macAddress } of movers) {
        if (keeping.has(macAddress)) this.#allocator.allocate(macAddress, this.#recorded.get(macAddress));
      }
      const moving = movers.filter(({ macAddress }) => !keeping.has(macAddress));
      const failed = moving.flatMap(({ macAddress, wanted }) => {
        const result = this.#allocator.allocate(macAddress, wanted);
        return result.ok ? [] : [{ macAddress, result }];
      });
      if (failed.length === 0) break;
      for (const { macAddress } of moving) this.#allocator.release(macAddress);
      for (const { macAddress, result } of failed) keeping.set(macAddress, this.#toRefusal(macAddress, result));
    }
    for (const { macAddress, request } of movers) {
      const refusal = keeping.get(macAddress);
      if (refusal !== undefined) this.refuse(request.owner, macAddress, refusal);
    }
  }

  /** Of several claims to one MAC address the one that has its address counts, else the oldest. */
  #distinct(candidates: readonly Candidate[]): Map<MacAddress, Candidate> {
    const chosen = new Map<MacAddress, Candidate>();
    const isIncumbent = ({ macAddress, previous }: Candidate) =>
      previous !== undefined && previous === this.#recorded.get(macAddress);
    for (const candidate of [...candidates.filter(isIncumbent), ...candidates]) {
      const former = chosen.get(candidate.macAddress);
      if (former === undefined) chosen.set(candidate.macAddress, candidate);
      else if (former !== candidate && !isHolding(candidate)) this.#refuseSecond(candidate, former);
    }
    return new Map([...chosen].map(([macAddress, candidate]) => [macAddress, this.#withWanted(candidate)]));
  }

  #withWanted({ wanted: given, ...candidate }: Candidate): Candidate {
    const wanted = this.#wantedBy(candidate.macAddress, given);
    return wanted === undefined ? candidate : { ...candidate, wanted };
  }

  #refuseSecond({ macAddress, request }: Candidate, former: Candidate): void {
    const message = `${macAddress} is claimed by ${former.request.owner} too; give one of the interfaces another MAC address`;
    this.refuse(request.owner, macAddress, { reason: 'mac-address-claimed-twice', message });
  }

  #wantedBy(macAddress: MacAddress, wanted: Ipv4Address | undefined): Ipv4Address | undefined {
    return wanted === undefined || wanted === 0 ? this.#state.pool.reservations.get(macAddress)?.address : wanted;
  }

  /** Without what nobody may have, and without reservations of addresses that others have: those wait until they are free. */
  #effectivePool(): Pool {
    const { pool, recorded } = this.#state;
    const withheld = new Set(recorded.withheld);
    const ownerOf = new Map<Ipv4Address, MacAddress>();
    for (const [macAddress, address] of this.#recorded) if (this.#accepted.has(macAddress)) ownerOf.set(address, macAddress);
    const isFree = (address: Ipv4Address, macAddress: MacAddress) =>
      !withheld.has(address) && (ownerOf.get(address) ?? macAddress) === macAddress;
    const reservations = [...pool.reservations].filter(([macAddress, { address }]) => isFree(address, macAddress));
    if (withheld.size === 0 && reservations.length === pool.reservations.size) return pool;
    const single = [...withheld].filter((address) => address >= pool.range.first && address <= pool.range.last);
    return {
      ...pool,
      withheld: [...pool.withheld, ...single.map((address) => ({ first: address, last: address }))],
      reservations: new Map(reservations),
    };
  }

  /** Reservations that nobody claims are met all the same. */
  #meetReservations(): void {
    const { pool } = this.#state;
    const owner = `reservation of ${pool.name}`;
    for (const { macAddress, address } of pool.reservations.values()) {
      if (this.#accepted.has(macAddress)) continue;
      this.#accepted.set(macAddress, { macAddress, wanted: address, poolKey: this.#state.key, request: { owner, claims: [] } });
      const result = this.#allocator.allocate(macAddress, address);
      if (!result.ok) this.refuse(owner, macAddress, this.#toRefusal(macAddress, result));
    }
  }

  #toAssignment(macAddress: MacAddress): Assignment[] {
    const address = this.#allocator.addressOf(macAddress);
    if (address === undefined) return [];
    const hostname = this.#state.pool.reservations.get(macAddress)?.hostname;
    return [{ macAddress, address, ...(hostname !== undefined && { hostname }) }];
  }

  #toRefusal(macAddress: MacAddress, refused: Refused): ClaimRefusal {
    const wanted = this.#accepted.get(macAddress)?.wanted;
    const address = wanted === undefined ? 'an address' : formatIpv4Address(wanted);
    const message = `pool ${this.#state.pool.name} cannot give ${address} to ${macAddress}: ${explain(refused)}`;
    return { reason: refused.reason, message };
  }
}

/** Nobody asks for it now: it only keeps what is recorded. */
function isHolding({ request: { blocked } }: Candidate): boolean {
  return blocked?.reason === HOLDING.reason;
}

/** One address for each MAC address: the lowest, where a record has several. */
function recordedAddresses({ assignments }: RecordedPool): Map<MacAddress, Ipv4Address> {
  const recorded = new Map<MacAddress, Ipv4Address>();
  for (const { macAddress, address } of assignments.toSorted(byAddress)) {
    if (!recorded.has(macAddress)) recorded.set(macAddress, address);
  }
  return recorded;
}

function wantsOne({ claims }: AddressRequest): boolean {
  return claims.some(({ wanted }) => wanted !== undefined && wanted !== 0);
}

function byAge(one: AddressRequest, other: AddressRequest): number {
  return (
    compareText(one.createdAt ?? '', other.createdAt ?? '') ||
    compareText(one.owner, other.owner) ||
    compareText(describeClaims(one), describeClaims(other))
  );
}

function describeClaims({ claims }: AddressRequest): string {
  return claims
    .map(({ poolKey, macAddress, wanted = 0 }) => `${poolKey} ${macAddress} ${String(wanted).padStart(10, '0')}`)
    .join();
}

function byAddress(one: { readonly address: Ipv4Address }, other: { readonly address: Ipv4Address }): number {
  return one.address - other.address;
}

function forSibling({ macAddress }: PoolClaim, { message }: ClaimRefusal): ClaimRefusal {
  return {
    reason: 'other-interface-refused',
    message: `no new address is taken before every interface of the virtual machine can have one; ${macAddress} cannot: ${message}`,
  };
}

type Refused = Extract<AllocationResult, { readonly ok: false }>;

function explain({ reason, owner }: { readonly reason: AllocationRefusal; readonly owner?: MacAddress }): string {
  switch (reason) {
    case 'pool-exhausted':
      return 'every address is in use; widen the range or remove virtual machines';
    case 'address-outside-pool':
      return 'it lies outside start to end; choose another, or reserve it';
    case 'address-withheld':
      return 'it is excluded, or the address of the server or the router; choose another';
    case 'address-reserved':
      return `it is reserved for ${owner}; choose another, or change the reservation`;
    case 'address-taken':
      return `${owner} has it; choose another, or free it first`;
    case 'address-quarantined':
      return 'a client found it in use by somebody unknown; find out who that is, or wait until its quarantine ends';
    case 'client-has-another-address':
      return 'the client has another one; free that first';
  }
}
