/**
 * Decides which agents serve which pools. A topology is a function from pools to groups; everything after it is the same for all of them: one
 * Deployment and one Lease for each group.
 */
import { UNIFIED_GROUP } from '@vmdhcp/ippool-api/agent';
import { compareText, objectNameWithin } from '@vmdhcp/kube-runtime';
import { type NetworkPlacement, placementKey } from '../network/network-placement.js';
import type { AgentTopology } from './agent-topologies.js';

export { AGENT_TOPOLOGIES, type AgentTopology } from './agent-topologies.js';
export { UNIFIED_GROUP };

/** True for the group whose Deployment a chart installed, in whatever namespace. */
export function isUnified(group: string): boolean {
  return group === UNIFIED_GROUP || group.endsWith(`/${UNIFIED_GROUP}`);
}

/** True for a group of a previous namespace: its name is `namespace/name`. */
export function isPrevious(group: string): boolean {
  return group.includes('/');
}

export interface PoolToGroup {
  /** `namespace/name`. */
  readonly key: string;
  /** The requirements for the nodes of its agents. */
  readonly placement: NetworkPlacement;
}

/** Which topology groups the pools, and how many share agents at most. */
export interface GroupingSettings {
  readonly topology: AgentTopology;
  /** For `per-network`: the maximum pools of a group; at least 1. */
  readonly maxPoolsPerAgent: number;
}

/** The pools that share agents, and where these run. */
export interface AgentGroup {
  /** The name of its Lease, and of its Deployment if the controller creates that. */
  readonly name: string;
  /** The cluster network of its pools; undefined if they have several. */
  readonly placement: NetworkPlacement | undefined;
  /** Sorted. */
  readonly poolKeys: readonly string[];
}

/**
 * The groups of these pools, by name. A pool stays in its group, whichever others come and go, as long as that is a group of this topology and of its
 * cluster network. If the group is over its limit, the pools whose names come last must leave.
 *
 * @param current - the current groups of each pool by name, the preferred ones first.
 */
export function groupPools(
  pools: readonly PoolToGroup[],
  current: ReadonlyMap<string, readonly string[]>,
  { topology, maxPoolsPerAgent }: GroupingSettings,
): Map<string, AgentGroup> {
  const sorted = pools.toSorted((one, other) => compareText(one.key, other.key));
  switch (topology) {
    case 'unified':
      return toGroups(sorted.map((pool) => [pool, UNIFIED_GROUP]));
    case 'per-pool':
      return toGroups(sorted.map((pool) => [pool, perPoolGroupName(pool.key)]));
    case 'per-network':
      return toGroups(shard(sorted, { current, most: maxPoolsPerAgent }));
  }
}

/** `default-net-48-agent`, as upstream names an agent; with a hash if two pools could have the same name. */
export function perPoolGroupName(poolKey: string): string {
  const [namespace = '', name = ''] = poolKey.split('/', 2);
  return objectNameWithin(`${namespace}-${name}`, { suffix: '-agent', of: poolKey, isAmbiguous: namespace.includes('-') });
}

type Membership = readonly [pool: PoolToGroup, group: string];

/** Pools keep their places; new ones get the first free places. No group has pools of two placements, whatever its name is. */
function shard(
  pools: readonly PoolToGroup[],
  { current, most }: { readonly current: ReadonlyMap<string, readonly string[]>; readonly most: number },
): Membership[] {
  const places = new Map<string, string>();
  const groups = new Map<string, { readonly placement: string; count: number }>();
  const placements = pools.map((pool) => ({
    pool,
    placement: placementKey(pool.placement),
    prefix: networkPrefix(pool.placement),
  }));
  const hasRoom = (name: string, placement: string) => {
    const group = groups.get(name);
    return group === undefined || (group.placement === placement && group.count < most);
  };
  const place = (pool: PoolToGroup, name: string, placement: string) => {
    places.set(pool.key, name);
    groups.set(name, { placement, count: (groups.get(name)?.count ?? 0) + 1 });
  };
  for (const { pool, placement, prefix } of placements) {
    const name = (current.get(pool.key) ?? []).find((one) => isGroupOf(prefix, one) && hasRoom(one, placement));
    if (name !== undefined) place(pool, name, placement);
  }
  /** By placement, the number of the first group that may have room. */
  const firstNumbers = new Map<string, number>();
  for (const { pool, placement, prefix } of placements) {
    if (places.has(pool.key)) continue;
    let number = firstNumbers.get(placement) ?? 1;
    while (!hasRoom(`${prefix}${number}`, placement)) number++;
    firstNumbers.set(placement, number);
    place(pool, `${prefix}${number}`, placement);
  }
  return pools.map((pool) => [pool, places.get(pool.key) ?? '']);
}

function isGroupOf(prefix: string, group: string): boolean {
  return group.startsWith(prefix) && /^[1-9]\d{0,4}$/.test(group.slice(prefix.length));
}

/** The group of a Deployment; a name that no topology assigns belongs to a chart. */
export function groupOfDeployment(name: string, poolKey: string): string {
  const isMade = name === perPoolGroupName(poolKey) || /^vm-dhcp-agent-(.+-)?[1-9]\d{0,4}$/.test(name);
  return isMade ? name : UNIFIED_GROUP;
}

/** Up to 58 characters, so that there is room for a number. */
function networkPrefix(placement: NetworkPlacement): string {
  const { clusterNetwork, resource, nodeSelector, link } = placement;
  const [selector] = Object.keys(nodeSelector).toSorted(compareText);
  const given = clusterNetwork ?? resource ?? selector ?? link;
  if (given === undefined) return 'vm-dhcp-agent-';
  // A plain cluster network keeps its traditional name, unless that could be the name of another placement.
  const isAlone = given === clusterNetwork && resource === undefined && selector === undefined;
  const isAmbiguous = !isAlone || /^\d+$|-[0-9a-f]{8}$/.test(given);
  const readable = given.replace(/^.*[ /]/, '');
  const of = isAlone ? given : placementKey(placement);
  return `${objectNameWithin(`vm-dhcp-agent-${readable}`, { suffix: '', of, isAmbiguous, most: 57 })}-`;
}

function toGroups(memberships: readonly Membership[]): Map<string, AgentGroup> {
  const byName = Map.groupBy(memberships, ([, group]) => group);
  return new Map(
    [...byName].map(([name, members]) => {
      const placements = new Map(members.map(([{ placement }]) => [placementKey(placement), placement]));
      const [placement] = placements.values();
      return [
        name,
        { name, placement: placements.size === 1 ? placement : undefined, poolKeys: members.map(([{ key }]) => key) },
      ];
    }),
  );
}
