/**
 * Finds satisfied claims. In a large pool those are nearly all, and they need no planning: they keep their addresses, and all others are planned
 * around them. The plan is the same as if each of them had been planned.
 *
 * It remembers the last version of a pool and of the claims, and looks only at what has changed since then.
 */
import { type Assignment, type Ipv4Address, type MacAddress, mayBeKept } from '@vmdhcp/dhcp-allocator';
import type { InterfaceClaim, NetworkClaims, NetworkConfigClaims } from '../network-config/interface-claims.js';
import { PersistentMap } from '../pool/persistent-map.js';
import { NOTHING_SETTLED, type SettledClients } from './assignment-plan.js';
import type { PoolToPlan } from './pool-to-plan.js';

/** A pool and its settled claims. */
export interface SettledPool {
  readonly settled: SettledClients;
  /** Other recorded addresses. */
  readonly unsettled: readonly Assignment[];
}

export interface SettledClaims {
  /** By the key of the pool. */
  readonly pools: ReadonlyMap<string, SettledPool>;
  /** Configs with an unsettled claim: all of their claims are planned. */
  readonly open: readonly NetworkConfigClaims[];
}

/** @param books - of pools that are planned together, each on a network of its own, after `update`. */
export function joinSettledClaims(books: readonly SettledBook[]): SettledClaims {
  const open = new Map(books.flatMap((book) => [...book.open]));
  return { pools: new Map(books.map((book) => [book.poolKey, book.without(open.values())])), open: [...open.values()] };
}

/** @param pools - each on a network of its own. @param configs - everything that claims an address of them. */
export function findSettledClaims(pools: readonly PoolToPlan[], configs: readonly NetworkConfigClaims[]): SettledClaims {
  return joinSettledClaims(
    pools.map((pool) => {
      const book = new SettledBook();
      const onNetwork = configs.filter(({ claims }) => claims.some(({ network }) => network === pool.network));
      book.update(pool, PersistentMap.of(onNetwork.map((config) => [config.key, config])));
      return book;
    }),
  );
}

/** The settled claims of one pool, from one plan to the next. */
export class SettledBook {
  #pool: Facts | undefined;
  /** Addresses whose clients must be planned: reserved, in quarantine, or in an invalid entry. */
  #contestedAddresses: ReadonlySet<Ipv4Address> = new Set();
  #claims: NetworkClaims = PersistentMap.of();
  #recorded: PersistentMap<MacAddress, Ipv4Address> = PersistentMap.of();
  /** Keys of configs, one for each claim to the MAC address. */
  readonly #claimants = new Map<MacAddress, readonly string[]>();
  /** How many claims with former MAC addresses name this one. */
  readonly #replacing = new Map<MacAddress, number>();
  #settled = NOTHING_SETTLED;
  readonly #open = new Map<string, NetworkConfigClaims>();
  readonly #unsettled = new Map<MacAddress, Ipv4Address>();

  get poolKey(): string {
    return this.#pool?.key ?? '';
  }

  /** Configs with an unsettled claim, by key. */
  get open(): ReadonlyMap<string, NetworkConfigClaims> {
    return this.#open;
  }

