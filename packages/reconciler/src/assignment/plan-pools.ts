/** Which client has which address, in pools that hang together because virtual machines have interfaces on several of their networks. */
import type { Ipv4Address, MacAddress, Pool } from '@vmdhcp/dhcp-allocator';
import type { InterfaceClaim, NetworkConfigClaims } from '../network-config/interface-claims.js';
import type { Quarantine } from '../pool/quarantines.js';
import type { RecordedAddresses } from '../pool/recorded-addresses.js';
import { type AddressRequest, type ClaimRefusal, CONFIG_MISSING } from './address-request.js';
import type { AssignmentPlan, LastOwners } from './assignment-plan.js';
import { planRequests } from './plan-requests.js';

/** A pool that addresses are assigned from. */
export interface PoolToPlan {
  /** `namespace/name`. */
  readonly key: string;
  /** `namespace/name` of the network it serves. */
  readonly network: string;
  readonly pool: Pool;
  readonly recorded: RecordedAddresses;
  readonly quarantines: readonly Quarantine[];
  /** Now, on the clock that quarantines end by. */
  readonly nowMs: number;
  /** Nothing new is assigned; an address that is not claimed any more is freed. */
  readonly paused: boolean;
  /** Clients whose address is recorded and stays so, though the virtual machine that has it does not claim it at the moment. */
  readonly reserved: ReadonlyMap<MacAddress, MachineWithoutConfig>;
  /** @see KnownState.lastOwners */
  readonly lastOwners: LastOwners;
}

/** A virtual machine whose config is on its way. */
export interface MachineWithoutConfig {
  /** `namespace/name`, as its config will have it. */
  readonly owner: string;
  readonly createdAt: string;
}

export interface PoolPlan extends AssignmentPlan {
  /** By the key of the VirtualMachineNetworkConfig, then by MAC address. */
  readonly refusals: ReadonlyMap<string, ReadonlyMap<MacAddress, ClaimRefusal>>;
}

interface PoolsToPlan {
  readonly pools: readonly PoolToPlan[];
  /** Everything that claims an address of these pools. */
  readonly configs: readonly NetworkConfigClaims[];
  /** What is wrong with a network that none of these pools serves; undefined for a network of these pools, and for one that no pool serves. */
  readonly whyUnserved: (network: string) => ClaimRefusal | undefined;
}

/** The plan of each pool, by key. The same objects give the same plans, in whatever order they come. */
export function planPools({ pools, configs, whyUnserved }: PoolsToPlan): Map<string, PoolPlan> {
  const poolOn = new Map(pools.map((pool) => [pool.network, { key: pool.key, has: pool.paused ? recordedBy(pool) : undefined }]));
  const requests = configs.map((config) => toRequest(config, poolOn, whyUnserved));
  const states = pools.map(({ key, pool, nowMs, lastOwners, quarantines, recorded: { assignments, unreadable } }) => {
    const unavailable = unreadable.flatMap(({ address }) => address ?? []);
    return { key, pool, recorded: { assignments, quarantines, unavailable }, nowMs, lastOwners };
  });
  const plans = planRequests(states, [...requests, ...pools.flatMap(toReservedRequests)]);
  return new Map([...plans].map(([key, plan]) => [key, { ...plan, refusals: byOwner(plan) }]));
}

interface PlannedPool {
  readonly key: string;
  /** What clients of a pool that is paused have; undefined: it is not. */
  readonly has: ReadonlyMap<MacAddress, Ipv4Address> | undefined;
}

function recordedBy({ recorded }: PoolToPlan): Map<MacAddress, Ipv4Address> {
  return new Map(recorded.assignments.map(({ macAddress, address }) => [macAddress, address]));
}

/** True if the claim lacks something of a pool that is paused. What it has there blocks no other claim. */
function isKeptWaiting({ macAddress, wanted }: InterfaceClaim, pool: PlannedPool | undefined): boolean {
  if (pool?.has === undefined) return false;
  const address = pool.has.get(macAddress);
  return address === undefined || (wanted !== undefined && wanted !== address);
}

function toRequest(
  { key, createdAt, claims, unreadable }: NetworkConfigClaims,
  poolOn: ReadonlyMap<string, PlannedPool>,
  whyUnserved: PoolsToPlan['whyUnserved'],
): AddressRequest {
  const [broken] = unreadable;
  const isPaused = claims.some((claim) => isKeptWaiting(claim, poolOn.get(claim.network)));
  const obstacle = broken ?? claims.map(({ network }) => whyUnserved(network)).find((why) => why !== undefined);
  const blocked = isPaused ? PAUSED : obstacle && forOthers(obstacle);
  return {
    owner: key,
    createdAt,
    claims: claims.flatMap(({ network, ...claim }) => {
      const pool = poolOn.get(network);
      return pool === undefined ? [] : [{ ...claim, poolKey: pool.key }];
    }),
    ...(blocked !== undefined && { blocked }),
  };
}

function toReservedRequests({ key: poolKey, reserved }: PoolToPlan): AddressRequest[] {
  return [...reserved].map(([macAddress, machine]) => ({
    ...machine,
    claims: [{ macAddress, poolKey }],
    blocked: CONFIG_MISSING,
  }));
}

function byOwner({ refused }: AssignmentPlan): Map<string, Map<MacAddress, ClaimRefusal>> {
  const refusals = new Map<string, Map<MacAddress, ClaimRefusal>>();
  for (const { owner, macAddress, reason, message } of refused) {
    const ofOwner = refusals.get(owner) ?? new Map<MacAddress, ClaimRefusal>();
    refusals.set(owner, ofOwner.set(macAddress, { reason, message }));
  }
  return refusals;
}

const PAUSED: ClaimRefusal = { reason: 'pool-paused', message: 'the pool is paused; resume it by setting spec.paused to false' };

function forOthers({ message }: ClaimRefusal): ClaimRefusal {
  const text = `no interface of the virtual machine gets a new address before each of them can have one: ${message}`;
  return { reason: 'other-interface-refused', message: text };
}
