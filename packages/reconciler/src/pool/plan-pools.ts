/**
 * Who has which address, in pools that hang together: a virtual machine with interfaces on several networks gets all of its
 * addresses or, of those it does not have yet, none. What an interface has already stays with it.
 */
import type { Ipv4Address, MacAddress, Pool } from '@vmdhcp/dhcp-allocator';
import type { InterfaceClaim, NetworkConfigClaims } from '../network-config/interface-claims.js';
import { type AddressClaim, type AssignmentPlan, planAssignments } from '../plan-assignments.js';
import type { RecordedAddresses } from './recorded-addresses.js';

/** A pool that addresses are given out of. */
export interface PoolToPlan {
  /** `namespace/name`. */
  readonly key: string;
  /** `namespace/name` of the network it serves. */
  readonly network: string;
  readonly pool: Pool;
  readonly recorded: RecordedAddresses;
  /** Nothing new is given out; what nobody claims any more is freed. */
  readonly paused: boolean;
}

/** Why an interface has no address. */
export interface ClaimRefusal {
  readonly reason: string;
  readonly message: string;
}

export interface PoolPlan extends AssignmentPlan {
  /** By the key of the VirtualMachineNetworkConfig, then by MAC address. */
  readonly refusals: ReadonlyMap<string, ReadonlyMap<MacAddress, ClaimRefusal>>;
}

export interface PoolsToPlan {
  readonly pools: readonly PoolToPlan[];
  /** Everything that claims an address of these pools. */
  readonly configs: readonly NetworkConfigClaims[];
  /** What is wrong with a network that none of these pools serves; undefined for one of these. */
  readonly whyUnserved: (network: string) => ClaimRefusal | undefined;
}

/** The plan of each pool, by key. The same objects give the same plans, in whatever order they come. */
export function planPools(toPlan: PoolsToPlan): Map<string, PoolPlan> {
  const planning = new Planning(toPlan);
  while (planning.learnFromRefusals()) planning.planAgain();
  return planning.result();
}

class Planning {
  readonly #toPlan: PoolsToPlan;
  readonly #recordedOf: Map<string, ReadonlyMap<MacAddress, Ipv4Address>>;
  readonly #plans = new Map<string, AssignmentPlan>();
  /** Configs that get nothing new, and why. */
  readonly #refused = new Map<string, ClaimRefusal>();
  /** `config mac` of interfaces that cannot have the address they want, and keep the one they have. */
  readonly #keeping = new Set<string>();
  /** Refusals of a pool itself; the first word about an interface stays. */
  readonly #refusals = new Map<string, Map<string, Map<MacAddress, ClaimRefusal>>>();

  constructor(toPlan: PoolsToPlan) {
    this.#toPlan = toPlan;
    this.#recordedOf = new Map(
      toPlan.pools.map(({ network, recorded }) => [
        network,
        new Map(recorded.assignments.map(({ macAddress, address }) => [macAddress, address])),
      ]),
    );
    for (const config of toPlan.configs) this.#refuseForUnserved(config);
    this.planAgain();
  }

  planAgain(): void {
    for (const pool of this.#toPlan.pools) this.#plan(pool);
  }

  /** What was refused changes what others may have. True if there was anything that had not been known. */
  learnFromRefusals(): boolean {
    const before = this.#refused.size + this.#keeping.size;
    for (const config of this.#toPlan.configs) for (const claim of config.claims) this.#learnFrom(config, claim);
    return this.#refused.size + this.#keeping.size > before;
  }

  #learnFrom(config: NetworkConfigClaims, { network, macAddress, wanted }: InterfaceClaim): void {
    const refusal = this.#refusals.get(network)?.get(config.key)?.get(macAddress);
    if (refusal === undefined) return;
    const has = this.#recordedOf.get(network)?.has(macAddress) === true;
    if (wanted !== undefined && has) this.#keeping.add(`${config.key} ${macAddress}`);
    if (config.claims.length > 1 && !this.#refused.has(config.key))
      this.#refused.set(config.key, forSibling(macAddress, refusal));
  }

  result(): Map<string, PoolPlan> {
    return new Map(
      this.#toPlan.pools.flatMap(({ key, network }) => {
        const plan = this.#plans.get(key);
        return plan === undefined ? [] : [[key, { ...plan, refusals: this.#refusals.get(network) ?? new Map() }]];
      }),
    );
  }

  #refuseForUnserved({ key, claims, unreadable }: NetworkConfigClaims): void {
    const [broken] = unreadable;
    if (broken !== undefined && claims.length > 0) this.#refused.set(key, forSibling(broken.macAddress, broken));
    if (claims.length < 2) return;
    for (const { network, macAddress } of claims) {
      const refusal = this.#toPlan.whyUnserved(network);
      if (refusal !== undefined) this.#refused.set(key, forSibling(macAddress, refusal));
    }
  }

  #plan({ key, network, pool, recorded, paused }: PoolToPlan): void {
    const claims = this.#toPlan.configs.flatMap((config) =>
      config.claims
        .filter((claim) => claim.network === network)
        .flatMap((claim) => this.#toAddressClaim(config, claim, paused ? PAUSED : this.#refused.get(config.key))),
    );
    const { assignments, unreadable } = recorded;
    const quarantines = unreadable.flatMap(({ address }) => (address === undefined ? [] : [{ address, untilMs: FOR_EVER }]));
    const plan = planAssignments(pool, claims, { recorded: { assignments, quarantines }, nowMs: 0 });
    for (const { owner, macAddress, ...refusal } of plan.refused) this.#refuse({ network, config: owner, macAddress }, refusal);
    this.#plans.set(key, plan);
  }

  /** What is claimed of the pool: what it has, where it gets nothing else; nothing, where it has nothing. */
  #toAddressClaim(config: NetworkConfigClaims, claim: InterfaceClaim, refusal: ClaimRefusal | undefined): AddressClaim[] {
    const { wanted, ...some } = claim;
    const { network, macAddress } = claim;
    const of = { owner: config.key, createdAt: config.createdAt };
    const has = this.#recordedOf.get(network)?.get(macAddress);
    if (has !== undefined && (wanted === undefined || wanted === has)) return [{ ...claim, ...of }];
    if (refusal !== undefined) {
      this.#refuse({ network, config: config.key, macAddress }, refusal);
      return has === undefined ? [] : [{ ...some, ...of }];
    }
    return [this.#keeping.has(`${config.key} ${macAddress}`) ? { ...some, ...of } : { ...claim, ...of }];
  }

  #refuse(claim: { network: string; config: string; macAddress: MacAddress }, { reason, message }: ClaimRefusal): void {
    const ofNetwork = this.#refusals.get(claim.network) ?? new Map<string, Map<MacAddress, ClaimRefusal>>();
    this.#refusals.set(claim.network, ofNetwork);
    const ofConfig = ofNetwork.get(claim.config) ?? new Map<MacAddress, ClaimRefusal>();
    ofNetwork.set(claim.config, ofConfig);
    if (!ofConfig.has(claim.macAddress)) ofConfig.set(claim.macAddress, { reason, message });
  }
}

/** As long as the entry stands. */
const FOR_EVER = Number.MAX_SAFE_INTEGER;

const PAUSED: ClaimRefusal = { reason: 'pool-paused', message: 'the pool is paused; resume it by setting spec.paused to false' };

function forSibling(macAddress: string, { message }: ClaimRefusal): ClaimRefusal {
  return {
    reason: 'other-interface-refused',
    message: `no new address is taken before every interface of the virtual machine can have one; ${macAddress} cannot: ${message}`,
  };
}
