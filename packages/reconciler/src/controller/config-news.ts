import type { MacAddress } from '@vmdhcp/dhcp-allocator';
import type { PoolPlan } from '../assignment/plan-pools.js';
import type { InterfaceClaim, NetworkConfigClaims } from '../network-config/interface-claims.js';
import type { PoolView } from '../view/pool-views.js';

/** The effect of a plan on configs. */
interface Outcome {
  /** The UID of the pool: a new pool with the same name has reported nothing yet. */
  readonly uid: string | undefined;
  readonly addressOf: PoolView['addressOf'];
  readonly owners: PoolPlan['owners'];
  readonly refusals: PoolPlan['refusals'];
}

interface Reported {
  outcome: Outcome;
  /** The former results, by the key of the config. */
  readonly claims: Map<string, NetworkConfigClaims>;
}

/** Finds the configs that a plan changes, so that only those are reconciled, not all thousands of a pool. */
export class ConfigNews {
  /** By the key of the pool. */
  readonly #reported = new Map<string, Reported>();

  /**
   * Notes a recorded plan.
   *
   * @param claims - the claims of all configs on the network of the pool.
   * @returns keys of the configs whose result differs from the former plan.
   */
  note(pool: PoolView, plan: PoolPlan, claims: readonly NetworkConfigClaims[]): string[] {
    const { owners, refusals } = plan;
    const now: Outcome = { uid: pool.object.metadata.uid, addressOf: pool.addressOf, owners, refusals };
    const reported = this.#reported.get(pool.key) ?? { outcome: now, claims: new Map<string, NetworkConfigClaims>() };
    const { outcome: before } = reported;
    const news: string[] = [];
    let count = 0;
    for (const config of claims) {
      const known = reported.claims.get(config.key);
      count++;
      if (known === undefined || !hasSameOutcome(pool.network, [known, before], [config, now])) news.push(config.key);
      if (known !== config) reported.claims.set(config.key, config);
    }
    if (reported.claims.size > count) forgetOthers(reported.claims, new Set([...claims].map(({ key }) => key)));
    reported.outcome = now;
    this.#reported.set(pool.key, reported);
    return news;
  }

  /** Notes that the pool is gone or unusable. @returns keys of the configs that it affected. */
  forget(poolKey: string): string[] {
    const known = this.#reported.get(poolKey);
    this.#reported.delete(poolKey);
    return [...(known?.claims.keys() ?? [])];
  }
}

function forgetOthers(claims: Map<string, NetworkConfigClaims>, kept: ReadonlySet<string>): void {
  for (const key of claims.keys()) if (!kept.has(key)) claims.delete(key);
}

type Side = readonly [NetworkConfigClaims, Outcome];

function hasSameOutcome(network: string, [known, before]: Side, [config, now]: Side): boolean {
  if (before.uid !== now.uid) return false;
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
