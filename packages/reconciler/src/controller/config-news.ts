import type { PoolPlan } from '../assignment/plan-pools.js';
import type { NetworkConfigClaims } from '../network-config/interface-claims.js';
import type { PoolView } from '../view/pool-views.js';

/** What a plan means for configs. */
interface Outcome {
  /** Of the pool: one that was created again with the same name has reported nothing yet. */
  readonly uid: string | undefined;
  readonly addressOf: PoolView['addressOf'];
  readonly owners: PoolPlan['owners'];
  readonly refusals: PoolPlan['refusals'];
}

interface Reported {
  outcome: Outcome;
  /** By the key of the config, as they were. */
  readonly claims: Map<string, NetworkConfigClaims>;
}

/** Which configs a plan has news for: of the thousands of a pool only those are reconciled. */
export class ConfigNews {
  /** By the key of the pool. */
  readonly #reported = new Map<string, Reported>();

  /**
   * Takes note of a plan that is recorded.
   *
   * @param claims - of all configs on the network of the pool.
   * @returns keys of the configs that mean something else by it than by the plan before.
   */
  note(pool: PoolView, plan: PoolPlan, claims: Iterable<NetworkConfigClaims>): string[] {
    const { owners, refusals } = plan;
    const now: Outcome = { uid: pool.object.metadata.uid, addressOf: pool.addressOf, owners, refusals };
    const reported = this.#reported.get(pool.key) ?? { outcome: now, claims: new Map<string, NetworkConfigClaims>() };
    const { outcome: before } = reported;
    const news: string[] = [];
    const seen = new Set<string>();
    for (const config of claims) {
      const known = reported.claims.get(config.key);
      seen.add(config.key);
      if (known === undefined || !hasSameOutcome(pool.network, [known, before], [config, now])) news.push(config.key);
      if (known !== config) reported.claims.set(config.key, config);
    }
    if (reported.claims.size > seen.size)
      for (const key of reported.claims.keys()) if (!seen.has(key)) reported.claims.delete(key);
    reported.outcome = now;
    this.#reported.set(pool.key, reported);
    return news;
  }

  /** The pool is gone or of no use. @returns keys of the configs that had something of it. */
  forget(poolKey: string): string[] {
    const known = this.#reported.get(poolKey);
    this.#reported.delete(poolKey);
    return [...(known?.claims.keys() ?? [])];
  }
}

type Side = readonly [NetworkConfigClaims, Outcome];

function hasSameOutcome(network: string, [known, before]: Side, [config, now]: Side): boolean {
  if (before.uid !== now.uid) return false;
  const claimed = config.claims.filter((claim) => claim.network === network);
  const claimedBefore = known === config ? claimed : known.claims.filter((claim) => claim.network === network);
  const refusalsBefore = before.refusals.get(config.key);
  const refusals = now.refusals.get(config.key);
  const isSame = (macAddress: string) =>
    before.addressOf.get(macAddress) === now.addressOf.get(macAddress) &&
    (before.owners.get(macAddress) === config.key) === (now.owners.get(macAddress) === config.key) &&
    refusalsBefore?.get(macAddress)?.message === refusals?.get(macAddress)?.message;
  return (
    claimed.length === claimedBefore.length &&
    claimed.every(({ macAddress }, index) => claimedBefore[index]?.macAddress === macAddress && isSame(macAddress))
  );
}
