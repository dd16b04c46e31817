/**
 * Plans which client gets which address. Recorded addresses come first: nothing new is assigned before all existing assignments are claimed. Then
 * come clients that move to an address of their choice, then those that want a particular address, then all others; always in order of age and name,
 * so that the same objects give the same addresses, whatever their order.
 *
 * A request is for one or several addresses, in one or several pools: it gets all of its missing addresses or none.
 */
import { compareText } from '@vmdhcp/kube-runtime';
import type { AddressRequest, Candidate, ClaimRefusal, PoolClaim } from './address-request.js';
import type { AssignmentPlan, PoolState } from './assignment-plan.js';
import { PoolPlanning } from './pool-planning.js';

/** The plan of each pool, by key. */
export function planRequests(pools: readonly PoolState[], requests: readonly AddressRequest[]): Map<string, AssignmentPlan> {
  return new Planning(pools, requests.toSorted(byAge)).plan();
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
      this.#meet({ ...request, claims: request.claims.filter(({ isLeaving }) => isLeaving !== true) });
    return new Map([...this.#pools].map(([key, pool]) => [key, pool.result()]));
  }

  /** Assigns all missing addresses of the request, or none. */
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
      pool.undo(claim.macAddress);
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
      const refusal = pool.assign(claim);
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
    message: `no interface of the virtual machine gets a new address before each of them can have one; ${macAddress} cannot: ${message}`,
  };
}
