import type { ConditionOf } from '@vmdhcp/ippool-api';
import type { PoolView } from '../view/cluster-view.js';
import type { AddressConflict } from './address-conflict.js';

/** The agents of a pool, as its status reports them. */
export interface PoolAgents {
  readonly conditions: readonly ConditionOf<'IPPool'>[];
  /** Undefined: unknown now, so the status stays as it is; null: none. */
  readonly deploymentRef: Readonly<Record<string, string>> | null | undefined;
  /** The pod that is leader; null: none is. */
  readonly servedBy: string | null | undefined;
  /** True: no pod of an earlier version serves it any more. */
  readonly isMigrated: boolean;
  readonly conflicts: readonly AddressConflict[];
}

/** What the reconciler of pools asks about agents. */
export interface AgentsPort {
  readonly ofPool: (pool: PoolView) => PoolAgents;
  /** True while agents may still serve the pool, or are configured with it. */
  readonly isInUse: (poolKey: string) => boolean;
}

export const NOTHING_KNOWN_OF_AGENTS: PoolAgents = {
  conditions: [],
  deploymentRef: undefined,
  servedBy: undefined,
  isMigrated: false,
  conflicts: [],
};