  /** @param claims - everything that claims an address of the pool. */
  update(pool: PoolToPlan, claims: NetworkClaims): void {
    const contested = contestedAddresses(pool);
    if (pool.pool !== this.#pool?.pool || !isSameSet(contested, this.#contestedAddresses)) this.#forget();
    const clients = new Set([...pool.reserved.keys(), ...this.#recorded.changedKeys(pool.recorded.addressOf)]);
    for (const macAddress of this.#pool?.reserved.keys() ?? []) clients.add(macAddress);
    const before = this.#claims;
    [this.#pool, this.#contestedAddresses, this.#recorded, this.#claims] = [
      factsOf(pool),
      contested,
      pool.recorded.addressOf,
      claims,
    ];
    const configs = this.#follow(before, clients);
    const claimed = [...configs].flatMap((key) => [...this.#claimsIn(before, key), ...this.#claimsIn(claims, key)]);
    this.#settle(configs, new Set(claimed.map(({ macAddress }) => macAddress)));
    for (const macAddress of clients) this.#noteUnsettled(macAddress);
    for (const { macAddress } of claimed) this.#noteUnsettled(macAddress);
  }

  /** The pool without the claims of configs that are planned. */
  without(configs: Iterable<NetworkConfigClaims>): SettledPool {
    const { network = '', conflicts } = this.#pool ?? {};
    const left = new Map<MacAddress, undefined>();
    const unsettled = new Map(this.#unsettled);
    for (const { claims } of configs) {
      for (const claim of claims) {
        const address = claim.network === network ? this.#settled.addressOf.get(claim.macAddress) : undefined;
        if (address === undefined) continue;
        left.set(claim.macAddress, undefined);
        unsettled.set(claim.macAddress, address);
      }
    }
    const rest = [...unsettled].map(([macAddress, address]) => ({ macAddress, address }));
    const { addressOf, owners } = this.#settled;
    return {
      settled: { addressOf: addressOf.with(left), owners: owners.with(left) },
      unsettled: conflicts === undefined ? rest : rest.filter(({ address }) => !conflicts.has(address)),
    };
  }

  /** The claims of a config to addresses of the pool. */
  #claimsIn(claims: NetworkClaims, key: string): readonly InterfaceClaim[] {
    return claims.get(key)?.claims.filter(({ network }) => network === this.#pool?.network) ?? [];
  }

  #forget(): void {
    this.#claims = PersistentMap.of();
    this.#recorded = PersistentMap.of();
    this.#settled = NOTHING_SETTLED;
    for (const memory of [this.#claimants, this.#replacing, this.#open, this.#unsettled]) memory.clear();
  }

  /** Counts the claims to each MAC address. Adds clients whose claims have changed. @returns keys of the configs that claim one of the clients, or did. */
  #follow(before: NetworkClaims, clients: Set<MacAddress>): Set<string> {
    const configs = new Set(before.changedKeys(this.#claims));
    for (const key of configs) {
      for (const claim of this.#claimsIn(before, key)) this.#count(claim, key, { by: -1, clients });
      for (const claim of this.#claimsIn(this.#claims, key)) this.#count(claim, key, { by: 1, clients });
    }
    for (const macAddress of clients) for (const key of this.#claimants.get(macAddress) ?? []) configs.add(key);
    return configs;
  }

  #count(
    { macAddress, replaces }: InterfaceClaim,
    key: string,
    { by, clients }: { readonly by: 1 | -1; readonly clients: Set<MacAddress> },
  ): void {
    clients.add(macAddress);
    const before = this.#claimants.get(macAddress) ?? [];
    const claimants = by === 1 ? [...before, key] : before.toSpliced(before.indexOf(key), 1);
    if (claimants.length === 0) this.#claimants.delete(macAddress);
    else this.#claimants.set(macAddress, claimants);
    if (replaces === undefined) return;
    for (const one of [macAddress, ...replaces]) {
      clients.add(one);
      const count = (this.#replacing.get(one) ?? 0) + by;
      if (count === 0) this.#replacing.delete(one);
      else this.#replacing.set(one, count);
    }
  }

  /** Decides about these configs, which may be gone. @param clients - their clients now and before. */
  #settle(configs: ReadonlySet<string>, clients: ReadonlySet<MacAddress>): void {
    // First all are without an owner, because a MAC address may go from one config to another.
    const owners = new Map<MacAddress, string | undefined>([...clients].map((macAddress) => [macAddress, undefined]));
    for (const key of configs) for (const macAddress of this.#settledBy(key)) owners.set(macAddress, key);
    const addresses = [...owners].map(
      ([macAddress, owner]) => [macAddress, owner === undefined ? undefined : this.#recorded.get(macAddress)] as const,
    );
    this.#settled = { owners: this.#settled.owners.with(owners), addressOf: this.#settled.addressOf.with(addresses) };
  }

  #noteUnsettled(macAddress: MacAddress): void {
    const address = this.#settled.addressOf.has(macAddress) ? undefined : this.#recorded.get(macAddress);
    if (address === undefined) this.#unsettled.delete(macAddress);
    else this.#unsettled.set(macAddress, address);
  }

  /** The clients of a config if all of them are settled; otherwise none, and the config is open. */
  #settledBy(key: string): readonly MacAddress[] {
    const config = this.#claims.get(key);
    const claims = this.#claimsIn(this.#claims, key);
    this.#open.delete(key);
    if (config === undefined || claims.every((claim) => this.#isSettled(claim)))
      return claims.map(({ macAddress }) => macAddress);
    this.#open.set(key, config);
    return [];
  }

  #isSettled({ macAddress, wanted }: InterfaceClaim): boolean {
    const address = this.#recorded.get(macAddress);
    if (this.#pool === undefined || address === undefined) return false;
    if (this.#isContested(macAddress, this.#pool) || this.#contestedAddresses.has(address)) return false;
    return (wanted ?? address) === address && mayBeKept(this.#pool.pool, address);
  }

  /** True for a client that must be planned, whatever it has. */
  #isContested(macAddress: MacAddress, { reserved, pool }: Facts): boolean {
    const isClaimedTwice = (this.#claimants.get(macAddress)?.length ?? 0) > 1;
    return isClaimedTwice || this.#replacing.has(macAddress) || reserved.has(macAddress) || pool.reservations.has(macAddress);
  }
}

/** The parts that are kept until the next version: not the record, which is as large as the object. */
type Facts = Pick<PoolToPlan, 'key' | 'network' | 'pool' | 'reserved' | 'conflicts'>;

function factsOf({ key, network, pool, reserved, conflicts }: PoolToPlan): Facts {
  return { key, network, pool, reserved, ...(conflicts !== undefined && { conflicts }) };
}

function contestedAddresses({ pool, quarantines, recorded }: PoolToPlan): Set<Ipv4Address> {
  return new Set([
    ...[...pool.reservations.values()].map(({ address }) => address),
    ...quarantines.map(({ address }) => address),
    ...recorded.unreadable.flatMap(({ address }) => address ?? []),
  ]);
}

function isSameSet(one: ReadonlySet<unknown>, other: ReadonlySet<unknown>): boolean {
  return one.size === other.size && [...one].every((value) => other.has(value));
}
