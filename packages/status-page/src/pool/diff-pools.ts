/** The difference between two versions of a pool. Its cost depends on the changes, not on the size of the pool. */
import { formatIpv4Address, type Ipv4Address } from '@vmdhcp/dhcp-allocator';
import { ipv6Offset } from '@vmdhcp/dhcp-allocator/dhcpv6';
import { diffRuns } from '../model/address-map.js';
import type { PoolChange } from '../model/page-data.js';
import type { PoolFacts } from './pool-facts.js';
import { type AddressHolder, holderAt, type LeaseNames, toLease } from './pool-leases.js';
import type { PoolSnapshot } from './pool-snapshot.js';

/** From this many changed addresses on, a reload of the whole pool costs the same. */
export const MOST_CHANGES = 2_000;

/** A pool at one version of the data. */
export interface VersionedPool {
  readonly version: string;
  readonly snapshot: PoolSnapshot;
}

/** From one version of a pool to another one. */
export function diffPools(before: VersionedPool, after: VersionedPool, names: LeaseNames): PoolChange {
  const { key: pool, facts, summary } = after.snapshot;
  const [one, other] = [before.snapshot.map, after.snapshot.map];
  const reset: PoolChange = { kind: 'reset', pool };
  if (one === null || other === null || one.first !== other.first || one.size !== other.size) return reset;
  if (offsetOf(before.snapshot.facts) !== offsetOf(facts)) return reset;
  const { changed, gone } = diffRows(before.snapshot.facts, facts);
  const map = diffRuns(one.runs, other.runs);
  if (changed.length + gone.length > MOST_CHANGES || map.length > 3 * MOST_CHANGES) return reset;
  const leases = changed.map((row) => toLease(after.snapshot, row, names));
  const removed = gone.map(formatIpv4Address);
  return { kind: 'changes', pool, since: before.version, version: after.version, map, leases, removed, summary };
}

/** If it changes, so do the IPv6 addresses of all clients. */
function offsetOf({ pool }: PoolFacts): bigint | undefined {
  return pool && ipv6Offset(pool);
}

interface RowChanges {
  readonly changed: readonly AddressHolder[];
  readonly gone: readonly Ipv4Address[];
}

/** A row that is the same object has not changed. */
function diffRows(before: PoolFacts, after: PoolFacts): RowChanges {
  const addresses = new Set([...after.clients.differences(before.clients), ...after.kept.differences(before.kept)]);
  const changed: AddressHolder[] = [];
  const gone: Ipv4Address[] = [];
  for (const address of addresses) {
    const row = holderAt(after, address);
    if (row === undefined) gone.push(address);
    else if (row !== holderAt(before, address)) changed.push(row);
  }
  return { changed, gone };
}
