/**
 * Finds satisfied claims. In a large pool those are nearly all, and they need no planning: they keep their addresses, and all others are planned
 * around them. The plan is the same as if each of them had been planned.
 */
import { type Assignment, type Ipv4Address, type MacAddress, mayBeKept } from '@vmdhcp/dhcp-allocator';
import type { InterfaceClaim, NetworkConfigClaims } from '../network-config/interface-claims.js';
import type { PoolToPlan } from './pool-to-plan.js';

/** A pool and its settled claims. */
export interface SettledPool {
  /** Recorded addresses that stay, in the order of the record. */
  readonly settled: readonly Assignment[];
  /** Their owners: the key of a config by MAC address. */
  readonly owners: Map<MacAddress, string>;
  /** Other recorded addresses. */
  readonly unsettled: readonly Assignment[];
}

export interface SettledClaims {
  /** By the key of the pool. */
  readonly pools: ReadonlyMap<string, SettledPool>;
  /** Configs with an unsettled claim: all of their claims are planned. */
  readonly open: readonly NetworkConfigClaims[];
}

/** @param pools - each on a network of its own. @param configs - everything that claims an address of them. */
export function findSettledClaims(pools: readonly PoolToPlan[], configs: readonly NetworkConfigClaims[]): SettledClaims {
  const looks = new Map(pools.map((pool) => [pool.network, new PoolLook(pool)]));
  for (const { key, claims } of configs) {
    for (const claim of claims) looks.get(claim.network)?.note(claim, key);
  }
  const open = configs.filter(({ claims }) => claims.some((claim) => looks.get(claim.network)?.isSettled(claim) === false));
  // Claims of one request are planned together.
  for (const { claims } of open) for (const claim of claims) looks.get(claim.network)?.leaveOut(claim);
  return { pools: new Map([...looks.values()].map((look) => [look.key, look.result()])), open };
}

class PoolLook {
  readonly #pool: PoolToPlan;
  readonly #owners = new Map<MacAddress, string>();
  /** Clients that must be planned, whatever they have. */
  readonly #contested: Set<MacAddress>;
  readonly #contestedAddresses: Set<Ipv4Address>;

  constructor(pool: PoolToPlan) {
    this.#pool = pool;
    const { reservations } = pool.pool;
    this.#contested = new Set([...pool.reserved.keys(), ...reservations.keys()]);
    this.#contestedAddresses = new Set([
      ...[...reservations.values()].map(({ address }) => address),
      ...pool.quarantines.map(({ address }) => address),
      ...pool.recorded.unreadable.flatMap(({ address }) => address ?? []),
    ]);
  }

  get key(): string {
    return this.#pool.key;
  }

  note({ macAddress, replaces }: InterfaceClaim, owner: string): void {
    if (this.#owners.has(macAddress)) this.#contested.add(macAddress);
    else this.#owners.set(macAddress, owner);
    if (replaces === undefined) return;
    for (const one of [macAddress, ...replaces]) this.#contested.add(one);
  }

  /** Call it when every claim is noted. */
  isSettled({ macAddress, wanted }: InterfaceClaim): boolean {
    const address = this.#pool.recorded.addressOf.get(macAddress);
    if (address === undefined || this.#contested.has(macAddress) || this.#contestedAddresses.has(address)) return false;
    return (wanted ?? address) === address && mayBeKept(this.#pool.pool, address);
  }

  leaveOut({ macAddress }: InterfaceClaim): void {
    this.#contested.add(macAddress);
  }

  result(): SettledPool {
    for (const macAddress of this.#contested) this.#owners.delete(macAddress);
    const settled: Assignment[] = [];
    const unsettled: Assignment[] = [];
    for (const assignment of this.#pool.recorded.assignments) {
      (this.#owners.has(assignment.macAddress) ? settled : unsettled).push(assignment);
    }
    return { settled, owners: this.#owners, unsettled };
  }
}
