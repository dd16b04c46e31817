import type { Overview, PoolsChange } from '../../model/page-data.js';

/** The overview after pools have changed, sorted by key as before. */
export function applyPoolsChange(overview: Overview, { changed, removed, totals }: PoolsChange): Overview {
  const pools = new Map(overview.pools.map((pool) => [pool.key, pool]));
  for (const key of removed) pools.delete(key);
  for (const pool of changed) pools.set(pool.key, pool);
  const sorted = [...pools.values()].sort((one, other) => (one.key < other.key ? -1 : 1));
  return { ...overview, totals, pools: sorted };
}
