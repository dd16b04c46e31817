/** One version of a pool for the page. */
import { formatIpv4Address, formatIpv4Cidr } from '@vmdhcp/dhcp-allocator';
import type { AddressMap, PoolPage, PoolSummary } from '../model/page-data.js';
import { countRange, drawMap, NO_ADDRESSES } from './draw-map.js';
import type { PoolFacts } from './pool-facts.js';

/** A pool at one moment: its row, and the map of its addresses. */
export interface PoolSnapshot {
  readonly key: string;
  readonly facts: PoolFacts;
  readonly summary: PoolSummary;
  readonly map: AddressMap | null;
}

/** Takes about a millisecond for 40,000 clients. */
export function toPoolSnapshot(facts: PoolFacts): PoolSnapshot {
  const { namespace, name, network, pool, state, reasons, servedByPod, agents } = facts;
  const key = `${namespace}/${name}`;
  const runs = pool === undefined ? [] : drawMap(pool, facts);
  const counts = pool === undefined ? NO_ADDRESSES : countRange(pool, runs);
  const ofPool =
    pool === undefined
      ? { cidr: '', start: '', end: '', serverAddress: '' }
      : {
          cidr: formatIpv4Cidr(pool.cidr),
          start: formatIpv4Address(pool.range.first),
          end: formatIpv4Address(pool.range.last),
          serverAddress: formatIpv4Address(pool.serverAddress),
        };
  const summary = { key, namespace, name, network, ...ofPool, counts, state, reasons, servedByPod, agents };
  const map = pool && { first: formatIpv4Address(pool.cidr.network), size: 2 ** (32 - pool.cidr.prefixLength), runs };
  return { key, facts, summary, map: map ?? null };
}

/** The answer to the request of one pool. */
export function toPoolPage({ facts, summary, map }: PoolSnapshot, version: string): PoolPage {
  const { conditions, quarantined } = facts;
  return {
    version,
    summary,
    map,
    conditions,
    quarantined: quarantined.map(({ address, ...rest }) => ({ address: formatIpv4Address(address), ...rest })),
  };
}
