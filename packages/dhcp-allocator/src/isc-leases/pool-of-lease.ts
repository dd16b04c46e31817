import type { Ipv4Address } from '../address/ipv4-address.js';
import { rangesContain } from '../address/ipv4-range.js';
import { mayBeKept } from '../allocation/address-allocator.js';
import type { Pool } from '../pool/pool.js';

/** The pool into which a lease is imported, or two that could both lease its address to another client. */
export type PoolOfLease =
  | { readonly ok: true; readonly pool: Pool | undefined }
  | { readonly ok: false; readonly pools: readonly [Pool, Pool] };

/** Finds the pool of a lease: subnets of several pools may contain its address, and the pool that leases it must know whose it is. */
export function findPoolOfLease(address: Ipv4Address, pools: readonly Pool[]): PoolOfLease {
  const possible = pools.filter((pool) => mayBeKept(pool, address));
  const leasing = (field: 'dynamic' | 'ranges') => possible.filter((pool) => rangesContain(pool[field], address));
  const [first, second] = [leasing('dynamic'), leasing('ranges')].find(({ length }) => length > 0) ?? [];
  if (first !== undefined && second !== undefined) return { ok: false, pools: [first, second] };
  return { ok: true, pool: first ?? possible[0] };
}
