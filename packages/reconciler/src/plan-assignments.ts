/**
 * Who has which address of a pool. What is recorded comes first: nothing new is given out before everything that was
 * given out already is claimed. Then those who want one address in particular, then everybody else; always in the order
 * of their age and names, so that the same objects give the same addresses in whatever order they come.
 */
import {
  AddressAllocator,
  type AllocationRefusal,
  type Assignment,
  formatIpv4Address,
  type Ipv4Address,
  type MacAddress,
  type Pool,
  type PoolCounts,
} from '@vmdhcp/dhcp-allocator';
import { compareText } from './object/kubernetes-object.js';

/** A network interface that shall have an address of the pool. */
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
}

/** An address that somebody unknown uses. @see AddressAllocator.quarantine */
export interface Quarantine {
  readonly address: Ipv4Address;
  /** Milliseconds on the caller's clock. */
  readonly untilMs: number;
}

/** What a plan starts from. */
export interface KnownState {
  readonly recorded: RecordedPool;
  /** Milliseconds on the caller's clock. */
  readonly nowMs: number;
}

/** A claim that cannot be met, and why. */
export interface RefusedClaim {
  readonly owner: string;
  readonly macAddress: MacAddress;
  readonly reason: AllocationRefusal | 'mac-address-claimed-twice';
  /** What is wrong and what to do about it. */
  readonly message: string;
}

export interface AssignmentPlan extends RecordedPool {
  readonly refused: readonly RefusedClaim[];
  readonly counts: PoolCounts;
}

export const NOTHING_RECORDED: RecordedPool = { assignments: [], quarantines: [] };

/**
 * The assignments that a pool shall have. Planning again from its result changes nothing.
 *
 * Reservations are met whether anybody claims them or not. A recorded address that its client may not have any more (the
 * pool changed, or it wants another) is given up, and so is one that nobody claims.
 *
 * Quarantines that end at `nowMs` or earlier are over.
 */
export function planAssignments(pool: Pool, claims: readonly AddressClaim[], { recorded, nowMs }: KnownState): AssignmentPlan {
  const allocator = new AddressAllocator(pool);
  const refused: RefusedClaim[] = [];
  const accepted = distinctClaims(pool, claims, refused);

  claimRecorded(allocator, accepted, recorded);
  for (const { address, untilMs } of recorded.quarantines.toSorted(byAddress)) {
    if (untilMs > nowMs) allocator.quarantine(address, untilMs);
  }
  claimPrevious(allocator, accepted);
  const waiting = [...accepted.values()].filter(({ macAddress }) => allocator.addressOf(macAddress) === undefined);
  for (const claim of [...waiting.filter(wantsOne), ...waiting.filter((claim) => !wantsOne(claim))]) {
    const result = allocator.allocate(claim.macAddress, claim.wanted);
    if (!result.ok) refused.push(refusal(pool, claim, result));
  }
  return {
    assignments: [...accepted.values()].flatMap((claim) => toAssignment(pool, claim, allocator.addressOf(claim.macAddress))),
    quarantines: [...allocator.quarantined()].map(([address, untilMs]) => ({ address, untilMs })),
    refused,
    counts: allocator.counts(),
  };
}

function claimRecorded(
  allocator: AddressAllocator,
  accepted: ReadonlyMap<MacAddress, AddressClaim>,
  recorded: RecordedPool,
): void {
  for (const { macAddress, address } of recorded.assignments.toSorted(byAddress)) {
    const claim = accepted.get(macAddress);
    if (claim !== undefined && (claim.wanted === undefined || claim.wanted === address)) allocator.allocate(macAddress, address);
  }
}

function claimPrevious(allocator: AddressAllocator, accepted: ReadonlyMap<MacAddress, AddressClaim>): void {
  for (const { macAddress, wanted, previous } of accepted.values()) {
    const isSettled = allocator.addressOf(macAddress) !== undefined || (wanted !== undefined && wanted !== previous);
    if (previous !== undefined && !isSettled) allocator.allocate(macAddress, previous);
  }
}

function wantsOne(claim: AddressClaim): boolean {
  return claim.wanted !== undefined;
}

/** One claim a MAC address, sorted by age and owner; a reservation is a claim to its address that nobody need make. */
function distinctClaims(pool: Pool, claims: readonly AddressClaim[], refused: RefusedClaim[]): Map<MacAddress, AddressClaim> {
  const distinct = new Map<MacAddress, AddressClaim>();
  for (const { wanted, ...some } of claims.toSorted(byAge)) {
    const claim: AddressClaim = wanted === undefined || wanted === 0 ? some : { ...some, wanted };
    const former = distinct.get(claim.macAddress);
    const reserved = pool.reservations.get(claim.macAddress)?.address;
    if (former === undefined) {
      distinct.set(claim.macAddress, reserved === undefined || wantsOne(claim) ? claim : { ...claim, wanted: reserved });
    } else {
      const { owner, macAddress } = claim;
      const message = `${macAddress} is claimed by ${former.owner} too; give one of the interfaces another MAC address`;
      refused.push({ owner, macAddress, reason: 'mac-address-claimed-twice', message });
    }
  }
  for (const { macAddress, address } of pool.reservations.values()) {
    if (!distinct.has(macAddress))
      distinct.set(macAddress, { owner: `reservation of ${pool.name}`, macAddress, wanted: address });
  }
  return distinct;
}

function byAge(one: AddressClaim, other: AddressClaim): number {
  return (
    compareText(one.createdAt ?? '', other.createdAt ?? '') ||
    compareText(one.owner, other.owner) ||
    compareText(one.macAddress, other.macAddress) ||
    (one.wanted ?? 0) - (other.wanted ?? 0)
  );
}

function byAddress(one: { readonly address: Ipv4Address }, other: { readonly address: Ipv4Address }): number {
  return one.address - other.address;
}

function toAssignment(pool: Pool, { macAddress }: AddressClaim, address: Ipv4Address | undefined): Assignment[] {
  if (address === undefined) return [];
  const hostname = pool.reservations.get(macAddress)?.hostname;
  return [{ macAddress, address, ...(hostname !== undefined && { hostname }) }];
}

interface Refused {
  readonly reason: AllocationRefusal;
  readonly owner?: MacAddress;
}

function refusal(pool: Pool, { owner, macAddress, wanted }: AddressClaim, refused: Refused): RefusedClaim {
  const { reason } = refused;
  const address = wanted === undefined ? 'an address' : formatIpv4Address(wanted);
  return { owner, macAddress, reason, message: `pool ${pool.name} cannot give ${address} to ${macAddress}: ${explain(refused)}` };
}

function explain({ reason, owner }: Refused): string {
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
