/** The input of the plan of all agents. */
import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import type { NetworkPlacement } from '../network/network-placement.js';
import { type GroupLeaseReading, readGroupLease } from './group-lease.js';
import type { PoolForAgents } from './pool-for-agents.js';

/** A pool that should be served. */
export interface ActivePool extends PoolForAgents {
  readonly placement: NetworkPlacement;
  /** RFC 3339. If not all pools fit into a configuration, the newest are left out. */
  readonly createdAt?: string;
  /** True if its agents keep their image. */
  readonly holdsImage: boolean;
  /** The Deployment in the pool's status, which has served it so far. */
  readonly recorded: { readonly group: string | undefined; readonly image: string | undefined };
}

export interface ObservedGroup {
  readonly deployment: KubernetesObject | undefined;
  /** The pools that its pod template names, by key. */
  readonly configured: ReadonlyMap<string, PoolForAgents>;
  readonly lease: GroupLeaseReading;
}

export interface AgentsObservation {
  readonly pools: readonly ActivePool[];
  /** By name; groups of a previous namespace by `namespace/name`. */
  readonly groups: ReadonlyMap<string, ObservedGroup>;
  /** Groups that have pods, being deleted or not. */
  readonly groupsWithPods: ReadonlySet<string>;
  /** Groups with pods that are being deleted: they may have an earlier template. Default: none. */
  readonly groupsWithEndingPods?: ReadonlySet<string>;
  /** Bare pods of upstream, by pool. */
  readonly legacyPods: ReadonlyMap<string, readonly KubernetesObject[]>;
  /** ServiceAccounts, Roles and RoleBindings of groups, by group. */
  readonly rights?: ReadonlyMap<string, readonly KubernetesObject[]>;
  readonly nowMs: number;
}

const NO_GROUP: ObservedGroup = {
  deployment: undefined,
  configured: new Map(),
  lease: readGroupLease(undefined, true),
};

/** The observed group, which has neither Deployment nor Lease if there is none of this name. */
export function observedGroup({ groups }: Pick<AgentsObservation, 'groups'>, name: string): ObservedGroup {
  return groups.get(name) ?? NO_GROUP;
}
