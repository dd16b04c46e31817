import type { ConditionOf } from '@vmdhcp/ippool-api';
import type { AddressConflict } from '../pool/address-conflict.js';

/** What is known of the agents of one pool, as the status of the pool reports it. */
export interface PoolAgents {
  readonly conditions: readonly ConditionOf<'IPPool'>[];
  /** Undefined: not known now, so what the status contains stays; null: none. */
  readonly deploymentRef: Readonly<Record<string, string>> | null | undefined;
  /** The pod of the leader; null: no leader serves the pool. */
  readonly servedBy: string | null | undefined;
  /** True: the pod of an earlier version serves it no longer. */
  readonly isMigrated: boolean;
  readonly conflicts: readonly AddressConflict[];
}

export const NOTHING_KNOWN_OF_AGENTS: PoolAgents = {
  conditions: [],
  deploymentRef: undefined,
  servedBy: undefined,
  isMigrated: false,
  conflicts: [],
};
