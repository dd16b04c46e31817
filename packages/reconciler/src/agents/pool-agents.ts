import type { ConditionOf, DeclinedIpv6 } from '@vmdhcp/ippool-api';
import type { AddressConflict } from '../pool/address-conflict.js';
import type { ObservedUse } from '../pool/observed-use.js';

/** The agents of one pool, for the pool's status. */
export interface PoolAgents {
  readonly conditions: readonly ConditionOf<'IPPool'>[];
  /** Undefined if not known, so that the status stays; null for none. */
  readonly deploymentRef: Readonly<Record<string, string>> | null | undefined;
  /** The pod of the leader; null if no leader serves the pool. */
  readonly servedBy: string | null | undefined;
  /** True if the pod of an earlier version no longer serves it. */
  readonly isMigrated: boolean;
  readonly conflicts: readonly AddressConflict[];
  readonly observedUses: readonly ObservedUse[];
  readonly declinedIpv6: readonly DeclinedIpv6[];
}

export const NOTHING_KNOWN_OF_AGENTS: PoolAgents = {
  conditions: [],
  deploymentRef: undefined,
  servedBy: undefined,
  isMigrated: false,
  conflicts: [],
  observedUses: [],
  declinedIpv6: [],
};
