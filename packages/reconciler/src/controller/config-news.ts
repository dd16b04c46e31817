import type { MacAddress } from '@vmdhcp/dhcp-allocator';
import { ipv6Offset } from '@vmdhcp/dhcp-allocator/dhcpv6';
import type { PoolPlan } from '../assignment/plan-pools.js';
import type { InterfaceClaim, NetworkClaims, NetworkConfigClaims } from '../network-config/interface-claims.js';
import type { PoolView } from '../view/pool-views.js';

/** The effect of a plan on configs. */
interface Outcome {
  /** The UID of the pool: a new pool with the same name has reported nothing yet. */
  readonly uid: string | undefined;
  /** The offset of IPv6 addresses: if it changes, so do those of all clients. */
  readonly ipv6: bigint | undefined;
  readonly addressOf: PoolView['addressOf'];
  readonly owners: PoolPlan['owners'];
  readonly refusals: PoolPlan['refusals'];
  /** All configs on the network of the pool. */
  readonly claims: NetworkClaims;
}

/** Finds the configs that a plan changes, so that only those are reconciled, not all thousands of a pool. */
export class ConfigNews {
  /** By the key of the pool. */
  readonly #reported = new Map<string, Outcome>();

  /**
   * Notes a recorded plan.
   *
   * @param claims - the claims of all configs on the network of the pool.
   * @param claimants - keys of the configs that claim a MAC address on that network.
   * @returns keys of the configs whose result differs from the former plan.
   */
  note(
    pool: PoolView,
    { owners, refusals }: Pick<PoolPlan, 'owners' | 'refusals'>,
    { claims, claimants }: { readonly claims: NetworkClaims; readonly claimants: (macAddress: MacAddress) => Iterable<string> },
  ): string[] {
    const { object, reading, addressOf } = pool;
    const ipv6 = reading.ok ? ipv6Offset(reading.pool) : undefined;
    const now: Outcome = { uid: object.metadata.uid, ipv6, addressOf, owners, refusals, claims };
    const before = this.#reported.get(pool.key);
    this.#reported.set(pool.key, now);
    if (before === undefined || before.uid !== now.uid || before.ipv6 !== now.ipv6) return [...claims.keys()];
    const clients = new Set([...before.addressOf.changedKeys(now.addressOf), ...before.owners.changedKeys(now.owners)]);
    const concerned = new Set([
      ...before.claims.changedKeys(claims),
      ...before.refusals.keys(),
      ...refusals.keys(),
      ...[...clients].flatMap((macAddress) => [...claimants(macAddress)]),
    ]);
    return [...concerned].filter((key) => {
      const config = claims.get(key);
      return config !== undefined && !hasSameOutcome(pool.network, [before.claims.get(key), before], [config, now]);
    });
  }

  /** Notes that the pool is gone or unusable. @returns keys of the configs that it affected. */
  forget(poolKey: string): string[] {
    const known = this.#reported.get(poolKey);
    this.#reported.delete(poolKey);
    return [...(known?.claims.keys() ?? [])];
  }
}

type Side<Config = NetworkConfigClaims> = readonly [Config, Outcome];

function hasSameOutcome(network: string, [known, before]: Side<NetworkConfigClaims | undefined>, [config, now]: Side): boolean {
  if (known === undefined) return false;
  const claimed = on(network, config);
  const claimedBefore = known === config ? claimed : on(network, known);
  if (claimed.length !== claimedBefore.length) return false;
  return claimed.every(
    ({ macAddress }, index) => claimedBefore[index]?.macAddress === macAddress && isSame(config.key, macAddress, [before, now]),
  );
}

/** Its claims on a network, nearly always all. */
function on(network: string, { claims }: NetworkConfigClaims): readonly InterfaceClaim[] {
  return claims.every((claim) => claim.network === network) ? claims : claims.filter((claim) => claim.network === network);
}

function isSame(key: string, macAddress: MacAddress, [before, now]: readonly [Outcome, Outcome]): boolean {
  return (
    before.addressOf.get(macAddress) === now.addressOf.get(macAddress) &&
    (before.owners.get(macAddress) === key) === (now.owners.get(macAddress) === key) &&
    before.refusals.get(key)?.get(macAddress)?.message === now.refusals.get(key)?.get(macAddress)?.message
  );
}
