/** Plans the addresses of pools that depend on each other because virtual machines have interfaces on several of their networks. */
import type { Ipv4Address, MacAddress } from '@vmdhcp/dhcp-allocator';
import type { InterfaceClaim, NetworkConfigClaims } from '../network-config/interface-claims.js';
import { type AddressRequest, CLAIM_MISSING, type ClaimRefusal, type PoolClaim } from './address-request.js';
import { type AssignmentPlan, NOTHING_SETTLED } from './assignment-plan.js';
import { planRequests } from './plan-requests.js';
import type { PoolToPlan } from './pool-to-plan.js';
import type { SettledClaims } from './settled-claims.js';

export type PoolPlan = AssignmentPlan;

interface PoolsToPlan {
  readonly pools: readonly PoolToPlan[];
  /** Everything that claims an address of these pools: what is settled, and the rest. */
  readonly claims: SettledClaims;
  /** The problem of a network that none of these pools serves; undefined for a network of these pools, and for one without a pool. */
  readonly whyUnserved: (network: string) => ClaimRefusal | undefined;
}

/** The plan of each pool, by key: refusals by the key of the VirtualMachineNetworkConfig. The same objects give the same plans, whatever their order. */
export function planPools({ pools, claims, whyUnserved }: PoolsToPlan): Map<string, PoolPlan> {
  const poolOn = new Map(
    pools.map(({ network, key, paused, recorded: { addressOf } }) => [network, { key, addressOf, isPaused: paused }]),
  );
  const requests = claims.open.map((config) => toRequest(config, poolOn, whyUnserved));
  const states = pools.map(({ key, pool, nowMs, lastOwners, quarantines, recorded, mostClients }) => {
    const { settled = NOTHING_SETTLED, unsettled = recorded.assignments } = claims.pools.get(key) ?? {};
    const unavailable = recorded.unreadable.flatMap(({ address }) => address ?? []);
    return {
      key,
      pool,
      recorded: { assignments: unsettled, quarantines, unavailable },
      nowMs,
      lastOwners,
      ...(mostClients !== undefined && { mostClients }),
      settled,
    };
  });
  return planRequests(states, [...requests, ...pools.flatMap(toReservedRequests)]);
}

interface PlannedPool {
  readonly key: string;
  readonly addressOf: Pick<ReadonlyMap<MacAddress, Ipv4Address>, 'get' | 'has'>;
  readonly isPaused: boolean;
}

/** True if the claim needs a new address of a paused pool. An address that it already has there does not block other claims. */
function isKeptWaiting({ macAddress, wanted }: InterfaceClaim, pool: PlannedPool | undefined): boolean {
  if (pool?.isPaused !== true) return false;
  const address = pool.addressOf.get(macAddress);
  return address === undefined || (wanted !== undefined && wanted !== address);
}

function toRequest(
  { key, createdAt, claims, unreadable }: NetworkConfigClaims,
  poolOn: ReadonlyMap<string, PlannedPool>,
  whyUnserved: PoolsToPlan['whyUnserved'],
): AddressRequest {
  const [broken] = unreadable;
  const needed = claims.filter(({ isLeaving }) => isLeaving !== true);
  const isPaused = needed.some((claim) => isKeptWaiting(claim, poolOn.get(claim.network)));
  const obstacle = broken ?? needed.map(({ network }) => whyUnserved(network)).find((why) => why !== undefined);
  const blocked = isPaused ? PAUSED : obstacle && forOthers(obstacle);
  return {
    owner: key,
    createdAt,
    claims: claims.flatMap((claim) => toPoolClaim(claim, poolOn)),
    ...(blocked !== undefined && { blocked }),
  };
}

/**
 * A claim that gets nothing new matters only for what it has or had, whatever it wants. Its guest may still use the address that its own record names,
 * also where the pool has been created anew, or is paused.
 */
function toPoolClaim({ network, ...claim }: InterfaceClaim, poolOn: ReadonlyMap<string, PlannedPool>): PoolClaim[] {
  const pool = poolOn.get(network);
  if (pool === undefined) return [];
  const { wanted, ...kept } = { ...claim, poolKey: pool.key };
  if (claim.isLeaving !== true) return [{ ...kept, ...(wanted !== undefined && { wanted }) }];
  return claim.previous !== undefined || pool.addressOf.has(claim.macAddress) ? [kept] : [];
}

function toReservedRequests({ key: poolKey, reserved }: PoolToPlan): AddressRequest[] {
  return [...reserved].map(([macAddress, machine]) => ({
    ...machine,
    claims: [{ macAddress, poolKey }],
    blocked: CLAIM_MISSING,
  }));
}

const PAUSED: ClaimRefusal = { reason: 'pool-paused', message: 'the pool is paused; resume it by setting spec.paused to false' };

function forOthers({ message }: ClaimRefusal): ClaimRefusal {
  const text = `no interface of the virtual machine gets a new address before each of them can have one: ${message}`;
  return { reason: 'other-interface-refused', message: text };
}
