/**
 * Who has which address. What is recorded comes first: nothing new is given out before everything that was given out
 * already is claimed. Then who moves to an address of its choice, then those who want one address in particular, then
 * everybody else; always in order of age and names, so that the same objects give the same addresses in whatever order they come.
 *
 * Requests are for one or several addresses, in one or several pools: of those it does not have yet a request gets all or none.
 */
import type { Assignment, Ipv4Address, MacAddress, Pool, PoolCounts } from '@vmdhcp/dhcp-allocator';
import { compareText } from '@vmdhcp/kube-runtime';
import { type Candidate, PoolPlanning } from './pool-planning.js';

/** A network interface that shall have an address of a pool. */
export interface AddressClaim {
  /** Whose it is, for people and for order: `default/vm-a`. */
  readonly owner: string;
  readonly macAddress: MacAddress;
  /** The address it shall have; any if absent or 0.0.0.0. */
  readonly wanted?: Ipv4Address;
  /** The address it had last, by somebody's record: it has it again if it is free and nothing else is wanted. */
  readonly previous?: Ipv4Address;
  /** The record says that it has `previous` now: of several claims to one MAC address this one counts, unless `lastOwners` knows better. */
  readonly holdsPrevious?: true;
  /** MAC addresses that the same interface had before: what is recorded for one of them, and is `previous`, becomes its own. */
  readonly replaces?: readonly MacAddress[];
  /** Who was there first comes first: RFC 3339, or any text that sorts. */
  readonly createdAt?: string;
}

/** What was recorded of a pool. */
export interface RecordedPool {
  readonly assignments: readonly Assignment[];
  readonly quarantines: readonly Quarantine[];
  /** Addresses that nobody is given, whatever else is known of them. */
  readonly unavailable?: readonly Ipv4Address[];
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
  /** Whose each address was by the plan that was recorded last. Absent, or nothing for a MAC address: that is not known. */
  readonly lastOwners?: LastOwners;
}

/** It says nothing of a MAC address that has another address by now. */
export type LastOwners = ReadonlyMap<MacAddress, { readonly owner: string; readonly address: Ipv4Address }>;

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
  /** Whose claim to each MAC address counts. */
  readonly owners: ReadonlyMap<MacAddress, string>;
  readonly counts: PoolCounts;
}

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

export interface PoolClaim extends Pick<AddressClaim, 'macAddress' | 'wanted' | 'previous' | 'holdsPrevious' | 'replaces'> {
  readonly poolKey: string;
}

/**
 * The assignments that a pool shall have. Planning again from its result changes nothing.
 *
 * Reservations are met whether anybody claims them or not. A recorded address that its client may not have any more (the subnet is
 * another, or the server has it) is given up, and so is one that nobody claims. One that is outside the range now, excluded or the router's
 * stays: settings that change cut off no address in use. A client that wants another address than it has keeps what it
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

/** Whose each address is by this plan. */
export function ownersOf({ assignments, owners }: AssignmentPlan): LastOwners {
  return new Map(
    assignments.flatMap(({ macAddress, address }) => {
      const owner = owners.get(macAddress);
      return owner === undefined ? [] : [[macAddress, { owner, address }] as const];
    }),
  );
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

function forSibling({ macAddress }: PoolClaim, { message }: ClaimRefusal): ClaimRefusal {
  return {
    reason: 'other-interface-refused',
    message: `no new address is taken before every interface of the virtual machine can have one; ${macAddress} cannot: ${message}`,
  };
}
